import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { copyCaseFiles } from '@tandem/case-kit'
import { deliver } from '@tandem/bus-kit/testing'
import { ContentReportResolved, DecisionMade, PersonReported } from '@tandem/contracts'
import { createForm, createPng } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { operatorBearer } from '@tandem/operator-kit/testing'
import { runConcurrently } from '@tandem/test-kit'
import { runHousekeeping } from '../housekeeping.ts'
import { givenPost, givenStory, testApp } from '../test/app.ts'
import { releaseImage } from './background.ts'

const { app, db, deps, handlers, get, post, put, del, person, follows, blocks, publishedEvents } = await testApp(t)
const { media } = deps

const report = (accountId: string, targetType: string, targetId: string, more: object = {}) =>
  post(accountId, '/reports', { targetType, targetId, reason: 'SPAM', ...more })
const casesOf = async (targetId: string) =>
  await db.selectFrom('cases').where('target_id', '=', targetId).selectAll().orderBy('id').execute()
const evidenceOf = async (targetId: string) =>
  (await db.selectFrom('case_evidence').innerJoin('cases', 'cases.id', 'case_id').where('target_id', '=', targetId)
    .select('content').orderBy('case_evidence.id').execute()).map(({ content }) => content as Record<string, unknown>)
const resolve = async (targetId: string, outcome: 'ACTION_TAKEN' | 'NO_VIOLATION') =>
  await sql`update cases set outcome = ${outcome}, resolved_at = now()
    where target_id = ${targetId} and resolved_at is null`.execute(db)

async function upload (accountId: string) {
  const form = createForm(createPng(20, 20))
  const response = await app.inject({
    method: 'POST',
    url: '/media',
    headers: { ...bearer(accountId), ...form.headers },
    payload: form.payload
  })
  return response.json().data.media as { key: string, url: string }
}

t.test('a report answers what came of it, and a repeat is the first one while that is open', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  const { status, data: { report: first } } = await report(ana, 'POST', id, { details: 'An advertisement' })
  t.equal(status, 201)
  t.match(first, {
    targetType: 'POST',
    targetId: id,
    reason: 'SPAM',
    details: 'An advertisement',
    status: 'OPEN',
    outcome: null,
    resolvedAt: null
  })
  const repeated = await report(ana, 'POST', id, { reason: 'HATE' })
  t.same(repeated.data.report, first)
  t.match(await publishedEvents(PersonReported.type), [{ reporterId: ana, reportedId: ben, alsoBlock: false }])

  await resolve(id, 'ACTION_TAKEN')
  const { data: { reports, nextCursor } } = await get(ana, '/reports')
  t.match(reports, [{ id: first.id, status: 'RESOLVED', outcome: 'ACTION_TAKEN', resolvedAt: String }])
  t.equal(nextCursor, null)
  t.not((await report(ana, 'POST', id)).data.report.id, first.id)
  const { data: page } = await get(ana, '/reports?limit=1')
  t.match((await get(ana, `/reports?limit=1&cursor=${page.nextCursor}`)).data.reports, [{ id: first.id }])
  t.same((await get(ben, '/reports')).data.reports, [], 'the reported person sees nothing')
})

t.test('what somebody cannot see is refused as it is when they read it', async (t) => {
  const [ana, ben, eve] = [await person('Ana'), await person('Ben'), await person('Eve')]
  await blocks(ben, eve)
  const open = await givenPost(db, { author_id: ben })
  const hidden = await givenPost(db, { author_id: ben, visibility: 'PRIVATE' })
  const deleted = await givenPost(db, { author_id: ben, deleted_at: new Date() })
  const story = await givenStory(db, { author_id: ben })
  const { data: { comment } } = await post(ben, `/feed/${open.id}/comment`, { content: 'Hm' })
  for (
    const [who, type, id, refusal] of [
      [eve, 'POST', open.id, { status: 404, code: 'NOT_FOUND' }],
      [ana, 'POST', hidden.id, { status: 403, code: 'FORBIDDEN' }],
      [ana, 'POST', deleted.id, { status: 410, code: 'GONE' }],
      [ana, 'POST', randomUUID(), { status: 404, code: 'NOT_FOUND' }],
      [ana, 'STORY', story.id, { status: 404, code: 'NOT_FOUND' }],
      [eve, 'COMMENT', comment.id, { status: 404, code: 'NOT_FOUND' }],
      [ana, 'COMMENT', 'garbage', { status: 404, code: 'NOT_FOUND' }],
      [eve, 'USER', ben, { status: 404, code: 'NOT_FOUND' }],
      [ana, 'USER', randomUUID(), { status: 404, code: 'NOT_FOUND' }],
      [ben, 'POST', open.id, { status: 400, code: 'VALIDATION_ERROR' }],
      [ben, 'COMMENT', comment.id, { status: 400, code: 'VALIDATION_ERROR' }],
      [ben, 'USER', ben, { status: 400, code: 'VALIDATION_ERROR' }]
    ] as const
  ) t.match(await report(who, type, id), refusal, `${type} ${refusal.code}`)
  t.match(await report(ana, 'PAGE', open.id), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await report(ana, 'POST', open.id, { reason: 'BORING' }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await report(ana, 'POST', open.id, { evidence: ['javascript:alert(1)'] }), { status: 400 })
  for (const target of [open.id, hidden.id, story.id, ben]) t.same(await casesOf(target), [])
})

t.test('twenty reports a day, also when they come at once', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const posts = await Promise.all(Array.from({ length: 25 }, async () => await givenPost(db, { author_id: ben })))
  const responses = await Promise.all(posts.map(async ({ id }) => await report(ana, 'POST', id)))
  t.equal(responses.filter(({ status }) => status === 201).length, 20)
  t.match(responses.find(({ status }) => status !== 201), { status: 429, code: 'LIMIT_EXCEEDED' })
  const [reported] = posts.filter((_, index) => responses[index]?.status === 201)
  t.equal((await report(ana, 'POST', reported!.id)).status, 201, 'a repeat costs nothing')
})

t.test('somebody whose stored time zone cannot be read reports', async (t) => {
  const [una, ben] = [await person('Una', { timezone: 'IST' }), await person('Ben')]
  t.equal((await report(una, 'POST', (await givenPost(db, { author_id: ben })).id)).status, 201)
})

t.test('many reports of one post at once are one case', async (t) => {
  const ben = await person('Ben')
  const { id } = await givenPost(db, { author_id: ben })
  const reporters = await Promise.all(Array.from({ length: 40 }, async (_, turn) => await person(`R${turn}`)))
  const responses = await Promise.all(
    reporters.map(async (each, turn) => await report(each, 'POST', id, { reason: turn === 7 ? 'VIOLENCE' : 'SPAM' }))
  )
  t.same([...new Set(responses.map(({ status }) => status))], [201])
  const [opened, ...others] = await casesOf(id)
  t.same(others, [])
  t.match(opened, { reports_count: 40, priority: 3, account_id: ben })
  t.ok(opened!.due_at.getTime() - opened!.created_at.getTime() <= 24 * 60 * 60 * 1_000 + 60_000)
  t.equal((await evidenceOf(id)).length, 1, 'the unchanged post is stored once')
})

t.test('two hundred reports of a post are one row of the queue, which one click decides', async (t) => {
  const ben = await person('Ben')
  const { id } = await givenPost(db, { author_id: ben })
  const reporters = await runConcurrently(
    Array.from({ length: 200 }, (_, turn) => async () => await person(`R${turn}`)),
    10
  )
  const statuses = await runConcurrently(
    reporters.map((each) => async () => (await report(each, 'POST', id)).status),
    10
  )
  t.same([...new Set(statuses)], [201])
  const headers = operatorBearer('MODERATOR')
  const { data: { cases } } = (await app.inject({ url: `/operator/cases?accountId=${ben}`, headers })).json()
  t.match(cases, [{ reportsCount: 200, reasons: ['SPAM'] }])
  t.equal(cases.length, 1)
  await deliver(handlers, DecisionMade.type, {
    decisionId: randomUUID(),
    accountId: ben,
    case: { service: 'social', id: cases[0].id },
    actions: [{ type: 'DISMISS', scope: null, until: null, photoId: null }],
    outcome: 'NO_VIOLATION',
    automated: false,
    madeAt: new Date().toISOString()
  }, { sequence: 1 })
  const resolved = await publishedEvents(ContentReportResolved.type)
  t.equal(new Set(resolved.map(({ reporterId }) => reporterId)).size, 200, 'everybody learns the outcome')
})

t.test('of ten operators who take a free case at once, one gets it, and another can take it over', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  await report(ana, 'POST', id)
  const [opened] = await casesOf(id)
  const claim = async (payload: object) =>
    await app.inject({
      method: 'POST',
      url: `/operator/cases/${opened!.id}/claim`,
      headers: operatorBearer('MODERATOR'),
      payload
    })
  const responses = await Promise.all(Array.from({ length: 10 }, async () => await claim({ takesOver: false })))
  t.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 1)
  t.match(responses.find(({ statusCode }) => statusCode !== 200)?.json(), { code: 'CASE_CLAIMED' })
  t.equal((await claim({})).statusCode, 200)
})

t.test('a moderator does not take a case whose pictures only administrators see', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const claim = async (id: string, role: 'MODERATOR' | 'ADMIN') => {
    const response = await app.inject({
      method: 'POST',
      url: `/operator/cases/${id}/claim`,
      headers: operatorBearer(role),
      payload: {}
    })
    return response.json()
  }
  const caseOf = async (evidence: string[]) => {
    const { id } = await givenPost(db, { author_id: ben })
    await report(ana, 'POST', id, { reason: 'CHILD_SAFETY', evidence })
    return (await casesOf(id))[0]!.id as string
  }
  const [text, pictures] = [await caseOf([]), await caseOf(['https://example.com/a.png'])]
  t.match(await claim(text, 'MODERATOR'), { success: true })
  t.match(await claim(pictures, 'MODERATOR'), { code: 'CASE_RESTRICTED' })
  for (const [id, hidesPictures] of [[text, false], [pictures, true]] as const) {
    const { body } = await app.inject({ url: `/operator/cases/${id}`, headers: operatorBearer('MODERATOR') })
    t.match(JSON.parse(body), { data: { case: { hidesPictures } } })
  }
  t.match(await claim(pictures, 'ADMIN'), { success: true })
})

t.test('an operator can look at the cases of sixty people in an hour', async (t) => {
  const headers = operatorBearer('MODERATOR')
  const casesAbout = async (accountId: string) =>
    (await app.inject({ url: `/operator/cases?accountId=${accountId}`, headers })).statusCode
  const statuses = await runConcurrently(
    Array.from({ length: 61 }, () => async () => await casesAbout(randomUUID())),
    10
  )
  t.equal(statuses.filter((status) => status === 200).length, 60)
  t.ok(statuses.includes(429))
  t.equal((await app.inject({ url: '/operator/cases', headers })).statusCode, 200, 'the queue has no limit')
})

t.test('after a dismissal, reports of the unchanged thing are only counted', async (t) => {
  const [ana, ben, eve] = [await person('Ana'), await person('Ben'), await person('Eve')]
  const { id } = await givenPost(db, { author_id: ben })
  await report(ana, 'POST', id)
  await resolve(id, 'NO_VIOLATION')
  t.match((await report(eve, 'POST', id)).data.report, { status: 'RESOLVED', outcome: 'NO_VIOLATION' })
  t.match((await report(ana, 'POST', id)).data.report, { status: 'RESOLVED', outcome: 'NO_VIOLATION' })
  t.match(await casesOf(id), [{ reports_count: 3 }])
  await put(ben, `/feed/${id}`, { content: 'Something else' })
  t.match((await report(eve, 'POST', id)).data.report, { status: 'OPEN' }, 'a changed post is looked at again')
  t.equal((await casesOf(id)).length, 2)
  await resolve(id, 'NO_VIOLATION')
  await sql`update cases set resolved_at = now() - interval '31 days' where target_id = ${id}`.execute(db)
  t.match((await report(await person('Zoe'), 'POST', id)).data.report, { status: 'OPEN' })
})

t.test('people whose last five reports were dismissed wait longer, except for safety', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const reportNew = async (reason: string) => {
    const { id } = await givenPost(db, { author_id: ben, content: randomUUID() })
    await report(ana, 'POST', id, { reason })
    return id
  }
  for (let turn = 0; turn < 5; turn++) {
    const id = await reportNew('HATE')
    t.match(await casesOf(id), [{ priority: 2 }])
    await resolve(id, 'NO_VIOLATION')
  }
  t.match(await casesOf(await reportNew('HATE')), [{ priority: 1 }])
  t.match(await casesOf(await reportNew('CHILD_SAFETY')), [{ priority: 3, is_restricted: true }])
})

t.test('evidence is frozen: editing, deleting and erasing take nothing', async (t) => {
  const [ana, ben, cleo] = [await person('Ana'), await person('Ben'), await person('Cleo')]
  const image = await upload(ben)
  const { data: { post: { id } } } = await post(ben, '/feed', {
    type: 'IMAGE',
    content: 'Buy this',
    mediaUrls: [image.url, 'https://example.com/elsewhere.jpg']
  })
  const original = createHash('sha256').update((await media.find(image.key))!).digest()
  await report(ana, 'POST', id)
  await put(ben, `/feed/${id}`, { content: 'Nothing to see' })
  await report(cleo, 'POST', id)
  await del(ben, `/feed/${id}`)
  await runHousekeeping(deps)
  t.ok(await media.find(image.key), 'the image stays until it is copied')
  t.match(await evidenceOf(id), [
    { content: 'Buy this', visibility: 'PUBLIC', author: { name: 'Ben' }, mediaUrls: [image.key, /elsewhere/] },
    { content: 'Nothing to see' }
  ])

  await db.insertInto('departures').values({ account_id: ben, erasure_id: randomUUID() }).execute()
  await deps.erasure.eraseDue()
  t.ok(await media.find(image.key), 'nor does an erasure take it before')
  await Promise.all([copyCaseFiles(deps, releaseImage), copyCaseFiles(deps, releaseImage)])
  await runHousekeeping(deps)
  t.equal(await media.find(image.key), undefined, 'then the public file goes')
  const [file] = await db.selectFrom('case_files').where('owner_id', '=', ben).selectAll().execute()
  t.same(file!.sha256, original)
  t.match(file!.copy, /^private\//)
  t.same(createHash('sha256').update((await media.find(file!.copy))!).digest(), original)
  t.equal((await evidenceOf(id)).length, 2)
  t.match((await deps.erasure.verify(ben)).left, {})

  await resolve(id, 'ACTION_TAKEN')
  await sql`update cases set resolved_at = now() - interval '181 days', is_held = true where target_id = ${id}`
    .execute(db)
  await runHousekeeping(deps)
  t.equal((await casesOf(id)).length, 1, 'a held case stays')
  await sql`update cases set is_held = false where target_id = ${id}`.execute(db)
  await runHousekeeping(deps)
  t.same(await casesOf(id), [])
  t.equal(await media.find(file!.copy), undefined)
})

t.test('an image that cannot be copied keeps no other from being evidence, and is copied later', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const images = [await upload(ben), await upload(ben), await upload(ben)]
  for (const { url } of images) {
    const { data } = await post(ben, '/feed', { type: 'IMAGE', content: 'Buy this', mediaUrls: [url] })
    await report(ana, 'POST', data.post.id)
  }
  const [broken, ...others] = images.map(({ key }) => key)
  const media = {
    ...deps.media,
    async copy (...[from, to]: Parameters<typeof deps.media.copy>) {
      if (from === broken) throw new Error('no such file')
      return await deps.media.copy(from, to)
    }
  }
  const errors: unknown[] = []
  const copied = await copyCaseFiles({ db, media }, releaseImage, (error) => errors.push(error))
  t.same(copied.filter((key) => [broken, ...others].includes(key)), others)
  t.match(errors, [{ message: 'no such file' }])
  t.same(await copyCaseFiles(deps, releaseImage), [broken])
})

t.test('a comment is frozen with its post and the comments before it, a story with its image, a person as they appear', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben', { bio: 'Runs' })]
  await follows(ana, ben)
  const { id: postId } = await givenPost(db, { author_id: ana, content: 'My run' })
  for (const content of ['1', '2', '3', '4', '5', '6']) await post(ana, `/feed/${postId}/comment`, { content })
  const { data: { comment } } = await post(ben, `/feed/${postId}/comment`, { content: 'Ugly' })
  await report(ana, 'COMMENT', comment.id)
  t.match(await evidenceOf(comment.id), [{
    content: 'Ugly',
    author: { name: 'Ben' },
    post: { content: 'My run' },
    around: { parent: null, before: [{ content: '2' }, {}, {}, {}, { content: '6', isByReported: false }] }
  }])

  const { url } = await upload(ben)
  const { data: { story } } = await post(ben, '/stories', { mediaUrl: url, mediaType: 'IMAGE', caption: 'Look' })
  await report(ana, 'STORY', story.id)
  t.match(await evidenceOf(story.id), [{ caption: 'Look', author: { name: 'Ben' }, mediaUrl: /^private\// }])
  await del(ben, `/stories/${story.id}`)
  await copyCaseFiles(deps, releaseImage)
  t.match(
    await db.selectFrom('case_files').where('owner_id', '=', ben).select('sha256').execute(),
    [{ sha256: Buffer }],
    'also when it is deleted at once'
  )

  await report(ana, 'USER', ben)
  t.match(await evidenceOf(ben), [{ name: 'Ben', username: 'ben', bio: 'Runs' }])
})

t.test('somebody who reports and blocks is published so, also in a repeat', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await report(ana, 'USER', ben)
  await report(ana, 'USER', ben, { alsoBlock: true })
  t.match(
    (await publishedEvents(PersonReported.type)).filter(({ reporterId }) => reporterId === ana)
      .map(({ alsoBlock }) => alsoBlock),
    [false, true]
  )
})

t.test('who reports and blocks no longer sees the person in the next request', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ben })
  const [{ status }] = await Promise.all([
    report(ana, 'POST', id, { alsoBlock: true }).then(async (answer) => {
      t.match(await get(ana, `/feed/${id}`), { status: 404, code: 'NOT_FOUND' })
      return answer
    }),
    sleep(200).then(async () => await blocks(ana, ben))
  ])
  t.equal(status, 201)
})

t.test('screenshots reach the operators and stay as long as the report, and only administrators see those of a restricted case', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const [screenshot, seen] = [await upload(ana), await upload(ben)]
  const story = (await post(ben, '/stories', { mediaUrl: seen.url, mediaType: 'IMAGE' })).data.story
  const { id } = await givenPost(db, { author_id: ben })
  const evidence = [screenshot.url, 'https://a.example/1.png']
  const { data } = await report(ana, 'POST', id, { evidence: [...evidence, story.mediaUrl] })
  t.same(data.report.evidence, evidence)
  t.same((await get(ana, '/reports')).data.reports[0].evidence, evidence, 'no new URL of a private image')

  const [found] = await casesOf(id)
  const caseId = found!.id
  const evidenceFor = async (role: 'MODERATOR' | 'ADMIN') =>
    (await app.inject({ url: `/operator/cases/${caseId}`, headers: operatorBearer(role) })).json().data.case.reports
      .map((each: { evidence: string[] }) => each.evidence)
  t.match(await evidenceFor('MODERATOR'), [[...evidence, /\/private\/.*signature=/]])
  await report(await person('Eve'), 'POST', id, { reason: 'CHILD_SAFETY' })
  t.same(await evidenceFor('MODERATOR'), [[], []])
  t.match(await evidenceFor('ADMIN'), [evidence, []])

  const pass = async () => {
    await sql`update media set unused_since = unused_since - interval '8 days' where key = ${screenshot.key}`
      .execute(db)
    await runHousekeeping(deps)
  }
  const shown = (await post(ana, '/feed', { type: 'IMAGE', mediaUrls: [screenshot.url] })).data.post
  await del(ana, `/feed/${shown.id}`)
  await pass()
  t.ok(await media.size(screenshot.key))
  await sql`update cases set outcome = 'NO_VIOLATION', resolved_at = now() - interval '181 days' where id = ${caseId}`
    .execute(db)
  await runHousekeeping(deps)
  await pass()
  t.notOk(await media.size(screenshot.key))
})

t.test('hidden content is gone for others, and visible and marked for its author', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await follows(ana, ben)
  const { id } = await givenPost(db, { author_id: ben })
  const story = await givenStory(db, { author_id: ben })
  const { data: { comment } } = await post(ben, `/feed/${id}/comment`, { content: 'Mine' })
  await sql`update comments set hidden_at = now() where id = ${comment.id}`.execute(db)
  t.same((await get(ana, `/feed/${id}/comment`)).data.comments, [])
  t.match((await get(ben, `/feed/${id}/comment`)).data.comments, [{ id: comment.id }])
  await sql`update posts set hidden_at = now() where id = ${id}`.execute(db)
  await sql`update stories set hidden_at = now() where id = ${story.id}`.execute(db)
  t.match(await get(ana, `/feed/${id}`), { status: 410, code: 'GONE' })
  t.match(await get(ben, `/feed/${id}`), { status: 200, data: { post: { isHidden: true } } })
  t.same((await get(ana, '/feed?feedType=following')).data.posts, [])
  t.match((await get(ana, `/users/${ben}`)).data.user, { postsCount: 0 })
  t.match(await get(ana, `/stories/${story.id}`), { status: 404 })
  t.match(await get(ben, `/stories/${story.id}`), { status: 200, data: { story: { isHidden: true } } })
})
