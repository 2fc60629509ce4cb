import { randomUUID } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { changeInbox, joinChanges } from '../notifications/change-inbox.ts'
import { notify, type Notified } from '../notifications/notify.ts'
import { findRecipients } from '../notifications/recipients.ts'
import type { Trx } from '../tables.ts'

type NotifyOwner = (change: 'SET' | 'REMOVED' | 'CONFIRMED' | 'DECLINED' | 'ENDED') => Promise<void>

/**
 * Runs a transaction that changes the trusted contact of an account and notifies the account: the change and the
 * notification exist both or not at all.
 * @throws Unavailable if the account is unknown here and the profile service is unavailable
 */
export async function changeAndNotify<Result> (
  deps: Deps,
  accountId: string,
  change: (trx: Trx, notifyOwner: NotifyOwner) => Promise<Result>
): Promise<Result> {
  const about = { kind: 'trustedContactChanged' as const, to: [accountId] }
  const [recipients = []] = await findRecipients(deps, [about])
  const { result } = await changeInbox(deps, async (trx) => {
    const notified: Notified[] = []
    const result = await change(trx, async (change) => {
      const now = deps.now()
      const request = { ...about, dedupeKey: `trusted-contact:${randomUUID()}`, params: { change } }
      notified.push(await notify(trx, [{ request, recipients, occurredAt: now }], now))
    })
    return { result, ...joinChanges(notified) }
  })
  return result
}
