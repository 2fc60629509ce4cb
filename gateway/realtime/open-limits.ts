import { RateLimited } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import { sinceStart } from './times.ts'

interface OpenLimits {
  /** Of one account in a minute. */
  perAccount: number
  /** Of all accounts in a second. */
  perSecond: number
}

/**
 * Returns a function that counts an attempt to open a connection. After a minute nothing is kept of an account: with a
 * window of its own for each, as the limits of requests have, a connection would take 0.1 KB more.
 */
export function createOpenLimits ({ perAccount, perSecond }: OpenLimits) {
  const inMinute = new Map<string, number>()
  let minuteEndsAt = 0
  let inSecond = 0
  let secondEndsAt = 0

  /** @throws RateLimited, Unavailable */
  return function countOpen (accountId: string) {
    const now = sinceStart()
    if (now >= minuteEndsAt) {
      inMinute.clear()
      minuteEndsAt = now + 60_000
    }
    if (now >= secondEndsAt) {
      inSecond = 0
      secondEndsAt = now + 1_000
    }
    const own = inMinute.get(accountId) ?? 0
    if (own >= perAccount) throw new RateLimited(Math.ceil((minuteEndsAt - now) / 1_000))
    if (inSecond >= perSecond) throw new Unavailable()
    inMinute.set(accountId, own + 1)
    inSecond++
  }
}
