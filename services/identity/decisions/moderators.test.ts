import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { testApp } from '../test/app.ts'

const cases = new Map()
const { asOperator, db, post, givenAccount, login, publishedEvents } = await testApp(t, { rpcResults: { cases } })

t.test('moderators end no ban, also with the restriction of a banned person', async (t) => {
  const account = await givenAccount()
  const decide = async (actions: object[], headers: Record<string, string>) =>
    await post('/operator/decisions', {
      case: null,
      accountId: account.id,
      actions,
      reason: 'SPAM',
      statement: 'You sold things.'
    }, { headers })
  const lift = [{ type: 'LIFT', scope: 'ALL' }]
  const moderator = await asOperator('MODERATOR')
  t.equal((await decide([{ type: 'RESTRICT', scope: 'ALL', days: 7 }], moderator)).status, 201)
  t.equal((await decide([{ type: 'BAN' }], await asOperator())).status, 201)

  t.match(await decide(lift, moderator), { status: 403, code: 'FORBIDDEN' })
  const unproved = await asOperator('ADMIN', { provedSecondsAgo: 660 })
  t.match(await decide(lift, unproved), { status: 403, code: 'PROOF_REQUIRED' })
  t.match(await login(account.email), { code: 'ACCOUNT_BANNED' })
  const { rows } = await sql`select from decisions where account_id = ${account.id} and actions @> '[{"type": "LIFT"}]'`
    .execute(db)
  t.equal(rows.length, 0, 'nothing was decided')

  t.equal((await decide([{ type: 'LIFT', scope: 'FITMATCH' }], moderator)).status, 201)
  t.equal((await decide(lift, await asOperator())).status, 201)
  t.match(await login(account.email), { status: 200 })
  t.equal((await decide([{ type: 'RESTRICT', scope: 'ALL', days: 7 }], moderator)).status, 201)
  t.equal((await decide(lift, moderator)).status, 201, 'a restriction they do')
})

t.test('moderators answer no appeal about a case whose pictures only administrators see', async (t) => {
  const author = await givenAccount()
  const decided = { service: 'social', id: randomUUID(), version: 1 }
  const described = { accountId: author.id, version: 1, targetType: 'POST', targetId: randomUUID(), excerpt: null }
  cases.set(decided.id, { ...described, isOpen: true, hidesPictures: true })
  const { data: { id: decisionId } } = await post('/operator/decisions', {
    case: decided,
    accountId: author.id,
    actions: [{ type: 'HIDE_CONTENT' }],
    reason: 'CHILD_SAFETY',
    statement: 'We removed it.'
  }, { headers: await asOperator() })
  cases.set(decided.id, { ...described, isOpen: false, hidesPictures: true })
  const { data: { appeal } } = await post('/account/appeals', { decisionId, text: 'No' }, { as: author })
  const answer = async (outcome: string, headers: Record<string, string>) =>
    await post(`/operator/appeals/${appeal.id}`, { outcome, statement: 'An answer' }, { headers })

  for (const outcome of ['REVERSED', 'UPHELD']) {
    t.match(await answer(outcome, await asOperator('MODERATOR')), { status: 403, code: 'CASE_RESTRICTED' })
  }
  const decisions = async () => (await publishedEvents(author.id)).filter(({ type }) => type === 'decision.made').length
  t.equal(await decisions(), 1, 'nothing came back')
  t.match(await answer('REVERSED', await asOperator()), { status: 200 })
  t.equal(await decisions(), 2)
})

t.test('of a case that is purged there are no pictures, so moderators answer the appeal', async (t) => {
  const author = await givenAccount()
  const decided = { service: 'fitmatch', id: randomUUID(), version: 1 }
  const described = { accountId: author.id, version: 1, targetType: 'PROFILE', targetId: randomUUID(), excerpt: null }
  cases.set(decided.id, { ...described, isOpen: true, hidesPictures: true })
  const { data: { id: decisionId } } = await post('/operator/decisions', {
    case: decided,
    accountId: author.id,
    actions: [{ type: 'WARN' }],
    reason: 'OTHER',
    statement: 'Please stop.'
  }, { headers: await asOperator() })
  const { data: { appeal } } = await post('/account/appeals', { decisionId, text: 'No' }, { as: author })
  cases.delete(decided.id)
  t.match(
    await post(`/operator/appeals/${appeal.id}`, { outcome: 'UPHELD', statement: 'It stands.' }, {
      headers: await asOperator('MODERATOR')
    }),
    { status: 200 }
  )
})

t.test('who decided answers an appeal if nobody else can: an invited operator has no passkey yet', async (t) => {
  const account = await givenAccount()
  const moderator = await asOperator('MODERATOR')
  const answer = async () => {
    const warn = { case: null, accountId: account.id, actions: [{ type: 'WARN' }], reason: 'SPAM', statement: 'No.' }
    const { data: { id: decisionId } } = await post('/operator/decisions', warn, { headers: moderator })
    const { data: { appeal } } = await post('/account/appeals', { decisionId, text: 'Why?' }, { as: account })
    const upheld = { outcome: 'UPHELD', statement: 'It stands.' }
    return await post(`/operator/appeals/${appeal.id}`, upheld, { headers: moderator })
  }
  const { rows: [invited] } = await sql<{ id: string }>`
    insert into staff (email, role) values ('invited@example.com', 'MODERATOR') returning id`.execute(db)
  t.match(await answer(), { status: 200 })
  await sql`
    insert into passkeys (id, staff_id, public_key, counter, transports)
    values ('passkey', ${invited!.id}, '', 0, '{}')`.execute(db)
  t.match(await answer(), { status: 403, code: 'FORBIDDEN' })
})
