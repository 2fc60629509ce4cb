import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { testApp } from '../test/app.ts'

const cases = new Map()
const { asOperator, db, get, post, givenAccount, login, mailsTo, publishedEvents } = await testApp(t, {
  rpcResults: { cases },
  fourEyes: new Set(['BAN', 'ERASE', 'HOLD'])
})

const [proposer, confirmer] = [await asOperator(), await asOperator()]
const givenCase = (accountId: string) => {
  const id = randomUUID()
  cases.set(id, { accountId, version: 1, isOpen: true, targetType: 'POST', targetId: randomUUID(), excerpt: 'Buy' })
  return { service: 'social', id, version: 1 }
}
const banOf = (accountId: string, decided: object | null = null) => ({
  case: decided,
  accountId,
  actions: [{ type: 'BAN' }],
  reason: 'SPAM',
  statement: 'You sold things.'
})
const proposeBan = async (accountId: string, decided: object | null = null) =>
  await post('/operator/decisions', banOf(accountId, decided), { headers: proposer })
const confirm = async (id: string, headers = confirmer) =>
  await post(`/operator/decisions/${id}/confirm`, {}, { headers })
const decisionsOf = async (accountId: string) =>
  (await publishedEvents(accountId)).filter(({ type }) => type === 'decision.made')
    .map(({ case: decided, actions }) => ({
      case: decided,
      types: (actions as { type: string }[]).map(({ type }) => type)
    }))
const statusOf = async (accountId: string) =>
  (await get(`/operator/people/${accountId}?reason=case%207`, {
    headers: await asOperator()
  })).data.person
const proposals = async () => (await get('/operator/proposals', { headers: confirmer })).data.proposals

t.test('a ban is proposed by one operator and made by another; meanwhile everything is restricted', async (t) => {
  const account = await givenAccount()
  const decided = givenCase(account.id)
  const { status, data: { proposalId, expiresAt } } = await proposeBan(account.id, decided)
  t.equal(status, 202)
  t.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 72 * 3_600_000) < 60_000)
  t.match(await statusOf(account.id), { status: 'RESTRICTED', strikes: 0, restrictions: [{ scope: 'ALL' }] })
  t.match(await login(account.email), { status: 200 }, 'they can sign in, to read why')
  t.same(await decisionsOf(account.id), [{ case: null, types: ['RESTRICT'] }], 'the case stays open')
  t.match(await proposals(), [{
    id: proposalId,
    kind: 'BAN',
    accountId: account.id,
    payload: { decision: { reason: 'SPAM' } }
  }])
  t.match(await proposeBan(account.id, decided), { status: 409, code: 'PROPOSAL_EXISTS' })

  t.match(await confirm(proposalId, proposer), { status: 403, code: 'FORBIDDEN' }, 'not by who proposed it')
  const own = await asOperator('ADMIN', { accountId: account.id })
  t.match(await confirm(proposalId, own), { status: 403, code: 'FORBIDDEN' }, 'nor by the person themselves')
  t.match(await confirm(proposalId, await asOperator('MODERATOR')), { status: 403, code: 'FORBIDDEN' })
  const unproved = await asOperator('ADMIN', { provedSecondsAgo: 660 })
  t.match(await confirm(proposalId, unproved), { status: 403, code: 'PROOF_REQUIRED' })

  t.equal((await confirm(proposalId)).status, 201)
  t.match(await decisionsOf(account.id), [{}, { case: { id: decided.id }, types: ['BAN'] }])
  t.match(await login(account.email), { status: 403, code: 'ACCOUNT_BANNED' })
  t.match(await statusOf(account.id), { status: 'BANNED', strikes: 1, restrictions: [] })
  t.equal((await mailsTo(account.email, 2)).length, 2, 'one about the restriction, one about the ban')
  t.match(await confirm(proposalId), { status: 404, code: 'NOT_FOUND' })
  t.match(
    await db.selectFrom('audit_entries').where('account_id', '=', account.id).where('action', 'like', '%BAN%')
      .select('action').orderBy('number').execute(),
    [{ action: 'PROPOSAL BAN' }, { action: 'DECISION BAN, CONFIRMED' }]
  )
})

t.test('nobody confirms for their inviter or for those they invited, or with a new passkey', async (t) => {
  const account = await givenAccount()
  const [id, inviter] = [randomUUID(), randomUUID()]
  const headers = await asOperator('ADMIN', { id, invitedBy: [inviter] })
  const ban = (await post('/operator/decisions', banOf(account.id), { headers })).data.proposalId
  const erasure = (await post('/operator/erasures', { accountId: account.id, days: 14, reason: 'a letter' }, {
    headers
  })).data.proposalId
  for (const path of [`/operator/decisions/${ban}/confirm`, `/operator/proposals/${erasure}/confirm`]) {
    const confirmAs = async (more: object) => await post(path, {}, { headers: await asOperator('ADMIN', more) })
    t.match(await confirmAs({ id: inviter }), { status: 403, code: 'NOT_INDEPENDENT' }, 'who invited the proposer')
    t.match(
      await confirmAs({ invitedBy: [id] }),
      { status: 403, code: 'NOT_INDEPENDENT' },
      'who was invited by the proposer'
    )
    t.match(await confirmAs({ canConfirm: false }), { status: 403, code: 'PASSKEY_TOO_NEW' })
  }
  t.match(await statusOf(account.id), { status: 'RESTRICTED' }, 'nothing was carried out')
  t.match((await get('/operator/erasures', { headers })).data.erasures, [])
  t.equal(
    (await confirm(ban, await asOperator('ADMIN', { invitedBy: [inviter] }))).status,
    201,
    'others of one inviter do'
  )
})

t.test('of many proposals, and of many confirmations and withdrawals at once, one counts', async (t) => {
  const account = await givenAccount()
  const proposed = await Promise.all(Array.from({ length: 10 }, async () => await proposeBan(account.id)))
  t.equal(proposed.filter(({ status }) => status === 202).length, 1)
  t.equal((await decisionsOf(account.id)).length, 1, 'the refused proposals restrict nothing')
  const { proposalId } = proposed.find(({ status }) => status === 202)!.data
  const answers = await Promise.all(Array.from({ length: 10 }, async (_, turn) =>
    turn % 2 === 0
      ? await confirm(proposalId)
      : await post(`/operator/proposals/${proposalId}/withdraw`, {}, { headers: confirmer })))
  t.equal(answers.filter(({ status }) => status < 300).length, 1)
  const isBanned = answers.some(({ status }) => status === 201)
  t.match(await statusOf(account.id), { status: isBanned ? 'BANNED' : 'GOOD', restrictions: [] })
})

t.test('what was restricted meanwhile ends when the proposal is withdrawn, and other restrictions stay', async (t) => {
  const account = await givenAccount()
  const restrict = { ...banOf(account.id), actions: [{ type: 'RESTRICT', scope: 'ALL', days: 1 }] }
  t.equal((await post('/operator/decisions', restrict, { headers: proposer })).status, 201)
  const { data: { proposalId } } = await proposeBan(account.id)
  t.equal((await post(`/operator/proposals/${proposalId}/withdraw`, {}, { headers: proposer })).status, 200)
  const { restrictions } = await statusOf(account.id)
  t.equal(restrictions.length, 1)
  t.ok(Date.parse(restrictions[0].until) < Date.now() + 25 * 3_600_000)
  t.equal((await proposeBan(account.id)).status, 202, 'it can be proposed again')
})

t.test('a proposal ends after 72 hours, with its restriction, and a decided case is not decided again', async (t) => {
  const [account, other] = [await givenAccount(), await givenAccount()]
  const { data: { proposalId } } = await proposeBan(account.id)
  await sql`update proposals set expires_at = now() where id = ${proposalId}`.execute(db)
  await sql`update restrictions set until = now() where account_id = ${account.id}`.execute(db)
  await sql`update accounts set restricted_until = now() where id = ${account.id}`.execute(db)
  await runHousekeeping(db)
  t.match(await confirm(proposalId), { status: 404, code: 'NOT_FOUND' })
  t.match(await statusOf(account.id), { status: 'GOOD', restrictions: [] })
  t.equal((await proposeBan(account.id)).status, 202)

  const decided = givenCase(other.id)
  const { data: { proposalId: late } } = await proposeBan(other.id, decided)
  cases.set(decided.id, { ...cases.get(decided.id), isOpen: false })
  t.match(await confirm(late), { status: 409, code: 'CASE_CHANGED' })
  t.match(await statusOf(other.id), { status: 'RESTRICTED' })
})

t.test('a deletion takes two operators, and so does a hold, which holds at once', async (t) => {
  const account = await givenAccount()
  const answer = async (id: string, headers = confirmer) =>
    await post(`/operator/proposals/${id}/confirm`, {}, { headers })
  const erase = await post('/operator/erasures', { accountId: account.id, days: 14, reason: 'a letter' }, {
    headers: proposer
  })
  t.equal(erase.status, 202)
  t.match(await login(account.email), { status: 200 }, 'nothing happens before it is confirmed')
  t.match(await confirm(erase.data.proposalId), { status: 404 }, 'it is no ban')
  t.match(await answer(erase.data.proposalId, proposer), { status: 403 })
  t.equal((await answer(erase.data.proposalId)).status, 200)
  t.match(await answer(erase.data.proposalId), { status: 404 })
  const erasure = async () =>
    (await get('/operator/erasures', { headers: confirmer })).data.erasures
      .find(({ accountId }: { accountId: string }) => accountId === account.id)
  const { id, status } = await erasure()
  t.equal(status, 'SCHEDULED')
  t.match(await get(`/operator/erasures/${id}`, { headers: confirmer }), {
    data: { erasure: { id, status: 'SCHEDULED', cause: 'OPERATOR' }, confirmations: [] }
  })

  const hold = await post(`/operator/erasures/${id}/hold`, { days: 30, reason: 'a court' }, { headers: proposer })
  t.equal(hold.status, 202)
  t.match(await erasure(), { status: 'HELD' })
  t.ok(Date.parse((await erasure()).heldUntil) < Date.now() + 73 * 3_600_000, 'no longer than the proposal is open')
  t.equal((await answer(hold.data.proposalId)).status, 200)
  t.ok(Date.parse((await erasure()).heldUntil) > Date.now() + 29 * 86_400_000)
  const release = await post(`/operator/erasures/${id}/release`, { reason: 'it is over' }, { headers: proposer })
  t.equal(release.status, 202)
  t.match(await erasure(), { status: 'HELD' })
  t.equal((await answer(release.data.proposalId)).status, 200)
  t.match(await erasure(), { status: 'SCHEDULED' })
  const again = await post(`/operator/erasures/${id}/hold`, { days: 30, reason: 'a court' }, { headers: proposer })
  t.equal((await post(`/operator/proposals/${again.data.proposalId}/withdraw`, {}, { headers: proposer })).status, 200)
  t.match(await erasure(), { status: 'SCHEDULED' }, 'a withdrawn hold ends')
})
