import { readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import t from 'tap'
import { answer, asker, connectBus, on, record, startAnswers, startConsumers, startRelay, type DeadLetterTables, type InboxTables, type OutboxTables } from '@tandem/bus-kit'
import { AccountVerified, Contact, defineEvent } from '@tandem/contracts'
import { provision } from '@tandem/database-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { startNats } from '@tandem/local/testing'

type Tables = OutboxTables & InboxTables & DeadLetterTables

const folder = import.meta.dirname
const quiet = { info () {}, warn () {}, error () {} }

/** The users and rights of the containers, with passwords of the test. */
function rights () {
  const text = readFileSync(path.join(folder, 'nats.conf'), 'utf8')
  return text.slice(text.indexOf('authorization {')).replaceAll(/\$NATS_\w+_PASSWORD/g, '"secret"')
}

t.test('with the rights of the containers a service says, hears, asks and answers', async (t) => {
  const server = await startNats(t, { rights: rights() })
  const as = (service: string) => connectBus(server.url.replace('nats://', `nats://${service}:secret@`), { service, log: quiet })
  const [identity, social] = [as('identity'), as('social')]
  t.teardown(async () => { await Promise.all([identity.close(), social.close()]) })
  const { db: identityDb } = await testDatabase<Tables>(t, folder)
  const { db: socialDb } = await testDatabase<Tables>(t, folder)

  const heard: string[] = []
  const relay = startRelay(identity, identityDb)
  const consumers = startConsumers(social, socialDb, [on(AccountVerified, async ({ data }) => { heard.push(data.accountId) })])
  t.teardown(async () => { await consumers.stop(); await relay.stop() })
  startAnswers(identity, [answer(Contact, async () => ({ email: 'a@example.com', emailVerified: true, name: 'Ana', locale: 'en' }))])

  const accountId = crypto.randomUUID()
  await identityDb.transaction().execute(async (trx) => await record(trx, AccountVerified, accountId, { accountId }))
  await until(() => heard.length > 0)
  t.same(heard, [accountId])
  t.match(await asker(social)(Contact, { accountId }, { deadline: 5_000 }), { name: 'Ana' })
})

t.test('no service speaks in another one\'s name', async (t) => {
  const server = await startNats(t, { rights: rights() })
  const { db } = await testDatabase<Tables>(t, folder)
  const identity = connectBus(server.url.replace('nats://', 'nats://identity:secret@'), { service: 'identity', log: quiet })
  const forger = connectBus(server.url.replace('nats://', 'nats://social:secret@'), { service: 'identity', log: quiet })
  t.teardown(async () => { await Promise.all([identity.close(), forger.close()]) })
  const real = startRelay(identity, db)
  const event = defineEvent('identity.account.verified.v1', AccountVerified.data)
  const say = async () => {
    const accountId = crypto.randomUUID()
    await db.transaction().execute(async (trx) => await record(trx, event, accountId, { accountId }))
  }
  await say()
  await until(async () => await published() === 1)
  await real.stop()

  const forged = startRelay(forger, db)
  await say()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.equal(await published(), 1, 'what social says as identity never reaches the stream')
  await forged.stop()

  async function published () {
    return (await db.selectFrom('outbox').select('id').where('published_at', 'is not', null).execute()).length
  }
})

t.test('no service reads another one\'s tables', async (t) => {
  const server = process.env['TEST_DATABASE_URL']
  if (!server) throw new Error('TEST_DATABASE_URL is not set')
  const [ours, theirs] = ['rightsa', 'rightsb'] as const
  const [own, other] = [await provision(server, ours, 'secret-a'), await provision(server, theirs, 'secret-b')]
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  t.teardown(async () => {
    for (const name of [ours, theirs]) await admin.query(`drop schema ${name} cascade; drop owned by tandem_${name}; drop role tandem_${name}`)
    await admin.end()
  })
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

async function until (truth: () => boolean | Promise<boolean>) {
  for (let tries = 0; tries < 200; tries++) {
    if (await truth()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
