import pg from 'pg'
import t from 'tap'
import { provision } from '@tandem/database-kit'

t.test("no service reads another service's tables", async (t) => {
  const server = process.env['TEST_DATABASE_URL']
  if (!server) throw new Error('TEST_DATABASE_URL is not set')
  const [ours, theirs] = ['rightsa', 'rightsb'] as const
  const { calls } = t.capture(pg.Client.prototype, 'query', pg.Client.prototype.query)
  const [own, other] = [await provision(server, ours, 'secret-a'), await provision(server, theirs, 'secret-b')]
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  t.teardown(async () => {
    for (const name of [ours, theirs]) {
      await admin.query(`drop schema ${name} cascade; drop owned by tandem_${name}; drop role tandem_${name}`)
    }
    await admin.end()
  })
  const sent = JSON.stringify(calls.map(({ args }) => args))
  t.match(sent, 'alter role')
  t.notMatch(sent, 'secret-', 'the log of Postgres shows a statement that fails')
  await t.rejects(query(own.replace('secret-a', 'secret-b'), 'select'), /password authentication failed/)
  await query(own, 'create table secrets (secret text)')
  await query(own, 'select secret from secrets')
  await t.rejects(query(other, 'select secret from rightsa.secrets'), /permission denied/)
  await t.rejects(query(other, 'create table rightsa.mine (x text)'), /permission denied/)
  await t.rejects(query(other, 'create table public.mine (x text)'), /permission denied/)
})

async function query (url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
