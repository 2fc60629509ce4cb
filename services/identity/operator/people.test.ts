import { randomUUID } from 'node:crypto'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { password, testApp } from '../test/app.ts'
import { runCommand } from './commands.ts'

const moderation = new Map()
const { asOperator, db, get, post, givenAccount, canRefresh, mailsTo } = await testApp(t, {
  rpcResults: { moderation }
})

const find = async (q: string, headers: Record<string, string>, reason = 'case 7') =>
  await post('/operator/people/search', { q, reason }, { headers })
const open = async (id: string, headers: Record<string, string>, reason = 'case 7') =>
  await get(`/operator/people/${id}?${new URLSearchParams({ reason }).toString()}`, { headers })

t.test('an operator finds a person by the exact address or id, with a reason, and sees the address masked', async (t) => {
  const account = await givenAccount()
  const id = randomUUID()
  const headers = await asOperator('SUPPORT', { id })
  for (const q of [account.email, account.email.toUpperCase(), account.id]) {
    t.match(await find(q, headers), { status: 200, data: { accountId: account.id } })
  }
  t.match(await open(account.id, headers), {
    status: 200,
    data: { person: { accountId: account.id, email: 'a•••@example.com', status: 'GOOD', strikes: 0, sessions: 1 } }
  })
  moderation.set(account.id, { cases: 3, openCases: 1, reportsMade: 2, reportsUpheld: 1 })
  t.match((await open(account.id, headers)).data.person, {
    moderation: { social: { cases: 3, openCases: 1, reportsMade: 2, reportsUpheld: 1 }, fitmatch: null }
  })
  t.match(await find(account.email.slice(1), headers), { status: 404, code: 'USER_NOT_FOUND' })
  t.match(await find(account.email, headers, ''), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await open(account.id, headers, ''), { status: 400 })
  t.match(await get(`/operator/people?q=${account.email}&reason=case`, { headers }), { status: 404 }, 'not in a URL')
  t.match(await find(randomUUID(), headers), { status: 404, code: 'USER_NOT_FOUND' })
  t.match(await find('ana', headers), { status: 503 }, 'usernames are in profile, which is unavailable here')
  t.match(
    await db.selectFrom('audit_entries').where('staff_id', '=', id).select(['action', 'subject', 'reason'])
      .orderBy('number').limit(1).execute(),
    [{ action: 'POST /operator/people/search', subject: account.email, reason: 'case 7' }]
  )
})

t.test('a person is found by their address as they write it, in the console and in the shell', async (t) => {
  const name = randomUUID()
  const { user } = await post('/auth/register', { email: `${name}@MÜNCHEN.example`, password })
  const headers = await asOperator('SUPPORT')
  for (const domain of ['münchen.example', 'MÜNCHEN.example', 'xn--mnchen-3ya.example']) {
    t.match(await find(`${name}@${domain}`, headers), { status: 200, data: { accountId: user.id } }, domain)
    t.match(await runCommand(db, {}, ['sessions', 'list', `${name}@${domain}`]), [{}], domain)
    t.equal(await runCommand(db, {}, ['unban', `${name}@${domain}`]), `${name}@${domain} was not banned`)
  }
})

t.test('support sees the address of a person, moderators do not', async (t) => {
  const account = await givenAccount()
  const path = `/operator/people/${account.id}/contact?reason=answer`
  t.match(await get(path, { headers: await asOperator('SUPPORT') }), { status: 200, data: { email: account.email } })
  t.match(await get(path, { headers: await asOperator('MODERATOR') }), { status: 403, code: 'FORBIDDEN' })
  const unknown = `/operator/people/${randomUUID()}/contact?reason=answer`
  t.match(await get(unknown, { headers: await asOperator('SUPPORT') }), { status: 404, code: 'USER_NOT_FOUND' })
})

t.test('support removes a provider from the sign-in of a person; all sessions end', async (t) => {
  const account = await givenAccount({ provider: 'PROVIDER_A' })
  const headers = await asOperator('SUPPORT')
  t.match((await open(account.id, headers)).data.person.providers, [{ provider: 'PROVIDER_A', linkedAt: String }])
  const path = `/operator/people/${account.id}/providers/remove`
  const body = { provider: 'PROVIDER_A', reason: 'not theirs' }
  t.match(await post(path, body, { headers: await asOperator('MODERATOR') }), { status: 403, code: 'FORBIDDEN' })
  t.match(await post(path, body, { headers }), { status: 200, message: String })
  t.same((await open(account.id, headers)).data.person.providers, [])
  t.notOk(await canRefresh(account))
  t.match(await post(path, body, { headers }), { status: 404, code: 'NOT_FOUND' })
  t.match(await post(path.replace(account.id, randomUUID()), body, { headers }), { code: 'USER_NOT_FOUND' })
  const alone = await givenAccount({ provider: 'PROVIDER_A', hasPassword: false })
  t.match(await post(path.replace(account.id, alone.id), body, { headers }), { code: 'LAST_SIGN_IN_METHOD' })
  t.match(
    await db.selectFrom('audit_entries').where('subject', '=', account.id).where('action', 'like', '%providers%')
      .select(['action', 'reason']).execute(),
    Array(2).fill({ action: 'POST /operator/people/:id/providers/remove', reason: 'not theirs' }),
    'also the one that found nothing'
  )
})

t.test('the 61st person within an hour is refused, also at once', async (t) => {
  const headers = await asOperator('SUPPORT')
  const ids = Array.from({ length: 61 }, () => randomUUID())
  const results = await Promise.all(ids.map(async (id) => await open(id, headers)))
  t.equal(results.filter(({ code }) => code === 'USER_NOT_FOUND').length, 60)
  t.match(results.find(({ code }) => code !== 'USER_NOT_FOUND'), { status: 429, code: 'RATE_LIMITED' })
  const seen = ids[results.findIndex(({ code }) => code === 'USER_NOT_FOUND')] ?? ''
  t.match(await open(seen, headers), { code: 'USER_NOT_FOUND' }, 'the same person again is not counted')
  const unseen = await givenAccount()
  const decisions = async (id: string) => await get(`/operator/decisions?accountId=${id}`, { headers })
  t.match(await find(unseen.email, headers), { status: 429 }, 'nor can another one be searched')
  t.match(await decisions(unseen.id), { status: 429, code: 'RATE_LIMITED' }, 'or their decisions be read')
  t.match(await decisions(seen), { status: 200 })
})

t.test('support reads problems, mails and deletions; administrators hold a deletion', async (t) => {
  const account = await givenAccount()
  const headers = await asOperator('SUPPORT')
  await post('/auth/report-issue', { email: account.email, description: 'The code never arrives.' })
  t.match((await get('/operator/issues', { headers })).data.issues, [{ description: 'The code never arrives.' }])
  const mailsOf = async () =>
    (await get(`/operator/mails?accountId=${account.id}&reason=question`, { headers })).data.mails
  t.same(await mailsOf(), [])
  await post('/auth/forgot-password', { email: account.email })
  await mailsTo(account.email)
  // It is marked as sent after it has arrived.
  await until(async () => (await mailsOf())[0]?.status === 'sent')
  t.match(await mailsOf(), [{ kind: 'reset', sentAt: String }])
  t.notMatch(JSON.stringify(await mailsOf()), /token|http/)
  t.match(await get('/operator/erasures', { headers }), { status: 200, data: { erasures: [] } })
  const hold = `/operator/erasures/${randomUUID()}/hold`
  t.match(await post(hold, { days: 30, reason: 'a court' }, { headers }), { status: 403 })
  const admin = await asOperator('ADMIN')
  t.match(await post(hold, { days: 30, reason: 'a court' }, { headers: admin }), { status: 404 })
  const id = randomUUID()
  const erasure = { id, account_id: account.id, cause: 'OPERATOR' as const, erase_at: new Date(Date.now() + 60_000) }
  await db.insertInto('erasures').values(erasure).execute()
  const statusOf = async () => (await get('/operator/erasures', { headers })).data.erasures
  t.equal(
    (await post(`/operator/erasures/${id}/hold`, { days: 30, reason: 'a court' }, { headers: admin })).status,
    200
  )
  t.match(await statusOf(), [{ id, status: 'HELD', holdReason: 'a court' }])
  t.equal((await post(`/operator/erasures/${id}/release`, { reason: 'it is over' }, { headers: admin })).status, 200)
  t.match(await statusOf(), [{ id, status: 'SCHEDULED' }])
})

t.test('support lists and ends the sessions of a person, and sees copies of data, which administrators cancel', async (t) => {
  const account = await givenAccount()
  const headers = await asOperator('SUPPORT')
  const path = `/operator/people/${account.id}/sessions`
  t.match((await get(`${path}?reason=stolen%20phone`, { headers })).data.sessions, [{ id: account.sessionId }])
  t.match(await post(`${path}/end`, { reason: 'stolen phone' }, { headers: await asOperator('MODERATOR') }), {
    status: 403
  })
  t.match(await post(`${path}/end`, { reason: 'stolen phone' }, { headers }), { status: 200, data: { ended: 1 } })
  t.notOk(await canRefresh(account))

  const id = randomUUID()
  await db.insertInto('exports').values({ id, account_id: account.id }).execute()
  t.match((await get('/operator/exports', { headers })).data.exports, [{ id, status: 'PENDING' }])
  const cancel = `/operator/exports/${id}/cancel`
  t.match(await post(cancel, { reason: 'a wrong one' }, { headers }), { status: 403 })
  t.match(await post(cancel, { reason: 'a wrong one' }, { headers: await asOperator('ADMIN') }), { status: 200 })
  t.match(await post(cancel, { reason: 'a wrong one' }, { headers: await asOperator('ADMIN') }), { status: 404 })
  t.same((await get('/operator/exports', { headers })).data.exports, [])
})
