import { connect } from '@tandem/database-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { sql } from 'kysely'
import t from 'tap'
import { createMail, type MailTables } from './index.ts'
import { claimMail, deleteOldMails, markFailed, markPending, markSent } from './mails.ts'
import { content, givenMail, statuses } from './test-mails.ts'
import { pendingMails } from './testing.ts'

const log = { warn () {} }
const givenDatabase = () => testDatabase<MailTables>(t, import.meta.dirname)

t.test('a dedupe key gets one mail, even if 20 are created in parallel', async (t) => {
  const { db } = await givenDatabase()
  const ids = await Promise.all(
    Array.from(
      { length: 20 },
      () => givenMail(db, { dedupeKey: 'verification:1', recipient: 'ana@example.com', rateLimited: false })
    )
  )
  t.equal(ids.filter(Boolean).length, 1)
  t.match(await pendingMails(db), [{ dedupeKey: 'verification:1', recipient: 'ana@example.com', ...content }])
  t.equal((await pendingMails(db)).length, 1)
})

t.test('a recipient gets 3 mails an hour, even if 50 are created in parallel', async (t) => {
  const { db, url } = await givenDatabase()
  const replica = connect<MailTables>(url, { log, timeoutFactor: 10 })
  t.teardown(() => replica.destroy())
  const ids = await Promise.all(
    Array.from(
      { length: 50 },
      (_, index) =>
        givenMail(index % 2 ? db : replica, { recipient: index % 3 ? 'ana@example.com' : 'Ana@Example.com' })
    )
  )
  t.equal(ids.filter(Boolean).length, 3)
  t.ok(await givenMail(db, { recipient: 'ben@example.com' }), 'others are not limited')
})

t.test('a recipient gets 10 mails a day', async (t) => {
  const { db } = await givenDatabase()
  const hours = [23, 20, 16, 12]
  let given = 0
  for (const age of hours) {
    for (let times = 0; times < 4; times++) if (await givenMail(db, { recipient: 'ana@example.com' })) given++
    await sql`update mails set created_at = now() - make_interval(hours => ${age}) where created_at > now() - interval '1 hour'`
      .execute(db)
  }
  t.equal(given, 10)
  t.equal(await givenMail(db, { recipient: 'ana@example.com' }), undefined)
  await sql`update mails set created_at = created_at - interval '2 hours'`.execute(db)
  t.ok(await givenMail(db, { recipient: 'ana@example.com' }), 'the limit ends after a day')
})

t.test('mails with one rate limit key do not use up the limit of another', async (t) => {
  const { db } = await givenDatabase()
  const createTen = async (rateLimitKey: string) =>
    await Promise.all(
      Array.from({ length: 10 }, async () => await givenMail(db, { recipient: 'ana@example.com', rateLimitKey }))
    )
  const [codes, links] = await Promise.all([createTen('codes'), createTen('links')])
  t.strictSame([codes, links].map((ids) => ids.filter(Boolean).length), [3, 3])
})

t.test('a mail without a rate limit is always created, and does not count', async (t) => {
  const { db } = await givenDatabase()
  const ana = { recipient: 'ana@example.com' }
  for (let times = 0; times < 5; times++) t.ok(await givenMail(db, { ...ana, rateLimited: false }))
  for (let times = 0; times < 3; times++) t.ok(await givenMail(db, ana))
  t.notOk(await givenMail(db, ana))
  t.ok(await givenMail(db, { ...ana, rateLimited: false }))
})

t.test('a rolled-back transaction creates no mail', async (t) => {
  const { db } = await givenDatabase()
  await t.rejects(
    db.transaction().execute(async (trx) => {
      await createMail(trx, { dedupeKey: 'a', recipient: 'ana@example.com', ...content })
      throw new Error('changed my mind')
    })
  )
  t.strictSame(await pendingMails(db), [])
})

t.test('a worker whose lease has ended leaves the mail to the one that has claimed it since', async (t) => {
  const { db } = await givenDatabase()
  const id = (await givenMail(db))!
  const { attempts } = (await claimMail(db, id))!
  const fail = async () => {
    await markPending(db, id, { attempts, error: '451' })
    await db.transaction().execute(async (trx) => await markFailed(trx, id, { attempts, error: '550' }))
  }
  await sql`update mails set claimed_until = now() - interval '1 second'`.execute(db)
  t.ok(await claimMail(db, id))
  await fail()
  t.strictSame(await statuses(db), ['sending'])
  await db.transaction().execute(async (trx) => await markSent(trx, id))
  await fail()
  t.strictSame(await statuses(db), ['sent'])
})

t.test('a mail is deleted 30 days after it was created', async (t) => {
  const { db } = await givenDatabase()
  await givenMail(db, { dedupeKey: 'old' })
  await givenMail(db, { dedupeKey: 'new' })
  await sql`update mails set status = 'sent', sent_at = now(), subject = null, body_text = null, body_html = null, created_at = now() - interval '31 days' where dedupe_key = 'old'`
    .execute(db)
  await deleteOldMails(db)
  t.match(await pendingMails(db), [{ dedupeKey: 'new' }])
  t.equal((await pendingMails(db)).length, 1)
})
