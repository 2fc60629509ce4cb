import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { testApp } from '../test/app.ts'
import { givenModerator } from '../test/staff.ts'

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

/** An appeal against a decision of an administrator, about a case whose pictures only administrators see. */
async function givenAppeal (service: 'social' | 'fitmatch', type: 'HIDE_CONTENT' | 'WARN') {
  const author = await givenAccount()
  const decided = { service, id: randomUUID(), version: 1 }
  const targetType = service === 'social' ? 'POST' : 'PROFILE'
  const described = { accountId: author.id, version: 1, targetType, targetId: randomUUID(), excerpt: null }
  cases.set(decided.id, { ...described, isOpen: true, hidesPictures: true })
  const { data: { id: decisionId } } = await post('/operator/decisions', {
    case: decided,
    accountId: author.id,
    actions: [{ type }],
    reason: 'CHILD_SAFETY',
    statement: 'We removed it.'
  }, { headers: await asOperator() })
  cases.set(decided.id, { ...described, isOpen: false, hidesPictures: true })
  const { data: { appeal } } = await post('/account/appeals', { decisionId, text: 'No' }, { as: author })
  const answer = async (outcome: string, headers: Record<string, string>) =>
    await post(`/operator/appeals/${appeal.id}`, { outcome, statement: 'An answer' }, { headers })
  return { author, caseId: decided.id, answer }
}

t.test('moderators answer no appeal about a case whose pictures only administrators see', async (t) => {
  const { author, answer } = await givenAppeal('social', 'HIDE_CONTENT')
  for (const outcome of ['REVERSED', 'UPHELD']) {
    t.match(await answer(outcome, await asOperator('MODERATOR')), { status: 403, code: 'CASE_RESTRICTED' })
  }
  const decisions = async () => (await publishedEvents(author.id)).filter(({ type }) => type === 'decision.made').length
  t.equal(await decisions(), 1, 'nothing came back')
  t.match(await answer('REVERSED', await asOperator()), { status: 200 })
  t.equal(await decisions(), 2)
})

t.test('of a case that is purged there are no pictures, so moderators answer the appeal', async (t) => {
  const { caseId, answer } = await givenAppeal('fitmatch', 'WARN')
  cases.delete(caseId)
  t.match(await answer('UPHELD', await asOperator('MODERATOR')), { status: 200 })
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
  await givenModerator(db, { hasPasskey: false })
  t.match(await answer(), { status: 200 })
  await givenModerator(db)
  t.match(await answer(), { status: 403, code: 'FORBIDDEN' })
})
