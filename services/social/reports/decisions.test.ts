import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { copyCaseFiles, lockTarget, purgeCases } from '@tandem/case-kit'
import { deliver } from '@tandem/bus-kit/testing'
import { ContentHidden, ContentReportResolved, DecisionMade, SocialDecisionApplied } from '@tandem/contracts'
import { createImage } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { operatorBearer } from '@tandem/operator-kit/testing'
import { until } from '@tandem/test-kit'
import { givenPost, testApp } from '../test/app.ts'
import { handleCase, handleReport } from './rpc.ts'

const { app, db, deps, handlers, get, post, put, del, person, publishedEvents } = await testApp(t)

const nothing = { scope: null, until: null, photoId: null }
const decision = (accountId: string, actions: object[], caseId: string | null, more = {}) => ({
  decisionId: randomUUID(),
  accountId,
  case: caseId && { service: 'social', id: caseId },
  actions: actions.map((action) => ({ ...nothing, ...action })),
  outcome: 'ACTION_TAKEN',
  automated: false,
  madeAt: new Date().toISOString(),
  ...more
})
const report = async (accountId: string, targetId: string, reason = 'SPAM') =>
  await post(accountId, '/reports', { targetType: 'POST', targetId, reason })
const caseOf = async (
  targetId: string
) => (await db.selectFrom('cases').where('target_id', '=', targetId).selectAll().executeTakeFirstOrThrow())
const apply = async (data: object, sequence: number, id = randomUUID()) =>
  await deliver(handlers, DecisionMade.type, data, { id, sequence })
async function operate (method: 'GET' | 'POST', url: string, headers = operatorBearer('MODERATOR')) {
  const response = await app.inject({ method, url, headers, ...(method === 'POST' && { payload: {} }) })
  const isJson = String(response.headers['content-type']).includes('json')
  return { status: response.statusCode, raw: response.rawPayload, ...(isJson ? response.json() : {}) }
}

t.test('a decision hides, closes the case and informs the reporters, once', async (t) => {
  const [ana, cleo, ben] = [await person('Ana'), await person('Cleo'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben, likes_count: 3 })
  for (const each of [ana, cleo]) await report(each, id)
  const { id: caseId } = await caseOf(id)
  const made = decision(ben, [{ type: 'HIDE_CONTENT' }], caseId)
  const eventId = randomUUID()
  await Promise.all([apply(made, 1, eventId), apply(made, 1, eventId)])
  t.match(await get(cleo, `/feed/${id}`), { status: 410, code: 'GONE' })
  t.match(await get(ben, `/feed/${id}`), { data: { post: { isHidden: true, likesCount: 3 } } })
  const hidden = async () => await publishedEvents(ContentHidden.type)
  t.same(await hidden(), [{ type: 'POST', id, authorId: ben }])
  t.match(await caseOf(id), { outcome: 'ACTION_TAKEN', decision_id: made.decisionId })
  t.same(
    (await publishedEvents(ContentReportResolved.type)).map(({ reporterId, outcome }) => [reporterId, outcome]),
    [[ana, 'ACTION_TAKEN'], [cleo, 'ACTION_TAKEN']]
  )
  t.same(await publishedEvents(SocialDecisionApplied.type), [{ decisionId: made.decisionId }])
  t.match((await get(ana, '/reports')).data.reports, [{ status: 'RESOLVED', outcome: 'ACTION_TAKEN' }])

  await apply(decision(ben, [{ type: 'RESTORE_CONTENT' }], caseId, { outcome: 'NO_VIOLATION' }), 2)
  t.match(await get(cleo, `/feed/${id}`), { status: 200, data: { post: { isHidden: false, likesCount: 3 } } })
  t.equal((await publishedEvents(ContentReportResolved.type)).length, 2, 'reporters are informed once')
  t.equal((await hidden()).length, 1)
})

t.test('a decision about an erased account leaves no row that names it, and reporters learn of it', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  await report(ana, id)
  const { id: caseId } = await caseOf(id)
  await db.insertInto('departures').values({ account_id: ben, erasure_id: randomUUID() }).execute()
  await deps.erasure.eraseDue()
  await apply(decision(ben, [{ type: 'HIDE_CONTENT' }], caseId), 1)
  t.match(await caseOf(id), { outcome: 'ACTION_TAKEN' })
  t.match((await get(ana, '/reports')).data.reports, [{ targetId: id, outcome: 'ACTION_TAKEN' }])
  t.same((await deps.erasure.verify(ben)).left, {})
})

t.test('a report and a decision to hide the same thing, at once, wait for each other', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  await report(ana, id)
  const eve = await person('Eve')
  const waiting = await db.transaction().execute(async (trx) => {
    await lockTarget(trx, { type: 'POST', id })
    const reporting = report(eve, id)
    await until(async () => {
      const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock'
        and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(trx)
      return rows.length > 0
    })
    await trx.updateTable('posts').where('id', '=', id).set({ hidden_at: new Date() }).execute()
    return { reporting }
  })
  t.match(await waiting.reporting, { status: 410, code: 'GONE' })
})

t.test('reporters whose report was dismissed learn that action was taken after all', async (t) => {
  const [ana, eve, ben] = [await person('Ana'), await person('Eve'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  const { data: { report: { id: reportId } } } = await report(ana, id)
  const find = async (reporterId: string) => await handleReport(deps).handle({ reportId, reporterId })
  const { id: caseId } = await caseOf(id)
  t.match(await find(ana), { caseId, decisionId: null, outcome: null })
  const dismissed = decision(ben, [{ type: 'DISMISS' }], caseId, { outcome: 'NO_VIOLATION' })
  await apply(dismissed, 1)
  t.match(await find(ana), { decisionId: dismissed.decisionId, outcome: 'NO_VIOLATION' })
  t.equal(await find(eve), null, 'only who made the report gets it')
  for (let turn = 0; turn < 2; turn++) await apply(decision(ben, [{ type: 'HIDE_CONTENT' }], caseId), 2 + turn)
  t.same(
    (await publishedEvents(ContentReportResolved.type)).filter(({ reporterId }) => reporterId === ana)
      .slice(-2).map(({ outcome }) => outcome),
    ['NO_VIOLATION', 'ACTION_TAKEN']
  )
  t.match((await get(ana, '/reports')).data.reports, [{ status: 'RESOLVED', outcome: 'ACTION_TAKEN' }])
  t.match(await get(ana, `/feed/${id}`), { status: 410 })
})

t.test('administrators hold a case, which is kept then; where it takes two, another one confirms', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  await report(ana, id)
  const { id: caseId } = await caseOf(id)
  await apply(decision(ben, [{ type: 'DISMISS' }], caseId, { outcome: 'NO_VIOLATION' }), 1)
  const send = async (path: string, headers = operatorBearer(), reason = 'a court') => {
    const response = await app.inject({ method: 'POST', url: path, headers, payload: { reason } })
    return { status: response.statusCode, ...response.json() }
  }
  const age = async () =>
    await sql`update cases set resolved_at = now() - interval '181 days' where id = ${caseId}`.execute(db)
  const hold = `/operator/cases/${caseId}/hold`
  t.match(await send(hold, operatorBearer('MODERATOR')), { status: 403, code: 'FORBIDDEN' })
  t.match(await send(hold, operatorBearer('ADMIN', { accountId: ben })), { status: 403, code: 'FORBIDDEN' })
  t.match(await send(hold, operatorBearer('ADMIN'), ''), { status: 400 })
  t.match(await send(`/operator/cases/${randomUUID()}/hold`), { status: 404 })
  t.match(await send(hold), { status: 200 })
  await age()
  await purgeCases(deps)
  t.match(await caseOf(id), { is_held: true })

  const fourEyes = deps.fourEyes as Set<string>
  fourEyes.add('HOLD')
  t.teardown(() => fourEyes.delete('HOLD'))
  const proposerId = randomUUID()
  const proposer = operatorBearer('ADMIN', { id: proposerId })
  const { status, data: { proposalId } } = await send(`/operator/cases/${caseId}/release`, proposer)
  t.equal(status, 202)
  t.match(await send(`/operator/cases/${caseId}/release`), { status: 409, code: 'PROPOSAL_EXISTS' })
  t.match(await caseOf(id), { is_held: true })
  t.match(await send(`/operator/proposals/${proposalId}/confirm`, proposer), { status: 403 })
  for (const second of [{ invitedBy: [proposerId] }, { canConfirm: false }]) {
    t.match(await send(`/operator/proposals/${proposalId}/confirm`, operatorBearer('ADMIN', second)), { status: 403 })
  }
  t.match(await caseOf(id), { is_held: true })
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => await send(`/operator/proposals/${proposalId}/confirm`))
  )
  t.equal(answers.filter((answer) => answer.status === 200).length, 1)
  t.match(await caseOf(id), { is_held: false })
  const { data: { proposalId: again } } = await send(hold, proposer)
  await purgeCases(deps)
  t.ok(await caseOf(id), 'a case that somebody wants to hold is kept')
  t.match(await send(`/operator/proposals/${again}/withdraw`), { status: 200 })
  await purgeCases(deps)
  await t.rejects(caseOf(id), 'then its time is over')
})

t.test('a decision that arrives after a later one changes nothing', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  await report(ana, id)
  const { id: caseId } = await caseOf(id)
  await apply(decision(ben, [{ type: 'RESTORE_CONTENT' }, { type: 'LIFT', scope: 'POSTING' }], caseId), 20)
  const until = new Date(Date.now() + 60_000).toISOString()
  await apply(decision(ben, [{ type: 'HIDE_CONTENT' }, { type: 'RESTRICT', scope: 'POSTING', until }], caseId), 10)
  t.match(await get(ana, `/feed/${id}`), { status: 200 })
  t.match(await post(ben, '/feed', { type: 'TEXT', content: 'I am back' }), { status: 201 })
})

t.test('of two decisions about a case, the later one is its outcome in any order', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  await report(ana, id)
  const { id: caseId } = await caseOf(id)
  const before = (await publishedEvents(ContentReportResolved.type)).length
  const later = decision(ben, [{ type: 'HIDE_CONTENT' }], caseId)
  await apply(later, 8)
  await apply(decision(ben, [{ type: 'DISMISS' }], caseId, { outcome: 'NO_VIOLATION' }), 7)
  t.match(await caseOf(id), { outcome: 'ACTION_TAKEN', decision_id: later.decisionId })
  t.same(
    (await publishedEvents(ContentReportResolved.type)).slice(before).map(({ outcome }) => outcome),
    ['ACTION_TAKEN'],
    'reporters learn the one that holds'
  )
})

t.test('of several restrictions, the one that ends last holds, also after another one was reversed', async (t) => {
  const [ben, until] = [await person('Ben'), new Date(Date.now() + 60_000).toISOString()]
  const restricted = { restrictions: [{ scope: 'POSTING', until }] }
  await apply(decision(ben, [{ type: 'LIFT', scope: 'ALL' }], null, restricted), 1)
  const write = async () => await post(ben, '/feed', { type: 'TEXT', content: 'Hello' })
  t.match(await write(), { status: 403, code: 'POSTING_RESTRICTED' })
  const ended = new Date(Date.now() - 1_000).toISOString()
  await apply(decision(ben, [{ type: 'RESTRICT', scope: 'POSTING', until: ended }], null, restricted), 2)
  t.match(await write(), { status: 403 })
  await apply(decision(ben, [{ type: 'LIFT', scope: 'POSTING' }], null, { restrictions: [] }), 3)
  t.match(await write(), { status: 201 })
})

t.test('somebody who must not post can read, report and delete, until the second it ends', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const own = await givenPost(db, { author_id: ben })
  const { id } = await givenPost(db, { author_id: ana })
  const until = new Date(Date.now() + 60_000).toISOString()
  await apply(decision(ben, [{ type: 'RESTRICT', scope: 'POSTING', until }], null), 1)
  for (
    const [path, body] of [
      ['/feed', { type: 'TEXT', content: 'Hello' }],
      [`/feed/${id}/comment`, { content: 'Hello' }],
      [`/feed/${id}/like`, {}],
      ['/stories', { mediaUrl: 'https://example.com/a.jpg', mediaType: 'IMAGE' }],
      [`/users/${ana}/follow`, {}]
    ] as const
  ) t.match(await post(ben, path, body), { status: 403, code: 'POSTING_RESTRICTED' }, path)
  t.match(await put(ben, `/feed/${own.id}`, { content: 'Changed' }), { status: 403, code: 'POSTING_RESTRICTED' })
  const part = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }
  const url = `/media/uploads/${randomUUID()}`
  const sent = await app.inject({
    method: 'PATCH',
    url,
    headers: { ...bearer(ben), ...part },
    payload: Buffer.alloc(1)
  })
  t.match(sent.json(), { code: 'POSTING_RESTRICTED' }, 'a part of a video')
  t.match(await get(ben, `/feed/${id}`), { status: 200 })
  t.equal((await report(ben, id)).status, 201)
  t.match(await del(ben, `/feed/${own.id}`), { status: 200 })
  await sql`update posting_restrictions set restricted_until = now() where account_id = ${ben}`.execute(db)
  t.match(await post(ben, '/feed', { type: 'TEXT', content: 'Hello' }), { status: 201 })
})

t.test('operators see cases by urgency, with their evidence and files, and claim them', async (t) => {
  await sql`update cases set outcome = 'NO_VIOLATION', resolved_at = now() where resolved_at is null`.execute(db)
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { key } = await deps.media.store('public', createImage(), async () => {})
  const calm = await givenPost(db, { author_id: ben })
  const urgent = await givenPost(db, { author_id: ben, media_urls: [key], content: 'Bad' })
  await report(ana, calm.id)
  await report(ana, urgent.id, 'VIOLENCE')
  const { data: { cases, nextCursor } } = await operate('GET', '/operator/cases?limit=1')
  t.match(cases, [{ targetId: urgent.id, priority: 3, accountId: ben, reportsCount: 1 }])
  t.match(cases, [{ personName: 'Ben', excerpt: 'Bad', reasons: ['VIOLENCE'] }])
  t.match((await operate('GET', `/operator/cases?limit=1&cursor=${nextCursor}`)).data, {
    cases: [{ targetId: calm.id }],
    nextCursor: null
  })
  t.equal((await operate('GET', `/operator/cases?accountId=${ben}`)).data.cases.length, 2)

  const [{ id }] = cases
  t.match(await handleCase(deps).handle({ caseId: id }), {
    accountId: ben,
    version: 1,
    isOpen: true,
    excerpt: 'Bad'
  })
  const moderator = randomUUID()
  const as = operatorBearer('MODERATOR', { id: moderator })
  t.match(await operate('POST', `/operator/cases/${id}/claim`, as), { status: 200 })
  t.match((await operate('GET', `/operator/cases/${id}`, as)).data.case, {
    claimedBy: moderator,
    evidence: [{ content: { content: 'Bad' } }],
    files: [{ number: 1 }],
    reports: [{ reason: 'VIOLENCE' }]
  })
  t.notMatch(JSON.stringify(await operate('GET', `/operator/cases/${id}`, as)), new RegExp(ana), 'not who reported')
  const original = (await operate('GET', `/operator/cases/${id}/files/1`, as)).raw
  await copyCaseFiles(deps)
  const copied = await operate('GET', `/operator/cases/${id}/files/1`, as)
  t.same(copied.raw, original)
  const { data: { case: { files: [file] } } } = await operate('GET', `/operator/cases/${id}`, as)
  t.equal(file.sha256, createHash('sha256').update(copied.raw).digest('hex'))

  await report(await person('Eve'), urgent.id, 'CHILD_SAFETY')
  t.match(await operate('GET', `/operator/cases/${id}/files/1`, as), { status: 403, code: 'FORBIDDEN' })
  t.match(await operate('GET', `/operator/cases/${id}/files/1`, operatorBearer('ADMIN')), { status: 200 })
  t.match(await operate('GET', `/operator/cases/${id}/files/2`), { status: 404 })
  t.match(await operate('GET', `/operator/cases/${randomUUID()}`), { status: 404 })
  await sql`update cases set outcome = 'NO_VIOLATION', resolved_at = now() where id = ${id}`.execute(db)
  t.match(await operate('POST', `/operator/cases/${id}/claim`, as), { status: 409, code: 'CASE_CHANGED' })
})
