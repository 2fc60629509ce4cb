import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createConnection, type Connection } from './connection.ts'
import { createRegistry } from './registry.ts'
import { standardTimes } from './times.ts'

const limits = {
  REALTIME_MAX_CONNECTIONS: 1_000,
  REALTIME_MAX_PER_ACCOUNT: 1_000,
  REALTIME_MAX_PER_SESSION: 1_000,
  REALTIME_MAX_PER_ADDRESS: 3,
  REALTIME_OPENS_PER_MINUTE: 1_000,
  REALTIME_OPENS_PER_SECOND: 1_000
}
const unexpected = async () => await Promise.reject(new Error('unexpected call'))

function setup () {
  const registry = createRegistry(limits)
  const shared = {
    times: standardTimes,
    readFeed: unexpected,
    readPresence: unexpected,
    verifyAccessToken: unexpected,
    onClosed: registry.remove
  }
  function add (id: string, address: string = randomUUID()) {
    const account = { id, sessionId: randomUUID(), role: 'USER', restrictedUntil: 0, token: 'token' } as const
    const verified = { account, kid: 'one', issuedAt: 0, expiresAt: 900 }
    const connection = createConnection(shared, { verified, address, language: undefined })
    registry.add(connection)
    return connection
  }
  return { registry, add }
}

t.test('connections that close in any order leave the others in place', async (t) => {
  const { registry, add } = setup()
  const accounts = Array.from({ length: 20 }, () => randomUUID())
  const open: Connection[] = []
  for (let step = 0; step < 5_000; step++) {
    if (open.length < 100 && Math.random() < 0.6) open.unshift(add(accounts[step % accounts.length]!))
    else open.splice(Math.floor(Math.random() * open.length), 1).forEach(registry.remove)
    if (step % 100 > 0) continue
    for (const accountId of accounts) {
      const own = open.filter(({ token }) => token.account.id === accountId)
      t.ok(own.every((each, number) => [...registry.ofAccount(accountId)][number] === each), 'the newest first')
    }
    t.equal(new Set(registry.all()).size, open.length)
    t.equal(registry.size(), open.length)
  }
  for (const connection of registry.all()) registry.remove(connection)
  t.strictSame([registry.size(), [...registry.all()]], [0, []])
})

t.test('a visit may close connections, and the rest is visited', async (t) => {
  const { registry, add } = setup()
  const [one, other] = [randomUUID(), randomUUID()]
  const connections = [add(one), add(one), add(one), add(other), add(other)]
  const visited = new Set<Connection>()
  await registry.forEach((connection) => {
    visited.add(connection)
    registry.remove(connection)
  }, 0)
  t.equal(visited.size, connections.length)
  t.equal(registry.size(), 0)
})

t.test('an address may connect again once a connection of it has closed', async (t) => {
  const { registry, add } = setup()
  const [accountId, address] = [randomUUID(), '192.0.2.1']
  const first = add(accountId, address)
  for (let each = 0; each < 2; each++) add(accountId, address)
  t.throws(() => registry.admit({ accountId, address }), { code: 'RATE_LIMITED' })
  registry.remove(first)
  registry.admit({ accountId, address })
})
