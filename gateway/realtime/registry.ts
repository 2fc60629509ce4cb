import { setTimeout as sleep } from 'node:timers/promises'
import { RateLimited } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { Config } from '../config.ts'
import { createMemoryCounter } from '../rate-limits/memory-counter.ts'
import { close, type Connection } from './connection.ts'

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
  const byAccount = new Map<string, Connection[]>()
  const bySession = new Map<string, Connection[]>()
  const byAddress = new Map<string, number>()
  const opens = createMemoryCounter()
  let size = 0

  return {
    /** Counts an attempt to connect. @throws RateLimited, Unavailable */
    admit ({ accountId, address }: { accountId: string, address: string }) {
      if (size >= limits.REALTIME_MAX_CONNECTIONS) throw new Unavailable()
      if ((byAddress.get(address) ?? 0) >= limits.REALTIME_MAX_PER_ADDRESS) throw new RateLimited(60)
      const own = opens.count(accountId, 60_000)
      if (own.current > limits.REALTIME_OPENS_PER_MINUTE) throw new RateLimited(Math.ceil(own.ttl / 1_000))
      if (opens.count('', 1_000).current > limits.REALTIME_OPENS_PER_SECOND) throw new Unavailable()
    },
    /** Adds a connection. The oldest one of its account or session makes room for it. */
    add (connection: Connection) {
      for (
        const [connections, max] of [
          [bySession.get(connection.sessionId), limits.REALTIME_MAX_PER_SESSION],
          [byAccount.get(connection.accountId), limits.REALTIME_MAX_PER_ACCOUNT]
        ] as const
      ) {
        const [oldest] = connections ?? []
        if (oldest && connections!.length >= max) close(oldest, 4429)
      }
      insert(byAccount, connection.accountId, connection)
      insert(bySession, connection.sessionId, connection)
      byAddress.set(connection.address, (byAddress.get(connection.address) ?? 0) + 1)
      size++
    },
    remove (connection: Connection) {
      if (!byAccount.get(connection.accountId)?.includes(connection)) return
      remove(byAccount, connection.accountId, connection)
      remove(bySession, connection.sessionId, connection)
      const left = (byAddress.get(connection.address) ?? 1) - 1
      if (left > 0) byAddress.set(connection.address, left)
      else byAddress.delete(connection.address)
      size--
    },
    size: () => size,
    ofAccount: (accountId: string): readonly Connection[] => byAccount.get(accountId) ?? [],
    ofSession: (sessionId: string): readonly Connection[] => bySession.get(sessionId) ?? [],
    all: (): Connection[] => [...byAccount.values()].flat(),
    /**
     * Calls `visit` with each connection, without a list of them all. It may close the connection. Many visits are spread
     * over `ms`, so that neither they nor the answers of the clients delay requests.
     */
    async forEach (visit: (connection: Connection) => void, ms: number) {
      const pauseMs = ms * MAX_VISITS_PER_TURN / byAccount.size
      let visited = 0
      for (const connections of byAccount.values()) {
        for (const connection of connections) visit(connection)
        if (++visited % MAX_VISITS_PER_TURN === 0) await sleep(pauseMs)
      }
    }
  }
}

export type Registry = ReturnType<typeof createRegistry>

// Lists are replaced and never changed, so they can be read while connections open and close. Spread syntax would leave
// room for sixteen more in each.
function insert (map: Map<string, Connection[]>, key: string, connection: Connection) {
  map.set(key, map.get(key)?.concat(connection) ?? [connection])
}

function remove (map: Map<string, Connection[]>, key: string, connection: Connection) {
  const left = (map.get(key) ?? []).filter((each) => each !== connection)
  if (left.length > 0) map.set(key, left)
  else map.delete(key)
}
