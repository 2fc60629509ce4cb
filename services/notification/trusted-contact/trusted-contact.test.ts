import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { recordedEvents } from '@tandem/bus-kit/testing'
import { TrustedContactEnded } from '@tandem/contracts'
import { pendingMails } from '@tandem/mail-kit/testing'
import { deleteExpired } from '../housekeeping.ts'
import { testApp } from '../test/app.ts'

const { reset, app } = await testApp(t)
const path = '/notifications/trusted-contact'
const someAddress = () => `mum-${randomUUID()}@example.com`

function setUp () {
  const fixture = reset()
  const { db, neighbours, person, send, inbox } = fixture
  return {
    ...fixture,
    owner: async (name: string, { emailVerified = true, locale = 'en' } = {}) => {
      const id = await person(name, { locale })
      neighbours.contacts.set(id, { email: `${id}@example.com`, name, locale, emailVerified })
      return id
    },
    set: async (accountId: string, email: string, more: object = {}) =>
      await send(accountId, 'PUT', path, { name: 'Mum', email, ...more }),
    contactOf: async (accountId: string) => (await send(accountId, 'GET', path)).data.contact,
    answer: async (token: string, accept: boolean) => {
      const response = await app.inject({ method: 'POST', url: `${path}/answer`, payload: { token, accept } })
      return { status: response.statusCode, ...response.json() }
    },
    endedOf: async (accountId: string) =>
      (await recordedEvents(db)).filter(({ type }) => type === TrustedContactEnded.type)
        .map(({ data }) => data as { accountId: string }).filter((data) => data.accountId === accountId),
    mailsTo: async (email: string) => (await pendingMails(db)).filter(({ recipient }) => recipient === email),
    changesOf: async (accountId: string) =>
      (await inbox(accountId)).notifications.map(({ type, title }: { type: string, title: string }) => [type, title])
  }
}

const tokenIn = ({ text }: { text: string }) =>
  /https:\/\/api\.example\/trusted-contact#token=([\w-]{43})\n/.exec(text)![1]!

t.test('a contact is asked by one mail, agrees with its link, and can end it later', async (t) => {
  const { db, owner, set, contactOf, answer, mailsTo, changesOf, send } = setUp()
  const [ana, email] = [await owner('Ana'), someAddress()]
  t.equal(await contactOf(ana), null)
  t.match(await set(ana, `  ${email.toUpperCase()} `), { status: 200, data: { contact: { name: 'Mum', email } } })
  t.match(await contactOf(ana), { name: 'Mum', email, status: 'PENDING', locale: 'en' })
  const mails = await mailsTo(email)
  t.equal(mails.length, 1)
  const [mail] = mails
  t.match(mail!.text, /Ana uses Tandem/)
  t.match(mail!.text, /no emergency service/)
  t.notMatch(mail!.text + mail!.html, /Mum/, 'no text that the owner wrote')
  const token = tokenIn(mail!)
  t.equal(
    (await sql`select from trusted_contact_links where token_digest = ${Buffer.from(token)}`.execute(db)).rows.length,
    0
  )

  t.match(await answer(token, true), { status: 200, success: true })
  t.match(await answer(token, true), { status: 200 }, 'again')
  t.match(await contactOf(ana), { status: 'CONFIRMED' })
  t.same(await changesOf(ana), [
    ['ACCOUNT', 'Your trusted contact has agreed'],
    ['ACCOUNT', 'Your trusted contact was changed']
  ])
  t.match(await answer(token, false), { status: 200 })
  t.match(await contactOf(ana), { status: 'DECLINED' })
  t.match(await answer(token, true), { status: 409, code: 'CONTACT_DECLINED' }, 'declining is final')
  t.match(await set(ana, email), { status: 409, code: 'CONTACT_DECLINED' })
  t.match(await send(ana, 'DELETE', path), { status: 200 })
  t.match(await set(ana, email), { status: 409, code: 'CONTACT_DECLINED' }, 'also after the contact was removed')
  t.equal((await changesOf(ana)).length, 4)
  const created = await db.selectFrom('mails').where('recipient', '=', email).select('id').execute()
  t.equal(created.length, 1)
  t.match(await answer(token, true), { status: 400, code: 'INVALID_TOKEN' })

  const ben = await owner('Ben')
  t.match(await set(ben, email), { status: 200 }, 'another account can ask')
})

t.test('the mail is in the language of the contact, and its link is the only one that works', async (t) => {
  const { owner, set, answer, mailsTo } = setUp()
  const [ana, email] = [await owner('Ana', { locale: 'en' }), someAddress()]
  await set(ana, email, { locale: 'in_ID@calendar=japanese' })
  const [mail] = await mailsTo(email)
  t.match(mail!.text, /bukan layanan darurat/)
  t.match(await answer('x'.repeat(43), true), { status: 400, code: 'INVALID_TOKEN' })
  t.match(await answer('', true), { status: 400, code: 'VALIDATION_ERROR' })

  const indonesian = someAddress()
  await set(await owner('Budi', { locale: 'id' }), indonesian)
  t.match((await mailsTo(indonesian))[0]!.subject, 'Bersediakah')
})

t.test('repeating a request changes nothing, and a new name needs no new consent', async (t) => {
  const { owner, set, contactOf, answer, mailsTo, changesOf } = setUp()
  const [ana, email] = [await owner('Ana'), someAddress()]
  await set(ana, email)
  const token = tokenIn((await mailsTo(email))[0]!)
  await answer(token, true)
  for (const _ of [1, 2, 3, 4]) t.match(await set(ana, email), { status: 200 })
  t.equal((await changesOf(ana)).length, 2)
  t.match(await set(ana, email, { name: 'Mother' }), { status: 200, data: { contact: { status: 'CONFIRMED' } } })
  t.match(await contactOf(ana), { name: 'Mother', status: 'CONFIRMED' })
  t.equal((await mailsTo(email)).length, 1)

  const other = someAddress()
  t.match(await set(ana, other), { status: 200, data: { contact: { email: other, status: 'PENDING' } } })
  t.match(await answer(token, false), { status: 400 }, 'the link of the former contact')
})

t.test('the mail of a contact that was replaced is not sent any more, because its link is invalid', async (t) => {
  const { owner, set, send, answer, contactOf, mailsTo } = setUp()
  const [ana, mum, dad] = [await owner('Ana'), someAddress(), someAddress()]
  for (const email of [mum, dad]) t.match(await set(ana, email), { status: 200 })
  await send(ana, 'DELETE', path)
  t.match(await set(ana, mum), { status: 200 })
  t.same(await mailsTo(dad), [])
  const mails = await mailsTo(mum)
  t.equal(mails.length, 1)
  t.match(await answer(tokenIn(mails[0]!), true), { status: 200 })
  t.match(await contactOf(ana), { status: 'CONFIRMED' })
})

t.test('3 changes a day, exactly, and removing is always possible', async (t) => {
  const { db, owner, set, send, changesOf } = setUp()
  const ana = await owner('Ana')
  const responses = await Promise.all([1, 2, 3, 4, 5].map(async () => await set(ana, someAddress())))
  t.equal(responses.filter(({ status }) => status === 200).length, 3)
  t.match(responses.find(({ status }) => status === 429), { code: 'LIMIT_EXCEEDED' })
  t.equal((await changesOf(ana)).length, 3, 'a refused change is not notified')
  t.match(await send(ana, 'DELETE', path), { status: 200 })
  t.match(await send(ana, 'DELETE', path), { status: 404, code: 'NOT_FOUND' })
  t.match(await set(ana, someAddress()), { status: 429 })
  await sql`update daily_quotas set ends_at = ends_at - interval '3 days' where account_id = ${ana}`.execute(db)
  await deleteExpired(db)
  t.match(await set(ana, someAddress()), { status: 200 })
})

t.test('the same change sent several times at once is one change', async (t) => {
  const { owner, set, mailsTo, changesOf } = setUp()
  const [ana, email] = [await owner('Ana'), someAddress()]
  const responses = await Promise.all([1, 2, 3, 4, 5].map(async () => await set(ana, email)))
  t.same(responses.map(({ status }) => status), [200, 200, 200, 200, 200])
  t.equal((await mailsTo(email)).length, 1)
  t.equal((await changesOf(ana)).length, 1)
  for (const _ of [2, 3]) t.match(await set(ana, someAddress()), { status: 200 })
  t.match(await set(ana, someAddress()), { status: 429 })
})

t.test('an account asks an address 3 times in 30 days, exactly, and keeps nobody else from asking it', async (t) => {
  const { db, owner, set, send, mailsTo, contactOf } = setUp()
  const email = someAddress()
  const [ana, stranger] = [await owner('Ana'), await owner('Stranger')]
  const more = Array.from({ length: 5 }, (_, turn) => turn)
  for (const _ of more) {
    // As if each were on a day of its own.
    await sql`delete from daily_quotas`.execute(db)
    await set(stranger, email)
    t.ok((await mailsTo(email)).length <= 1, 'one open request')
    await send(stranger, 'DELETE', path)
  }
  t.match(await set(stranger, email), { status: 429, code: 'LIMIT_EXCEEDED' })
  t.equal(await contactOf(stranger), null)
  t.match(await set(ana, email), { status: 200, data: { contact: { status: 'PENDING' } } })
  const others = await Promise.all(more.map(async (turn) => await owner(`P${turn}`)))
  for (const { status } of await Promise.all(others.map(async (each) => await set(each, email)))) t.equal(status, 200)

  await sql`
    update trusted_contact_requests set last_at = last_at - interval '31 days',
      requested_at = array(select at - interval '31 days' from unnest(requested_at) at)`.execute(db)
  t.match(await set(stranger, email), { status: 200 })
  await sql`update trusted_contact_requests set last_at = now() - interval '31 days'`.execute(db)
  await deleteExpired(db)
  t.same(await db.selectFrom('trusted_contact_requests').select('last_at').execute(), [])
})

t.test('an address gets 20 requests a day, however many accounts ask it', async (t) => {
  const { owner, set, contactOf, mailsTo } = setUp()
  const email = someAddress()
  const owners = await Promise.all(Array.from({ length: 22 }, async (_, turn) => await owner(`P${turn}`)))
  const responses = await Promise.all(owners.map(async (each) => ({ each, ...await set(each, email) })))
  const refused = responses.filter(({ status }) => status !== 200)
  t.match(refused, Array(2).fill({ status: 429, code: 'LIMIT_EXCEEDED' }))
  t.equal((await mailsTo(email)).length, 20)
  for (const { each } of refused) {
    t.equal(await contactOf(each), null)
    t.match(await set(each, someAddress()), { status: 200 }, 'others can be asked')
  }
})

t.test('only for verified accounts, with the address of another person, and while identity is available', async (t) => {
  const { owner, set, neighbours, changesOf } = setUp()
  const ana = await owner('Ana')
  t.match(await set(await owner('Una', { emailVerified: false }), someAddress()), { code: 'EMAIL_NOT_VERIFIED' })
  t.match(await set(ana, `${ana}@EXAMPLE.com`), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await set(ana, 'no address'), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await set(ana, someAddress(), { name: ' ' }), { status: 400, code: 'VALIDATION_ERROR' })
  neighbours.isUnavailable = true
  t.match(await set(ana, someAddress()), { status: 503, code: 'SERVICE_UNAVAILABLE' })
  neighbours.isUnavailable = false
  t.same(await changesOf(ana), [])
})

t.test('an answer and a removal at once leave no contact, and an answer to each other one result', async (t) => {
  const { owner, set, send, answer, mailsTo, contactOf } = setUp()
  for (const turn of Array.from({ length: 10 }, (_, index) => index)) {
    const [ana, email] = [await owner('Ana'), someAddress()]
    await set(ana, email)
    const token = tokenIn((await mailsTo(email))[0]!)
    const [answered, removed] = await Promise.all([answer(token, true), send(ana, 'DELETE', path)])
    t.ok([200, 400].includes(answered.status), `round ${turn}`)
    t.equal(removed.status, 200)
    t.equal(await contactOf(ana), null)

    const other = someAddress()
    await set(ana, other)
    const second = tokenIn((await mailsTo(other))[0]!)
    await Promise.all([answer(second, true), answer(second, false)])
    t.match(await contactOf(ana), { status: 'DECLINED' }, 'declining wins, in either order')
  }
})

t.test('a contact that an armed safety check counts on is removed and replaced only with a confirmation', async (t) => {
  const { owner, set, send, answer, contactOf, mailsTo, neighbours, endedOf } = setUp()
  const [ana, mum, dad] = [await owner('Ana'), someAddress(), someAddress()]
  neighbours.armedMeetings = 1
  t.match(await set(ana, mum), { status: 200 })
  t.match(await set(ana, dad), { status: 200 }, 'nobody counts on a contact who has not agreed')
  await answer(tokenIn((await mailsTo(dad))[0]!), true)
  t.match(await set(ana, mum), { status: 409, code: 'CONTACT_NEEDED' })
  t.match(await send(ana, 'DELETE', path), { status: 409, code: 'CONTACT_NEEDED' })
  t.match(await set(ana, dad, { name: 'Father' }), { status: 200 }, 'they stay the contact')
  t.match(await contactOf(ana), { email: dad, status: 'CONFIRMED' })
  t.same(await endedOf(ana), [])

  t.match(await set(ana, mum, { confirm: true }), { status: 429 }, 'a refused change ends nothing')
  t.same(await endedOf(ana), [])
  neighbours.isUnavailable = true
  t.match(await send(ana, 'DELETE', path), { status: 503 })
  t.match(await send(ana, 'DELETE', `${path}?confirm=true`), { status: 200 }, 'a removal is always possible')
  t.same(await endedOf(ana), [{ accountId: ana }])
})

t.test('a contact who had agreed and declines ends the safety checks that count on them', async (t) => {
  const { owner, set, send, answer, mailsTo, neighbours, endedOf } = setUp()
  const [ana, ben, email] = [await owner('Ana'), await owner('Ben'), someAddress()]
  for (const each of [ana, ben]) await set(each, email)
  const [anas, bens] = (await mailsTo(email)).map(tokenIn)
  await answer(bens!, false)
  t.same(await endedOf(ben), [], 'they had never agreed')
  await answer(anas!, true)
  neighbours.armedMeetings = 1
  for (const _ of [1, 2]) t.match(await answer(anas!, false), { status: 200 }, 'also while a check is armed')
  t.same(await endedOf(ana), [{ accountId: ana }])
  t.match(await send(ana, 'DELETE', path), { status: 200 })
  t.same(await endedOf(ana), [{ accountId: ana }])
})
