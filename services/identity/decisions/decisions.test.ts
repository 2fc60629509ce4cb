import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { FitMatchDecisionApplied, SocialDecisionApplied, SuspensionChanged } from '@tandem/contracts'
import { until } from '@tandem/test-kit'
import { silentLog } from '@tandem/http-kit/testing'
import { runCommand } from '../operator/commands.ts'
import { as, testApp } from '../test/app.ts'
import { givenModerator } from '../test/staff.ts'
import { startEndingRestrictions } from './restriction-ends.ts'

const cases = new Map()
const reports = new Map()
const {
  app,
  asOperator,
  db,
  handlers,
  get,
  post,
  givenAccount,
  login,
  canRefresh,
  expiryOfMail,
  mailsTo,
  publishedEvents
} = await testApp(
  t,
  {
    rpcResults: { cases, reports }
  }
)

const givenCase = (accountId: string, more = {}) => {
  const id = randomUUID()
  cases.set(id, {
    accountId,
    version: 1,
    isOpen: true,
    targetType: 'COMMENT',
    targetId: randomUUID(),
    excerpt: 'You are ugly',
    ...more
  })
  return { service: 'social', id, version: 1 }
}
const decide = async (accountId: string, actions: object[], more: object = {}, headers?: Record<string, string>) =>
  await post('/operator/decisions', {
    case: null,
    accountId,
    actions,
    reason: 'HARASSMENT',
    statement: 'You insulted somebody.',
    ...more
  }, { headers: headers ?? await asOperator() })
const standingOf = async (account: { accessToken: string }) =>
  (await get('/account/standing', { as: account })).data.standing
const decisionsOf = async (accountId: string) =>
  (await publishedEvents(accountId)).filter(({ type }) => type === 'decision.made')
const hiddenOf = async (accountId: string) =>
  (await publishedEvents(accountId)).filter(({ type }) => type === 'person.hidden').map(({ hidden }) => hidden)

t.test('a decision is published, mailed and shown to the person', async (t) => {
  const account = await givenAccount()
  t.match(await standingOf(account), { status: 'GOOD', restrictions: [], decisions: [] })
  const decided = givenCase(account.id)
  const { status, data } = await decide(account.id, [{ type: 'HIDE_CONTENT' }, {
    type: 'RESTRICT',
    scope: 'POSTING',
    days: 7
  }], {
    case: decided,
    note: 'The third time'
  })
  t.equal(status, 201)
  t.match(await decisionsOf(account.id), [{
    decisionId: data.id,
    case: { service: 'social', id: decided.id },
    actions: [{ type: 'HIDE_CONTENT', scope: null, until: null }, { type: 'RESTRICT', scope: 'POSTING', until: /Z$/ }],
    outcome: 'ACTION_TAKEN',
    automated: false
  }])
  const standing = await standingOf(account)
  t.match(standing, {
    status: 'RESTRICTED',
    restrictions: [{ scope: 'POSTING', until: String }],
    decisions: [{
      id: data.id,
      reason: 'HARASSMENT',
      statement: 'You insulted somebody.',
      subject: { type: 'COMMENT', excerpt: 'You are ugly' },
      automated: false,
      appeal: null
    }]
  })
  t.notMatch(JSON.stringify(standing), /third time|staff/, 'neither the note nor the operator')
  const [mail] = await mailsTo(account.email)
  t.ok(
    (await expiryOfMail(account.email, 'decision')).getTime() > Date.now() + 179 * 86_400_000,
    'it is sent as long as its link works'
  )
  t.match(mail!.text, /You cannot post, comment or react until/)
  t.match(mail!.text, /“You are ugly”/)
  t.match(mail!.text, /https:\/\/tandem\.example\/appeal#token=/)

  const operator = await asOperator('SUPPORT')
  const applied = async () =>
    (await get(`/operator/decisions?accountId=${account.id}`, { headers: operator })).data.decisions[0].awaits
  t.same(await applied(), ['social', 'fitmatch'], 'it is being carried out')
  for (let turn = 0; turn < 2; turn++) await deliver(handlers, SocialDecisionApplied.type, { decisionId: data.id })
  await deliver(handlers, FitMatchDecisionApplied.type, { decisionId: data.id })
  await deliver(handlers, FitMatchDecisionApplied.type, { decisionId: randomUUID() })
  t.same(await applied(), [])

  await sql`update restrictions set until = now() where account_id = ${account.id}`.execute(db)
  t.match(await standingOf(account), { status: 'WARNED', restrictions: [] }, 'it ends by itself')

  const seen = async () => (await get(`/operator/people/${account.id}?reason=test`, { headers: operator })).data.person
  t.match(await seen(), { status: 'WARNED', strikes: 1 })
  await sql`update strikes set created_at = now() - interval '181 days' where account_id = ${account.id}`.execute(db)
  t.match(await standingOf(account), { status: 'GOOD' })
  t.match(await seen(), { status: 'GOOD', strikes: 0 }, 'operators count as the account sees it')
})

t.test('of fifty decisions about a case at once, one is made', async (t) => {
  const account = await givenAccount()
  const decided = givenCase(account.id)
  const headers = await asOperator()
  const results = await Promise.all(
    Array.from({ length: 50 }, async () => await decide(account.id, [{ type: 'WARN' }], { case: decided }, headers))
  )
  t.equal(results.filter(({ status }) => status === 201).length, 1)
  t.match(results.find(({ status }) => status !== 201), { status: 409, code: 'CASE_CHANGED' })
  t.equal((await decisionsOf(account.id)).length, 1)
  t.equal((await mailsTo(account.email)).length, 1)
})

t.test('a decision is about the case as its owner says it is', async (t) => {
  const [account, other] = [await givenAccount(), await givenAccount()]
  const changed = { ...givenCase(account.id, { version: 2 }), version: 1 }
  t.match(await decide(account.id, [{ type: 'WARN' }], { case: changed }), { status: 409, code: 'CASE_CHANGED' })
  const closed = givenCase(account.id, { isOpen: false })
  t.match(await decide(account.id, [{ type: 'WARN' }], { case: closed }), { status: 409, code: 'CASE_CHANGED' })
  t.match(await decide(other.id, [{ type: 'WARN' }], { case: givenCase(account.id) }), { status: 400 })
  const unknown = { service: 'fitmatch', id: randomUUID(), version: 1 }
  t.match(await decide(account.id, [{ type: 'WARN' }], { case: unknown }), { status: 404, code: 'NOT_FOUND' })
  t.match(await decide(randomUUID(), [{ type: 'WARN' }]), { status: 404, code: 'USER_NOT_FOUND' })
  for (
    const actions of [
      [{ type: 'DISMISS' }],
      [{ type: 'HIDE_CONTENT' }],
      [{ type: 'RESTRICT', scope: 'ALL' }],
      [{ type: 'RESTRICT', scope: 'ALL', days: 366 }],
      [{ type: 'LIFT' }],
      [{ type: 'WARN' }, { type: 'WARN' }],
      []
    ]
  ) t.match(await decide(account.id, actions), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(actions))
  t.match(await decide(account.id, [{ type: 'WARN' }], { statement: '' }), { status: 400 })
  t.same(await decisionsOf(account.id), [])
})

t.test('a dismissal tells the reported person nothing', async (t) => {
  const account = await givenAccount()
  t.equal((await decide(account.id, [{ type: 'DISMISS' }], { case: givenCase(account.id), statement: '' })).status, 201)
  t.match(await decisionsOf(account.id), [{ outcome: 'NO_VIOLATION' }])
  t.match(await standingOf(account), { status: 'GOOD', decisions: [] })
  t.same(await db.selectFrom('mails').where('account_id', '=', account.id).select('id').execute(), [])
})

t.test('moderators restrict for at most 30 days and ban nobody, and nobody decides about themselves', async (t) => {
  const account = await givenAccount()
  const moderator = await asOperator('MODERATOR')
  const restrict = (days: number) => [{ type: 'RESTRICT', scope: 'FITMATCH', days }]
  t.match(await decide(account.id, restrict(31), {}, moderator), { status: 403, code: 'FORBIDDEN' })
  t.match(await decide(account.id, [{ type: 'BAN' }], {}, moderator), { status: 403, code: 'FORBIDDEN' })
  t.match(await decide(account.id, [{ type: 'WARN' }], {}, await asOperator('SUPPORT')), { status: 403 })
  const unproved = await asOperator('ADMIN', { provedSecondsAgo: 660 })
  t.match(await decide(account.id, [{ type: 'BAN' }], {}, unproved), { status: 403, code: 'PROOF_REQUIRED' })
  const own = await asOperator('ADMIN', { accountId: account.id })
  t.match(await decide(account.id, [{ type: 'LIFT', scope: 'ALL' }], {}, own), { status: 403, code: 'FORBIDDEN' })
  t.match(await decide(account.id, restrict(30), {}, moderator), { status: 201 })
})

t.test('what moderators cannot see, they do not decide', async (t) => {
  const account = await givenAccount()
  const wanted = { case: givenCase(account.id, { hidesPictures: true }) }
  const dismiss = async (role: 'MODERATOR' | 'ADMIN') =>
    await decide(account.id, [{ type: 'DISMISS' }], wanted, await asOperator(role))
  t.match(await dismiss('MODERATOR'), { status: 403, code: 'CASE_RESTRICTED' })
  t.match(await dismiss('ADMIN'), { status: 201 })
})

t.test('a restriction of everything ends the sessions, hides the person, and is in the next token', async (t) => {
  const account = await givenAccount()
  await decide(account.id, [{ type: 'RESTRICT', scope: 'ALL', days: 2 }])
  t.notOk(await canRefresh(account))
  t.same(await hiddenOf(account.id), [true])
  const { accessToken } = await login(account.email)
  const { status, restrictions: [{ until: end }] } = await standingOf({ accessToken })
  t.equal(status, 'RESTRICTED', 'the account itself stays open')
  t.ok(Math.abs(Date.parse(end) - Date.now() - 2 * 86_400_000) < 60_000)
  t.equal(Math.round(Number(decodeJwt(accessToken)['res']) * 1_000), Date.parse(end), 'to the millisecond')
  const soon = new Date(Date.now() + 1_500)
  await sql`update accounts set restricted_until = ${soon} where id = ${account.id}`.execute(db)
  t.teardown(startEndingRestrictions({ db }, silentLog))
  await until(async () => (await hiddenOf(account.id)).length > 1)
  t.ok(Date.now() >= soon.getTime())
  t.same(await hiddenOf(account.id), [true, false], 'it ends by itself, at its time')
  t.notOk('res' in decodeJwt((await login(account.email)).accessToken))
})

t.test('a banned person learns it with the right password only, appeals by mail, and is back after a reversal', async (t) => {
  const account = await givenAccount()
  const id = randomUUID()
  await givenModerator(db)
  await decide(account.id, [{ type: 'BAN' }], { case: givenCase(account.id) }, await asOperator('ADMIN', { id }))
  t.match(await login(account.email), { status: 403, code: 'ACCOUNT_BANNED' })
  t.match(await post('/auth/login', { email: account.email, password: 'Wrong-1234' }), {
    status: 401,
    code: 'INVALID_CREDENTIALS'
  })
  const [mail] = await mailsTo(account.email)
  const token = new URLSearchParams(new URL(/https:\S+/.exec(mail!.text)![0]).hash.slice(1)).get('token')
  const appealed = await post('/account/appeals', { token, text: 'It was a quote.' })
  t.match(appealed, { status: 201, data: { appeal: { status: 'OPEN', text: 'It was a quote.' } } })
  t.match(await post('/account/appeals', { token, text: 'Again' }), { status: 409, code: 'APPEAL_EXISTS' })
  t.match(await post('/account/appeals', { token: `${token}x`, text: 'Forged' }), { status: 404, code: 'NOT_FOUND' })

  const { data: { appeal: { id: appealId } } } = appealed
  const answer = { outcome: 'REVERSED', statement: 'You are right.' }
  const path = `/operator/appeals/${appealId}`
  t.match((await get('/operator/appeals', { headers: await asOperator('MODERATOR') })).data.appeals, [{ id: appealId }])
  t.match(
    await post(path, answer, { headers: await asOperator('ADMIN', { id }) }),
    { status: 403 },
    'somebody else answers'
  )
  t.match(await post(path, answer, { headers: await asOperator('MODERATOR') }), { status: 200 })
  t.match(await post(path, answer, { headers: await asOperator('MODERATOR') }), { status: 404 }, 'once')
  t.same((await decisionsOf(account.id)).map(({ actions }) => actions), [
    [{ type: 'BAN', scope: null, until: null, photoId: null }],
    [{ type: 'LIFT', scope: 'ALL', until: null, photoId: null }]
  ])
  const back = await login(account.email)
  t.equal(back.status, 200)
  t.match(await standingOf(back), {
    status: 'GOOD',
    decisions: [{}, { appeal: { status: 'REVERSED', answer: 'You are right.' } }]
  })
})

t.test('a decision can be appealed once, by the person it is about, for 180 days', async (t) => {
  const [account, other] = [await givenAccount(), await givenAccount()]
  const { data: { id: decisionId } } = await decide(account.id, [{ type: 'WARN' }])
  const body = { decisionId, text: 'No' }
  t.match(await post('/account/appeals', body), { status: 401, code: 'UNAUTHORIZED' })
  t.match(await post('/account/appeals', body, { as: other }), { status: 404, code: 'NOT_FOUND' })
  t.match(await post('/account/appeals', { text: 'No' }, { as: account }), { status: 400 })
  t.match(await post('/account/appeals', body, { as: account }), { status: 201 })
  t.match(await standingOf(account), { decisions: [{ appeal: { text: 'No', status: 'OPEN' } }] })
  const { data: { id: late } } = await decide(account.id, [{ type: 'WARN' }])
  await sql`alter table decisions disable trigger refuse_decision_change`.execute(db)
  await sql`update decisions set made_at = now() - interval '181 days' where id = ${late}`.execute(db)
  await sql`alter table decisions enable trigger refuse_decision_change`.execute(db)
  t.match(await post('/account/appeals', { decisionId: late, text: 'No' }, { as: account }), {
    status: 410,
    code: 'APPEAL_CLOSED'
  })
})

t.test('who reported something that was dismissed appeals, and action is taken after all', async (t) => {
  const [author, reporter, other] = [await givenAccount(), await givenAccount(), await givenAccount()]
  const decided = givenCase(author.id)
  const moderator = randomUUID()
  await givenModerator(db)
  const made = await asOperator('MODERATOR', { id: moderator })
  const { data: { id: decisionId } } = await decide(
    author.id,
    [{ type: 'DISMISS' }],
    { case: decided, statement: '' },
    made
  )
  const givenReport = (accountId: string, more = {}) => {
    const id = randomUUID()
    reports.set(`${id} ${accountId}`, { caseId: decided.id, decisionId, outcome: 'NO_VIOLATION', ...more })
    return id
  }
  const [reportId, second] = [givenReport(reporter.id), givenReport(other.id)]
  const body = { reportId, text: 'Look again' }
  t.match(await post('/account/appeals', body, { as: other }), { status: 404, code: 'NOT_FOUND' }, 'only their own')
  t.match(await post('/account/appeals', body), { status: 401 })
  t.match(await post('/account/appeals', { ...body, decisionId }, { as: reporter }), { status: 400 })
  const open = givenReport(reporter.id, { decisionId: null, outcome: null })
  t.match(await post('/account/appeals', { ...body, reportId: open }, { as: reporter }), { status: 404 })
  const taken = givenReport(reporter.id, { outcome: 'ACTION_TAKEN' })
  t.match(await post('/account/appeals', { ...body, reportId: taken }, { as: reporter }), { status: 404 })
  const appeals = await Promise.all(
    Array.from({ length: 5 }, async () => await post('/account/appeals', body, { as: reporter }))
  )
  t.equal(appeals.filter(({ status }) => status === 201).length, 1)
  t.match(appeals.find(({ status }) => status !== 201), { status: 409, code: 'APPEAL_EXISTS' })
  t.equal((await post('/account/appeals', { reportId: second, text: 'Me too' }, { as: other })).status, 201)

  const headers = await asOperator('MODERATOR')
  const listed = (await get('/operator/appeals', { headers })).data.appeals
    .filter((each: { decisionId: string }) => each.decisionId === decisionId)
  t.match(listed, [{ isByReporter: true, accountId: author.id, caseId: decided.id }, {}])
  t.notMatch(JSON.stringify(listed), new RegExp(reporter.id), 'operators do not learn who reported')
  const path = `/operator/appeals/${listed[0].id}`
  const answer = { outcome: 'REVERSED', statement: 'Thank you.' }
  t.match(await post(path, answer, { headers }), { status: 400 }, 'it takes a decision')
  const instead = { actions: [{ type: 'HIDE_CONTENT' }], reason: 'HATE', statement: 'It is hateful.' }
  t.match(await post(path, { ...answer, decision: { ...instead, actions: [{ type: 'DISMISS' }] } }, { headers }), {
    status: 400
  })
  const reverse = { ...answer, decision: instead }
  t.match(await post(path, reverse, { headers: made }), { status: 403 }, 'somebody else answers')
  const own = await asOperator('ADMIN', { accountId: reporter.id })
  t.match(await post(path, reverse, { headers: own }), { status: 403 })
  const answers = await Promise.all(
    listed.map(async ({ id }: { id: string }) => await post(`/operator/appeals/${id}`, reverse, { headers }))
  )
  t.same(
    answers.map(({ status }) => status as number).toSorted((one, other) => one - other),
    [200, 404],
    'one answer is for all reporters'
  )
  t.match((await decisionsOf(author.id)).at(-1), {
    case: { id: decided.id },
    actions: [{ type: 'HIDE_CONTENT' }],
    outcome: 'ACTION_TAKEN'
  })
  t.match((await mailsTo(author.email))[0]!.text, /It is hateful/)
  for (const each of [reporter, other]) {
    const [mail] = await mailsTo(each.email)
    t.match(mail!.text, /Thank you/)
    t.notMatch(mail!.text, /hateful/, 'never the sanction')
  }
  t.match(await standingOf(author), { status: 'WARNED', decisions: [{ appeal: null }] })
  const { decisions: [{ id: appealable }] } = await standingOf(author)
  t.match(
    await post('/account/appeals', { decisionId: appealable, text: 'No' }, { as: author }),
    { status: 201 },
    'the author can appeal it'
  )
})

t.test('an answer that a decision stands is mailed, also to the banned', async (t) => {
  const account = await givenAccount()
  const { data: { id: decisionId } } = await decide(account.id, [{ type: 'WARN' }])
  const { data: { appeal: { id } } } = await post('/account/appeals', { decisionId, text: 'No' }, { as: account })
  const headers = await asOperator('MODERATOR')
  await post(`/operator/appeals/${id}`, { outcome: 'UPHELD', statement: 'It was an insult.' }, { headers })
  const mails = async () => await mailsTo(account.email)
  while ((await mails()).length < 2) await sleep(20)
  t.ok((await mails()).some(({ text }) => /decision to be right[^]*It was an insult/.test(text)))
})

t.test('a removed photo is restored by a reversal', async (t) => {
  const account = await givenAccount()
  const photoId = randomUUID()
  const decided = { ...givenCase(account.id, { targetType: 'PROFILE' }), service: 'fitmatch' }
  const { data: { id: decisionId } } = await decide(account.id, [{ type: 'REMOVE_PHOTO', photoId }], { case: decided })
  const { data: { appeal: { id } } } = await post('/account/appeals', { decisionId, text: 'No' }, { as: account })
  const headers = await asOperator('MODERATOR')
  t.equal((await post(`/operator/appeals/${id}`, { outcome: 'REVERSED', statement: 'Yes.' }, { headers })).status, 200)
  t.match((await decisionsOf(account.id)).at(-1), { actions: [{ type: 'RESTORE_CONTENT', photoId }] })
  t.match(await decide(account.id, [{ type: 'RESTORE_CONTENT', photoId }]), { status: 201 }, 'or without an appeal')
  t.match(await decide(account.id, [{ type: 'RESTORE_CONTENT' }]), { status: 400 })
})

t.test('an automated suspension is a decision with a statement, made once', async (t) => {
  const account = await givenAccount()
  const id = randomUUID()
  const event = { accountId: account.id, suspended: true, automatedCaseId: randomUUID() }
  for (let turn = 0; turn < 2; turn++) await deliver(handlers, SuspensionChanged.type, event, { id })
  const lift = { accountId: account.id, suspended: false }
  await deliver(handlers, SuspensionChanged.type, lift, { at: new Date(Date.now() - 60_000) })
  await deliver(handlers, SuspensionChanged.type, { ...event, accountId: randomUUID() })
  t.match(await decisionsOf(account.id), [{
    automated: true,
    actions: [{ type: 'RESTRICT', scope: 'FITMATCH', until: null }]
  }])
  t.match(await standingOf(account), {
    status: 'RESTRICTED',
    restrictions: [{ scope: 'FITMATCH', until: null }],
    decisions: [{ automated: true, reason: 'REPORTS' }]
  })
  t.match((await mailsTo(account.email))[0]!.text, /A machine made this decision/)
  await deliver(handlers, SuspensionChanged.type, lift, { at: new Date(Date.now() + 1_000) })
  t.same((await standingOf(account)).restrictions, [], 'it ends when FitMatch lifts it')
})

t.test('an automated suspension that arrives after FitMatch has lifted it restricts nobody', async (t) => {
  const account = await givenAccount()
  const lifted = { accountId: account.id, suspended: false }
  await deliver(handlers, SuspensionChanged.type, lifted, { at: new Date(Date.now() + 1_000) })
  await deliver(handlers, SuspensionChanged.type, { ...lifted, suspended: true, automatedCaseId: randomUUID() })
  t.match(await standingOf(account), { status: 'GOOD' })
})

t.test('a suspension that FitMatch has lifted while identity was away ends', async (t) => {
  const account = await givenAccount()
  const suspended = { accountId: account.id, suspended: true, automatedCaseId: randomUUID() }
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  await deliver(handlers, SuspensionChanged.type, suspended, { at: minutesAgo(10) })
  t.match(await standingOf(account), { restrictions: [{ scope: 'FITMATCH' }] })
  await deliver(handlers, SuspensionChanged.type, { ...suspended, suspended: false }, { at: minutesAgo(5) })
  t.match(await standingOf(account), { status: 'WARNED', decisions: [{ automated: true }] })
})

t.test('a decision is never changed, and is in the audit', async (t) => {
  const account = await givenAccount()
  const { data: { id } } = await decide(account.id, [{ type: 'WARN' }])
  await t.rejects(sql`update decisions set statement = '' where id = ${id}`.execute(db), {
    message: /cannot be changed/
  })
  t.match(
    await db.selectFrom('audit_entries').where('subject', '=', id).select(['action', 'account_id']).execute(),
    [{ action: 'DECISION WARN', account_id: account.id }]
  )
  t.equal((await app.inject({ url: '/account/standing', headers: as(account) })).statusCode, 200)
})

t.test('a reversal ends what its decision restricted, and nothing else', async (t) => {
  const account = await givenAccount()
  const moderator = await asOperator('MODERATOR')
  const reverse = async (decisionId: string, token?: string) => {
    const body = token === undefined ? { decisionId } : { token }
    const { data } = await post('/account/appeals', { ...body, text: 'No' }, token === undefined ? { as: account } : {})
    const answer = { outcome: 'REVERSED', statement: 'You are right.' }
    t.match(await post(`/operator/appeals/${data.appeal.id}`, answer, { headers: moderator }), { status: 200 })
    return (await decisionsOf(account.id)).at(-1)!
  }
  const restrict = async (scope: string, days: number) =>
    (await decide(account.id, [{ type: 'RESTRICT', scope, days }])).data.id as string
  const short = await restrict('POSTING', 1)
  await restrict('POSTING', 7)
  const { restrictions: longer } = (await decisionsOf(account.id)).at(-1)!
  t.match(longer, [{ scope: 'POSTING' }])
  t.same((await reverse(short))['restrictions'], longer, 'the longer one stays')
  t.match(await standingOf(account), {
    status: 'RESTRICTED',
    restrictions: [{ scope: 'POSTING' }],
    decisions: [{}, {}, {}]
  })

  const everything = await restrict('ALL', 2)
  await decide(account.id, [{ type: 'BAN' }])
  const tokens = async () =>
    (await mailsTo(account.email)).flatMap(({ text }) =>
      new URLSearchParams(/#(token=\S+)/.exec(text)?.[1] ?? '').get('token') ?? []
    )
  const { rows: [ban] } = await sql<{ id: string }>`
    select id from decisions where account_id = ${account.id} and actions @> '[{"type": "BAN"}]'`.execute(db)
  const tokenOf = async (id: string): Promise<string> => {
    const token = (await tokens()).find((each) => each.startsWith(id))
    return token ?? await sleep(20).then(async () => await tokenOf(id))
  }
  t.match((await reverse(everything, await tokenOf(everything)))['restrictions'], [{ scope: 'POSTING' }])
  t.match(await login(account.email), { code: 'ACCOUNT_BANNED' }, 'the ban stands')
  t.match(await reverse(ban!.id, await tokenOf(ban!.id)), { restrictions: [{ scope: 'POSTING' }] })
  t.equal((await hiddenOf(account.id)).at(-1), false)
  const back = await login(account.email)
  t.match(await standingOf(back), { status: 'RESTRICTED', restrictions: [{ scope: 'POSTING' }] })
  await decide(account.id, [{ type: 'LIFT', scope: 'ALL' }])
  t.same((await standingOf(back)).restrictions, [], 'an operator can lift everything')
  t.same((await decisionsOf(account.id)).at(-1)!['restrictions'], [])
})

t.test('of two bans, both have to be reversed', async (t) => {
  const account = await givenAccount()
  for (let turn = 0; turn < 2; turn++) await decide(account.id, [{ type: 'BAN' }])
  while ((await mailsTo(account.email)).length < 2) await sleep(20)
  const tokens = (await mailsTo(account.email)).flatMap(({ text }) =>
    new URLSearchParams(/#(token=\S+)/.exec(text)?.[1] ?? '').get('token') ?? []
  )
  t.equal(tokens.length, 2)
  for (const [index, token] of tokens.entries()) {
    const { data: { appeal: { id } } } = await post('/account/appeals', { token, text: 'No' })
    await post(`/operator/appeals/${id}`, { outcome: 'REVERSED', statement: 'Yes.' }, {
      headers: await asOperator('MODERATOR')
    })
    t.match(await login(account.email), index === 0 ? { status: 403, code: 'ACCOUNT_BANNED' } : { status: 200 })
  }
})

t.test('bans that the shell has ended are over, and those of the shell stand, whatever is reversed then', async (t) => {
  const account = await givenAccount()
  const shell = async (command: 'ban' | 'unban') => await runCommand(db, {}, [command, account.email])
  const ban = async () => (await decide(account.id, [{ type: 'BAN' }])).data.id as string
  const reverse = async (decisionId: string) => {
    const { rows: [appeal] } = await sql<{ id: string }>`
      insert into appeals (decision_id, account_id, text) values (${decisionId}, ${account.id}, 'No') returning id`
      .execute(db)
    await post(`/operator/appeals/${appeal!.id}`, { outcome: 'REVERSED', statement: 'Yes.' }, {
      headers: await asOperator('MODERATOR')
    })
  }
  const logged = async () => {
    const { rows } = await sql<{ kind: string }>`
      select kind from security_events where account_id = ${account.id} and kind like 'ACCOUNT_%' order by id`.execute(
      db
    )
    return rows.map(({ kind }) => kind.replace('ACCOUNT_', ''))
  }
  const first = await ban()
  await shell('unban')
  await reverse(first)
  t.same(await logged(), ['BANNED', 'UNBANNED'], 'the reversal has nothing to end')
  t.same(await hiddenOf(account.id), [true, false])
  t.match(await login(account.email), { status: 200 })

  const second = await ban()
  await shell('unban')
  const third = await ban()
  await reverse(third)
  t.match(await login(account.email), { status: 200 }, 'the second ban is over already')
  t.same(await logged(), ['BANNED', 'UNBANNED', 'BANNED', 'UNBANNED', 'BANNED', 'UNBANNED'])

  await shell('ban')
  await reverse(second)
  t.match(await login(account.email), { code: 'ACCOUNT_BANNED' }, 'the shell bans for another reason')
})

t.test('a decision about the case of an automated suspension replaces it', async (t) => {
  for (
    const [action, actions, restrictions] of [
      [{ type: 'DISMISS' }, [{ type: 'LIFT', scope: 'FITMATCH' }], []],
      [{ type: 'WARN' }, [{ type: 'WARN' }, { type: 'LIFT', scope: 'FITMATCH' }], []],
      [{ type: 'RESTRICT', scope: 'FITMATCH', days: 2 }, [{ type: 'RESTRICT' }], [{
        scope: 'FITMATCH',
        until: String
      }]],
      [{ type: 'RESTRICT', scope: 'POSTING', days: 2 }, [{ type: 'RESTRICT' }], [
        { scope: 'FITMATCH', until: null },
        { scope: 'POSTING', until: String }
      ]]
    ] as const
  ) {
    const account = await givenAccount()
    const decided = { ...givenCase(account.id, { targetType: 'PROFILE' }), service: 'fitmatch' }
    const event = { accountId: account.id, suspended: true, automatedCaseId: decided.id }
    await deliver(handlers, SuspensionChanged.type, event)
    t.equal((await decide(account.id, [action], { case: decided })).status, 201)
    const made = (await decisionsOf(account.id)).at(-1)!
    t.match(made, { automated: false, actions, restrictions })
    t.equal((made['actions'] as object[]).length, actions.length)
    t.equal((made['restrictions'] as object[]).length, restrictions.length)
    const { strikes } =
      (await get(`/operator/people/${account.id}?reason=test`, { headers: await asOperator() })).data.person
    t.equal(strikes, action.type === 'DISMISS' ? 0 : 'scope' in action && action.scope === 'POSTING' ? 2 : 1)
  }
})

t.test('who lifts everything in the case of an automated suspension lifts the rest too', async (t) => {
  const account = await givenAccount()
  const decided = { ...givenCase(account.id, { targetType: 'PROFILE' }), service: 'fitmatch' }
  await deliver(handlers, SuspensionChanged.type, {
    accountId: account.id,
    suspended: true,
    automatedCaseId: decided.id
  })
  await decide(account.id, [{ type: 'RESTRICT', scope: 'POSTING', days: 7 }])
  await decide(account.id, [{ type: 'BAN' }])
  t.equal((await decide(account.id, [{ type: 'LIFT', scope: 'ALL' }], { case: decided })).status, 201)
  t.match((await decisionsOf(account.id)).at(-1), { actions: [{ type: 'LIFT', scope: 'ALL' }], restrictions: [] })
  t.match(await login(account.email), { status: 200 }, 'the ban has ended')
})

t.test('decisions of a case need no reason of their own, and its service names the person', async (t) => {
  const account = await givenAccount()
  const decided = givenCase(account.id)
  await decide(account.id, [{ type: 'WARN' }], { case: decided })
  const headers = await asOperator('MODERATOR')
  const path = `/operator/cases/social/${decided.id}/decisions`
  t.match(await get(path, { headers }), { status: 200, data: { decisions: [{ caseId: decided.id }] } })
  t.match(await get(path, { headers: await asOperator('SUPPORT') }), { status: 403 })
  t.match(await get(`/operator/cases/social/${randomUUID()}/decisions`, { headers }), { status: 404 })
})
