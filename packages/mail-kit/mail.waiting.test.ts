// It kills servers and workers, and counts the mails that are sent in a given time.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '@tandem/database-kit/testing'
import { endsWithin, startRedis, until } from '@tandem/test-kit'
import { sql, type Kysely } from 'kysely'
import t, { type Test } from 'tap'
import { startSmtp } from './faulty-smtp.ts'
import { register } from 'prom-client'
import { checkMailBacklog, createMailer, createMail, type MailerOptions, type MailTables } from './index.ts'
import { content, givenMail, statuses } from './test-mails.ts'

// A killed worker's lock lasts 15 s, so this file takes half a minute, most of it waiting.
t.jobs = 4

const log = { info () {}, warn () {} }
const givenDatabase = () => testDatabase<MailTables>(t, import.meta.dirname)

async function setup (t: Test, options: Partial<MailerOptions> = {}) {
  const [redis, smtp, { db, url }] = await Promise.all([startRedis(t), startSmtp(t), givenDatabase()])
  const settings = {
    db,
    service: 'identity',
    smtpUrl: smtp.url,
    redisUrl: redis.url,
    from: 'Tandem <hello@tandem.test>',
    log,
    sweepIntervalSeconds: 1,
    ...options
  }
  const mailer = createMailer(settings)
  t.teardown(() => mailer.close())
  return { redis, smtp, db, databaseUrl: url, mailer, settings }
}

const readMails = (db: Kysely<MailTables>) =>
  db.selectFrom('mails')
    .select(['id', 'status', 'subject', 'body_text', 'body_html', 'attempts', 'last_error', 'sent_at'])

const allSent = (db: Kysely<MailTables>) => async () => (await statuses(db)).every((status) => status === 'sent')

t.test('a mail is sent once with both parts, and its content is blanked', async (t) => {
  const { smtp, db, mailer, settings } = await setup(t)
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
  t.match(await readMails(db).execute(), [{
    status: 'sent',
    subject: null,
    body_text: null,
    body_html: null,
    attempts: 1,
    sent_at: Date
  }])
})

t.test('mails wait while the SMTP server is down and are sent once it is up', async (t) => {
  const { smtp, db, mailer } = await setup(t)
  mailer.start()
  await smtp.stop()
  t.equal(await mailer.verify(), false)
  const ids = await Promise.all(Array.from({ length: 5 }, () => givenMail(db)))
  await mailer.enqueue(ids)
  await sleep(2_000)
  const waiting = await statuses(db)
  t.ok(waiting.every((status) => status === 'pending' || status === 'sending'), 'some are being tried again')
  t.match(await db.selectFrom('mails').select(['last_error', 'attempts']).execute(), [{
    last_error: /ECONNREFUSED/,
    attempts: Number
  }])

  await smtp.start()
  // It has a second, which a busy machine may need for itself.
  await until(() => mailer.verify())
  await until(allSent(db))
  t.equal(smtp.received.length, 5)
})

t.test('a temporary rejection is retried, a permanent one is not', async (t) => {
  const { smtp, db, mailer } = await setup(t)
  mailer.start()
  smtp.rejectionCode = 451
  await mailer.enqueue([await givenMail(db)])
  await sleep(1_000)
  smtp.rejectionCode = undefined
  await until(allSent(db))

  smtp.rejectionCode = 550
  const id = await givenMail(db)
  await mailer.enqueue([id])
  await until(async () => (await statuses(db))[1] === 'failed')
  smtp.rejectionCode = undefined
  await mailer.enqueue([id])
  await sleep(1_500)
  t.equal(smtp.received.length, 1)
  t.match(await readMails(db).where('status', '=', 'failed').execute(), [{
    attempts: 1,
    last_error: /550/,
    subject: null,
    body_text: null,
    body_html: null
  }])
})

t.test('a rejected mail is not sent after a newer one with its collapse key', async (t) => {
  const { smtp, db, mailer } = await setup(t)
  mailer.start()
  smtp.rejectionCode = 451
  await mailer.enqueue([
    await givenMail(db, { collapseKey: 'code of ana', recipient: 'ana@example.com' }),
    await givenMail(db, { collapseKey: 'code of ben', recipient: 'ben@example.com' })
  ])
  await until(async () =>
    (await readMails(db).where('attempts', '>', 0).where('status', '=', 'pending').execute()).length === 2
  )

  const newer = await givenMail(db, { collapseKey: 'code of ana', recipient: 'ana@example.com' })
  smtp.rejectionCode = undefined
  await mailer.enqueue([newer])
  await until(async () => (await statuses(db)).every((status) => status === 'sent' || status === 'failed'))
  t.strictSame(smtp.received.flatMap(({ to }) => to).sort(), ['ana@example.com', 'ben@example.com'])
  t.match(await readMails(db).where('collapse_key', '=', 'code of ana').orderBy('id').execute(), [
    { status: 'failed', last_error: /superseded/, subject: null, body_text: null, body_html: null },
    { status: 'sent' }
  ])
})

t.test('a mail is not sent when a worker claims it while a newer one is being created', async (t) => {
  const { smtp, db, mailer } = await setup(t)
  const collapseKey = 'code of ana'
  const older = await givenMail(db, { collapseKey })
  const newer = await db.transaction().execute(async (trx) => {
    const id = await createMail(trx, { dedupeKey: 'newer', recipient: 'ana@example.com', collapseKey, ...content })
    mailer.start()
    await mailer.enqueue([older])
    // The worker waits for the lock of the older mail. A transaction sees pg_stat_activity as it first was, without
    // connections that opened since.
    await until(async () => {
      const { rows } = await sql`
        select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(trx)
      return rows.length > 0
    })
    return id
  })
  await mailer.enqueue([newer])
  await until(async () => (await statuses(db)).every((status) => status === 'sent' || status === 'failed'))
  t.strictSame(smtp.received.map(({ messageId }) => messageId), [`<${newer}@tandem.test>`])
})

t.test('a mail is dropped once what it contains has expired, or after a day', async (t) => {
  const { smtp, db, mailer } = await setup(t)
  mailer.start()
  smtp.rejectionCode = 451
  await mailer.enqueue([await givenMail(db, { lifetime: '2 seconds' }), await givenMail(db)])
  await until(async () => (await statuses(db))[0] === 'failed')
  smtp.rejectionCode = undefined
  await until(async () => (await statuses(db))[1] === 'sent')
  t.equal(smtp.received.length, 1)
  const { rows } = await sql`select from mails where expires_at - created_at = interval '1 day'`.execute(db)
  t.equal(rows.length, 1)
  t.match((await readMails(db).orderBy('id').execute())[0], {
    last_error: /expired/,
    subject: null,
    body_text: null,
    body_html: null
  })
})

t.test('a mail that expired unsent does not use up the limit of its recipient', async (t) => {
  const { db, mailer } = await setup(t)
  const ana = { recipient: 'ana@example.com' }
  t.ok(await givenMail(db, ana))
  for (let times = 0; times < 2; times++) t.ok(await givenMail(db, { ...ana, lifetime: '0 seconds' }))
  t.notOk(await givenMail(db, ana), 'until then it does')
  mailer.start()
  await until(async () => (await statuses(db)).every((status) => status === 'sent' || status === 'failed'))
  for (let times = 0; times < 2; times++) t.ok(await givenMail(db, ana))
  t.notOk(await givenMail(db, ana))
})

t.test('a mail waits for an earlier one with its collapse key that is being sent, which is not retried', async (t) => {
  const { smtp, db, mailer } = await setup(t)
  mailer.start()
  smtp.responseDelayMs = 6_000
  const earlier = await givenMail(db, { collapseKey: 'code of ana' })
  await mailer.enqueue([earlier])
  await until(() => smtp.received.length > 0)
  smtp.responseDelayMs = 0
  const newer = await givenMail(db, { collapseKey: 'code of ana' })
  const other = await givenMail(db, { collapseKey: 'code of ben' })
  await mailer.enqueue([newer, other])
  await until(() => smtp.received.length > 1)
  const domain = '@tandem.test>'
  t.strictSame(
    smtp.received.map(({ messageId }) => messageId),
    [`<${earlier}${domain}`, `<${other}${domain}`],
    'other collapse keys do not wait'
  )
  await until(allSent(db))
  t.equal(smtp.received.at(-1)?.messageId, `<${newer}${domain}`)

  const stuck = await givenMail(db, { collapseKey: 'code of ana' })
  await sql`update mails set status = 'sending', claimed_until = now() + interval '45 seconds' where id = ${stuck}`
    .execute(db)
  const last = await givenMail(db, { collapseKey: 'code of ana' })
  await sql`update mails set claimed_until = now() where id = ${stuck}`.execute(db)
  await mailer.enqueue([stuck, last])
  await until(async () =>
    (await db.selectFrom('mails').where('id', '=', last ?? '').select('status').executeTakeFirst())?.status === 'sent'
  )
  t.match(await readMails(db).where('id', '=', stuck ?? '').execute(), [{ status: 'failed', last_error: /superseded/ }])
})

t.test('without Redis a mail is still created, and is sent once Redis is back', async (t) => {
  const { redis, smtp, db, mailer } = await setup(t)
  mailer.start()
  await until(() => mailer.ready().then(() => true, () => false))
  await redis.stop()
  await mailer.enqueue([await givenMail(db)])
  await sleep(1_500)
  t.equal(smtp.received.length, 0)
  await redis.start()
  await until(allSent(db))
  t.equal(smtp.received.length, 1)
})

t.test('wiping Redis neither loses nor duplicates a mail', async (t) => {
  const { redis, smtp, db, mailer } = await setup(t)
  mailer.start()
  smtp.responseDelayMs = 20
  for (let round = 0; round < 20; round++) {
    await mailer.enqueue(await Promise.all(Array.from({ length: 10 }, () => givenMail(db))))
    if (round % 5 === 4) await redis.wipe()
  }
  await until(allSent(db))
  t.equal(smtp.received.length, 200)
  t.equal(new Set(smtp.received.map((mail) => mail.messageId)).size, 200)
})

t.test('a mail that is sent twice because its worker was killed keeps its Message-ID', async (t) => {
  const { redis, smtp, db, mailer, databaseUrl } = await setup(t)
  smtp.responseDelayMs = 60_000
  const id = await givenMail(db)
  const child = fork(new URL('mailer-process.ts', import.meta.url), [databaseUrl, smtp.url, redis.url])
  t.teardown(() => child.kill('SIGKILL'))
  await until(() => smtp.received.length === 1)
  child.kill('SIGKILL')
  smtp.responseDelayMs = 0

  mailer.start()
  await mailer.enqueue([id])
  await sleep(2_000)
  t.equal(smtp.received.length, 1, 'no worker claims a mail during the lease of another')
  t.strictSame(await statuses(db), ['sending'])

  await sql`update mails set claimed_until = now()`.execute(db)
  await until(allSent(db))
  t.strictSame(smtp.received.map((mail) => mail.messageId), [`<${id}@tandem.test>`, `<${id}@tandem.test>`])
})

t.test('a mail that another worker gives back is sent long before the lease of that worker would have ended', async (t) => {
  const { db, mailer } = await setup(t, { service: 'lease' })
  const id = await givenMail(db)
  const mails = db.updateTable('mails').where('id', '=', id!)
  await mails.set({ status: 'sending', claimed_until: sql`now() + interval '45 seconds'` }).execute()
  mailer.start()
  await mailer.enqueue([id])
  const hasLooked = async () =>
    (await register.getSingleMetric('queue_tries_total')!.get()).values.some(({ labels, value }) =>
      labels['queue'] === 'lease-mails' && labels['outcome'] === 'delayed' && value > 0
    )
  await until(hasLooked)

  await mails.set({ status: 'pending', claimed_until: null }).execute()
  t.ok(await endsWithin(15_000, until(allSent(db))))
})

t.test('verify resolves within a second, connects once for concurrent calls, and is never out of date', async (t) => {
  const { smtp, mailer, settings } = await setup(t)
  const results = await Promise.all(Array.from({ length: 50 }, () => mailer.verify()))
  t.ok(results.every(Boolean))
  t.equal(smtp.connections, 1)
  for (const change of [false, true] as const) {
    await (change ? smtp.start() : smtp.stop())
    t.equal(await mailer.verify(), change)
  }

  const silentServer = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silentServer.close())
  await once(silentServer, 'listening')
  const unreachable = createMailer({
    ...settings,
    smtpUrl: `smtp://127.0.0.1:${(silentServer.address() as AddressInfo).port}`
  })
  t.teardown(() => unreachable.close())
  // Both by timers of this process, which a busy machine delays alike.
  const verified = unreachable.verify().then((isVerified) => isVerified ? 'verified' : 'not verified')
  t.equal(await Promise.race([verified, sleep(1_100, 'too late')]), 'not verified')
})

t.test('a mail is not sent again while Postgres cannot mark it', async (t) => {
  const { smtp, db, mailer } = await setup(t)
  smtp.responseDelayMs = 500
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

t.test('closing waits for the deletion of old mails that is running', async (t) => {
  const { db, mailer } = await setup(t)
  await givenMail(db)
  await sql`update mails set status = 'sent', sent_at = now(), subject = null, body_text = null, body_html = null, created_at = now() - interval '31 days'`
    .execute(db)
  const { closed } = await db.transaction().execute(async (trx) => {
    await sql`lock table mails in share mode`.execute(trx)
    mailer.start()
    const closed = mailer.close().then(async () => (await statuses(db)).length)
    await sleep(500)
    return { closed }
  })
  t.equal(await closed, 0)
})

t.test('mails that wait are measured, and degrade the service after two minutes', async (t) => {
  const { smtp, db, mailer } = await setup(t, { service: 'backlog' })
  const read = async (name: string, labels: Record<string, string> = { service: 'backlog' }) =>
    (await register.getSingleMetric(name)?.get())?.values
      .find((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))?.value
  const attempts = async (outcome: string) => await read('mail_attempts_total', { service: 'backlog', outcome })
  t.equal(await attempts('retried'), 0, 'before the first failure, for a rate to count it')

  smtp.rejectionCode = 451
  mailer.start()
  const id = await givenMail(db)
  await mailer.enqueue([id])
  await until(async () => (await attempts('retried') ?? 0) > 0)
  t.equal(await read('mail_waiting'), 1)
  await checkMailBacklog(db)

  await sql`update mails set created_at = now() - interval '5 minutes', last_error = last_error || ' <bob@example.com>'`
    .execute(db)
  t.ok((await read('mail_oldest_seconds') ?? 0) >= 300)
  const failure = await checkMailBacklog(db).catch((error: Error) => error.message)
  t.match(failure, /^1 emails wait, the oldest for 30\d s; last error: .*451/)
  t.notMatch(failure, /bob@example/, 'without the address')
})
