// Runs alone: it kills servers and workers, and counts what was sent in time.
import { fork } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@tandem/database-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { startRedis } from '@tandem/local/testing'
import { sql, type Kysely } from 'kysely'
import t, { type Test } from 'tap'
import { startSmtp } from './faulty-smtp.ts'
import { createMailer, createMail, type Mail, type MailerOptions, type MailTables } from './index.ts'
import { deleteOldMails } from './mails.ts'
import { pendingMails } from './testing.ts'

// A killed worker's lock lasts 15 s, so this file takes half a minute, most of it waiting.
t.setTimeout(90_000)
t.jobs = 4

const log = { info () {}, warn () {} }
const letter = { subject: 'Your code', text: 'Your code:\n\n    482913\n', html: '<p>482913</p>' }

// Dropped at the end of the file: a migration reads the whole catalogue, and fails when another schema goes meanwhile.
const givenDatabase = () => testDatabase<OtherTables>(t, import.meta.dirname)

interface OtherTables extends MailTables { accounts: { id: string } }

async function givenMail (db: Kysely<OtherTables>, mail: Partial<Mail> = {}) {
  return await db.transaction().execute((trx) => createMail(trx, { dedupeKey: `test:${randomUUIDv7()}`, recipient: `${randomUUIDv7()}@example.com`, ...letter, ...mail }))
}

async function world (t: Test, options: Partial<MailerOptions> = {}) {
  const [redis, smtp, { db, url }] = await Promise.all([startRedis(t), startSmtp(t), givenDatabase()])
  const settings = { db, service: 'identity', smtpUrl: smtp.url, redisUrl: redis.url, from: 'Tandem <hello@tandem.test>', log, sweepIntervalSeconds: 1, ...options }
  const mailer = createMailer(settings)
  t.teardown(() => mailer.close())
  return { redis, smtp, db, databaseUrl: url, mailer, settings }
}

const statuses = async (db: Kysely<OtherTables>) => (await db.selectFrom('mails').select('status').orderBy('id').execute()).map((row) => row.status)

async function until (truth: () => boolean | Promise<boolean>, seconds = 10) {
  const end = Date.now() + seconds * 1_000
  while (!await truth()) {
    if (Date.now() > end) throw new Error(`not so within ${seconds} s`)
    await sleep(20)
  }
}

const allSent = (db: Kysely<OtherTables>) => async () => (await statuses(db)).every((status) => status === 'sent')

t.test('a mail is sent once, with both of its parts, and what it said is blanked', async (t) => {
  const { smtp, db, mailer, settings } = await world(t)
  const second = createMailer(settings)
  t.teardown(() => second.close())
  mailer.start()
  second.start()
  const id = await givenMail(db, { recipient: 'ana@example.com' })
  await Promise.all([mailer.enqueue([id, undefined]), second.enqueue([id]), mailer.enqueue([id])])
  await until(allSent(db))
  await sleep(300)

  t.equal(smtp.received.length, 1)
  const [mail] = smtp.received
  t.strictSame(mail?.to, ['ana@example.com'])
  t.equal(mail?.messageId, `<${id}@tandem.test>`)
  t.match(mail?.raw, /text\/plain[^]*482913[^]*text\/html[^]*482913/)
  t.match(mail?.raw, /auto-submitted: auto-generated/i)
  t.match(await db.selectFrom('mails').selectAll().execute(), [{ status: 'sent', subject: null, body_text: null, body_html: null, attempts: 1, sent_at: Date }])
})

t.test('a cause gets one mail, though asked for 20 times at once', async (t) => {
  const { db } = await givenDatabase()
  const ids = await Promise.all(Array.from({ length: 20 }, () => givenMail(db, { dedupeKey: 'verification:1', recipient: 'ana@example.com', rateLimited: false })))
  t.equal(ids.filter(Boolean).length, 1)
  t.match(await pendingMails(db), [{ dedupeKey: 'verification:1', recipient: 'ana@example.com', ...letter }])
  t.equal((await pendingMails(db)).length, 1)
})

t.test('a recipient gets 3 mails an hour, though 50 are asked for at once', async (t) => {
  const { db, url } = await givenDatabase()
  const replica = connect<OtherTables>(url, { log, timeoutFactor: 10 })
  t.teardown(() => replica.destroy())
  const ids = await Promise.all(Array.from({ length: 50 }, (_, index) => givenMail(index % 2 ? db : replica, { recipient: index % 3 ? 'ana@example.com' : 'Ana@Example.com' })))
  t.equal(ids.filter(Boolean).length, 3)
  t.ok(await givenMail(db, { recipient: 'ben@example.com' }), 'others are not held back')
})

t.test('a recipient gets 10 mails a day', async (t) => {
  const { db } = await givenDatabase()
  const hours = [23, 20, 16, 12]
  let given = 0
  for (const age of hours) {
    for (let times = 0; times < 4; times++) if (await givenMail(db, { recipient: 'ana@example.com' })) given++
    await sql`update mails set created_at = now() - make_interval(hours => ${age}) where created_at > now() - interval '1 hour'`.execute(db)
  }
  t.equal(given, 10)
  t.equal(await givenMail(db, { recipient: 'ana@example.com' }), undefined)
  await sql`update mails set created_at = created_at - interval '2 hours'`.execute(db)
  t.ok(await givenMail(db, { recipient: 'ana@example.com' }), 'a day later there is room again')
})

t.test('mails of one budget do not use up another', async (t) => {
  const { db } = await givenDatabase()
  const createTen = async (rateLimitKey: string) => await Promise.all(Array.from({ length: 10 }, async () => await givenMail(db, { recipient: 'ana@example.com', rateLimitKey })))
  const [codes, links] = await Promise.all([createTen('codes'), createTen('links')])
  t.strictSame([codes, links].map((ids) => ids.filter(Boolean).length), [3, 3])
})

t.test('a notice that is not capped comes through, and uses up nothing', async (t) => {
  const { db } = await givenDatabase()
  const ana = { recipient: 'ana@example.com' }
  for (let times = 0; times < 5; times++) t.ok(await givenMail(db, { ...ana, rateLimited: false }))
  for (let times = 0; times < 3; times++) t.ok(await givenMail(db, ana))
  t.notOk(await givenMail(db, ana))
  t.ok(await givenMail(db, { ...ana, rateLimited: false }))
})

t.test('a mail whose transaction is rolled back is none', async (t) => {
  const { db } = await givenDatabase()
  await t.rejects(db.transaction().execute(async (trx) => {
    await createMail(trx, { dedupeKey: 'a', recipient: 'ana@example.com', ...letter })
    throw new Error('changed my mind')
  }))
  t.strictSame(await pendingMails(db), [])
})

t.test('with the SMTP server down mails wait, and leave once it is up', async (t) => {
  const { smtp, db, mailer } = await world(t)
  mailer.start()
  await smtp.stop()
  t.equal(await mailer.verify(), false)
  const ids = await Promise.all(Array.from({ length: 5 }, () => givenMail(db)))
  await mailer.enqueue(ids)
  await sleep(2_000)
  t.strictSame([...new Set(await statuses(db))], ['pending'])
  t.match(await db.selectFrom('mails').select(['last_error', 'attempts']).execute(), [{ last_error: /ECONNREFUSED/, attempts: Number }])

  await smtp.start()
  await until(() => mailer.verify())
  await until(allSent(db))
  t.equal(smtp.received.length, 5)
})

t.test('a mail refused for now is tried again, one refused for good is not', async (t) => {
  const { smtp, db, mailer } = await world(t)
  mailer.start()
  smtp.refusal = 451
  await mailer.enqueue([await givenMail(db)])
  await sleep(1_000)
  smtp.refusal = undefined
  await until(allSent(db))

  smtp.refusal = 550
  const id = await givenMail(db)
  await mailer.enqueue([id])
  await until(async () => (await statuses(db))[1] === 'failed')
  smtp.refusal = undefined
  await mailer.enqueue([id])
  await sleep(1_500)
  t.equal(smtp.received.length, 1)
  t.match(await db.selectFrom('mails').selectAll().where('status', '=', 'failed').execute(), [{ attempts: 1, last_error: /550/, subject: null, body_text: null, body_html: null }])
})

t.test('a mail that was refused is not sent after a newer one of its topic', async (t) => {
  const { smtp, db, mailer } = await world(t)
  mailer.start()
  smtp.refusal = 451
  await mailer.enqueue([await givenMail(db, { collapseKey: 'code of ana', recipient: 'ana@example.com' }), await givenMail(db, { collapseKey: 'code of ben', recipient: 'ben@example.com' })])
  await until(async () => (await db.selectFrom('mails').where('attempts', '>', 0).where('status', '=', 'pending').selectAll().execute()).length === 2)

  const newer = await givenMail(db, { collapseKey: 'code of ana', recipient: 'ana@example.com' })
  t.match(await db.selectFrom('mails').where('collapse_key', '=', 'code of ana').orderBy('id').selectAll().execute(), [
    { status: 'failed', last_error: /superseded/, subject: null, body_text: null, body_html: null }, { status: 'pending' }
  ])
  smtp.refusal = undefined
  await mailer.enqueue([newer])
  await until(async () => (await statuses(db)).filter((status) => status === 'sent').length === 2)
  await sleep(2_500)
  t.strictSame(smtp.received.flatMap(({ to }) => to).sort(), ['ana@example.com', 'ben@example.com'])
})

t.test('a mail waits for an earlier one of its topic that is on its way, and that one is not tried again', async (t) => {
  const { smtp, db, mailer } = await world(t)
  mailer.start()
  smtp.hesitation = 1_500
  const [earlier, other] = [await givenMail(db, { collapseKey: 'code of ana' }), await givenMail(db, { collapseKey: 'code of ben' })]
  await mailer.enqueue([earlier])
  await until(() => smtp.received.length === 1)
  const newer = await givenMail(db, { collapseKey: 'code of ana' })
  await mailer.enqueue([newer, other])
  await sleep(750)
  const domain = '@tandem.test>'
  t.strictSame(smtp.received.map(({ messageId }) => messageId), [`<${earlier}${domain}`, `<${other}${domain}`], 'other topics need not wait')
  await until(allSent(db))
  t.equal(smtp.received.at(-1)?.messageId, `<${newer}${domain}`)

  const stuck = await givenMail(db, { collapseKey: 'code of ana' })
  await sql`update mails set status = 'sending', claimed_until = now() + interval '45 seconds' where id = ${stuck}`.execute(db)
  const last = await givenMail(db, { collapseKey: 'code of ana' })
  await sql`update mails set claimed_until = now() where id = ${stuck}`.execute(db)
  await mailer.enqueue([stuck, last])
  await until(async () => (await db.selectFrom('mails').where('id', '=', last ?? '').select('status').executeTakeFirst())?.status === 'sent')
  t.match(await db.selectFrom('mails').where('id', '=', stuck ?? '').selectAll().execute(), [{ status: 'failed', last_error: /superseded/ }])
})

t.test('a mail that could not be sent for a day is failed', async (t) => {
  const { smtp, db, mailer } = await world(t)
  smtp.refusal = 451
  const id = await givenMail(db)
  await sql`update mails set created_at = now() - interval '25 hours'`.execute(db)
  mailer.start()
  await mailer.enqueue([id])
  await until(async () => (await statuses(db))[0] === 'failed')
})

t.test('with Redis away a mail is queued all the same, and leaves once Redis is back', async (t) => {
  const { redis, smtp, db, mailer } = await world(t)
  mailer.start()
  await until(() => mailer.ready().then(() => true, () => false))
  await redis.stop()
  await mailer.enqueue([await givenMail(db)])
  await sleep(1_500)
  t.equal(smtp.received.length, 0)
  await redis.start()
  await until(allSent(db), 5)
  t.equal(smtp.received.length, 1)
})

t.test('a wiped Redis loses no mail and doubles none', async (t) => {
  const { redis, smtp, db, mailer } = await world(t)
  mailer.start()
  smtp.hesitation = 20
  for (let round = 0; round < 20; round++) {
    await mailer.enqueue(await Promise.all(Array.from({ length: 10 }, () => givenMail(db))))
    if (round % 5 === 4) await redis.wipe()
  }
  await until(allSent(db), 20)
  t.equal(smtp.received.length, 200)
  t.equal(new Set(smtp.received.map((mail) => mail.messageId)).size, 200)
})

t.test('of a mail that came twice, because its worker was killed between acceptance and mark, both have one Message-ID', async (t) => {
  const { redis, smtp, db, mailer, databaseUrl } = await world(t)
  smtp.hesitation = 60_000
  const id = await givenMail(db)
  const child = fork(new URL('mailer-process.ts', import.meta.url), [databaseUrl, smtp.url, redis.url])
  t.teardown(() => child.kill('SIGKILL'))
  await until(() => smtp.received.length === 1)
  child.kill('SIGKILL')
  smtp.hesitation = 0

  mailer.start()
  await mailer.enqueue([id])
  await sleep(2_000)
  t.equal(smtp.received.length, 1, 'nobody takes a mail from a worker that may live')
  t.strictSame(await statuses(db), ['sending'])

  await sql`update mails set claimed_until = now()`.execute(db)
  await until(allSent(db), 40)
  t.strictSame(smtp.received.map((mail) => mail.messageId), [`<${id}@tandem.test>`, `<${id}@tandem.test>`])
})

t.test('whether the SMTP server can be reached is known within a second, and asked once a second', async (t) => {
  const { smtp, mailer, settings } = await world(t)
  const answers = await Promise.all(Array.from({ length: 50 }, () => mailer.verify()))
  t.ok(answers.every(Boolean))
  t.equal(smtp.logins, 1)

  const silence = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silence.close())
  await once(silence, 'listening')
  const lost = createMailer({ ...settings, smtpUrl: `smtp://127.0.0.1:${(silence.address() as AddressInfo).port}` })
  t.teardown(() => lost.close())
  const before = Date.now()
  t.equal(await lost.verify(), false)
  t.ok(Date.now() - before < 1_100)
})

t.test('a mail is not sent again though Postgres cannot mark it for a while', async (t) => {
  const { smtp, db, mailer } = await world(t)
  smtp.hesitation = 500
  mailer.start()
  await mailer.enqueue([await givenMail(db)])
  await until(() => smtp.received.length === 1)
  await db.transaction().execute(async (trx) => {
    await sql`lock table mails in access exclusive mode`.execute(trx)
    await sleep(3_000)
  })
  await until(allSent(db))
  t.equal(smtp.received.length, 1)
})

t.test('a mail is deleted 30 days after it was created', async (t) => {
  const { db } = await givenDatabase()
  await givenMail(db, { dedupeKey: 'old' })
  await givenMail(db, { dedupeKey: 'new' })
  await sql`update mails set status = 'sent', sent_at = now(), subject = null, body_text = null, body_html = null, created_at = now() - interval '31 days' where dedupe_key = 'old'`.execute(db)
  await deleteOldMails(db)
  t.match(await pendingMails(db), [{ dedupeKey: 'new' }])
  t.equal((await pendingMails(db)).length, 1)
})
