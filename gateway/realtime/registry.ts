import { setTimeout as sleep } from 'node:timers/promises'
import { RateLimited } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { Config } from '../config.ts'
import { close, type Connection } from './connection.ts'
import { createOpenLimits } from './open-limits.ts'

/** Of them, one in 25 gets a heartbeat. */
const MAX_VISITS_PER_TURN = 500

export type ConnectionLimits = Pick<
  Config,
  | 'REALTIME_MAX_CONNECTIONS'
  | 'REALTIME_MAX_PER_ACCOUNT'
  | 'REALTIME_MAX_PER_SESSION'
  | 'REALTIME_MAX_PER_ADDRESS'
  | 'REALTIME_OPENS_PER_MINUTE'
  | 'REALTIME_OPENS_PER_SECOND'
>

/** The realtime connections of this process. */
export function createRegistry (limits: ConnectionLimits) {
  // Each leads to the older ones of its account, as a list for each account would take 56 bytes.
  const newest = new Map<string, Connection>()
  const byAddress = new Map<string, number>()
  const countOpen = createOpenLimits({
    perAccount: limits.REALTIME_OPENS_PER_MINUTE,
    perSecond: limits.REALTIME_OPENS_PER_SECOND
  })
  let size = 0

  function* ofAccount (accountId: string) {
    for (let each = newest.get(accountId); each; each = each.older) yield each
  }

  function* all () {
    for (const accountId of newest.keys()) yield* ofAccount(accountId)
  }

  function unlink (connection: Connection) {
    const { older, token: { account: { id: accountId } } } = connection
    const younger = ofAccount(accountId).find((each) => each.older === connection)
    if (younger) younger.older = older
    else if (older) newest.set(accountId, older)
    else newest.delete(accountId)
  }

  return {
    /** Counts an attempt to connect. @throws RateLimited, Unavailable */
    admit ({ accountId, address }: { accountId: string, address: string }) {
      if (size >= limits.REALTIME_MAX_CONNECTIONS) throw new Unavailable()
      if ((byAddress.get(address) ?? 0) >= limits.REALTIME_MAX_PER_ADDRESS) throw new RateLimited(60)
      countOpen(accountId)
    },
    /** Adds a connection. The oldest one of its account or session makes room for it. */
    add (connection: Connection) {
      const { address, token: { account: { id: accountId, sessionId } } } = connection
      const own = [...ofAccount(accountId)]
      const ofSession = own.filter(({ token }) => token.account.sessionId === sessionId)
      if (ofSession.length >= limits.REALTIME_MAX_PER_SESSION) close(ofSession.at(-1)!, 4429)
      if (own.length >= limits.REALTIME_MAX_PER_ACCOUNT) close(own.at(-1)!, 4429)
      connection.older = newest.get(accountId)
      newest.set(accountId, connection)
      byAddress.set(address, (byAddress.get(address) ?? 0) + 1)
      size++
    },
    /** Removes a connection that was added. */
    remove (connection: Connection) {
      unlink(connection)
      const left = (byAddress.get(connection.address) ?? 1) - 1
      if (left > 0) byAddress.set(connection.address, left)
      else byAddress.delete(connection.address)
      size--
    },
    size: () => size,
    // Both can be read while connections open and close. One that is closed meanwhile still leads to the older ones.
    ofAccount,
    all,
    /**
     * Calls `visit` with each connection, without a list of them all. It may close the connection. Many visits are spread
     * over `ms`, so that neither they nor the answers of the clients delay requests.
     */
    async forEach (visit: (connection: Connection) => void, ms: number) {
      const pauseMs = ms * MAX_VISITS_PER_TURN / newest.size
      let visited = 0
      for (const first of newest.values()) {
        for (let connection: Connection | undefined = first; connection; connection = connection.older) {
          visit(connection)
        }
        if (++visited % MAX_VISITS_PER_TURN === 0) await sleep(pauseMs)
      }
    }
  }
}

export type Registry = ReturnType<typeof createRegistry>
