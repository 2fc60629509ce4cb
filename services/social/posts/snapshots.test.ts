import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { ActivityCanceled } from '@tandem/contracts'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createFilesForm, createPng, testVideo } from '@tandem/media-kit/testing'
import { until } from '@tandem/test-kit'
import { postTypes } from '../tables.ts'
import { createApp, testApp } from '../test/app.ts'
import { deleteOldCanceledActivities } from './snapshots.ts'

const { app, db, deps, get, post, del, person, shown, publishedEvents, handlers } = await testApp(t)
const ana = await person('Ana')
const ben = await person('Ben')
const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString()

function givenWorkout (accountId: string) {
  const snapshot = {
    id: randomUUID(),
    name: 'Push day',
    startedAt: '2026-11-20T05:00:00.000Z',
    durationMinutes: 50,
    exercises: 4,
    volumeKg: 5_230.5,
    prs: 1,
    calories: null
  }
  shown.workouts.push({ accountId, snapshot })
  return snapshot
}

function givenAchievement (accountId: string) {
  const snapshot = {
    id: randomUUID(),
    kind: 'STREAK_7',
    title: '7 days in a row',
    earnedAt: '2026-11-20T05:00:00.000Z'
  }
  shown.achievements.push({ accountId, snapshot })
  return snapshot
}

function givenActivity (accountId: string, { startsAt = tomorrow } = {}) {
  const snapshot = {
    id: randomUUID(),
    title: 'Evening run',
    sport: 'running',
    date: startsAt.slice(0, 10),
    startTime: '18:00',
    startsAt,
    locationName: null,
    participants: 2,
    isOpen: true
  }
  shown.activities.push({ accountId, snapshot })
  return snapshot
}

const create = async (accountId: string, fields: object) =>
  await post(accountId, '/feed', { type: 'TEXT', content: 'look', ...fields })

t.test('the repeat of a request gets its first response, whatever became of what it shows', async (t) => {
  const [workout, achievement, activity] = [givenWorkout(ana), givenAchievement(ana), givenActivity(ana)]
  const endsAt = new Date(Date.now() + 5_000)
  const poll = {
    type: 'POLL',
    content: 'When?',
    pollOptions: [{ text: 'At dawn' }, { text: 'At dusk' }],
    pollEndsAt: endsAt.toISOString()
  }
  const fields = { ...poll, workoutId: workout.id, achievementId: achievement.id, activityId: activity.id }
  const send = async () => await post(ana, '/feed', fields, { 'idempotency-key': 'once' })
  const first = await send()
  t.equal(first.status, 201)
  await until(() => Date.now() > endsAt.getTime())
  shown.workouts = shown.workouts.filter(({ snapshot }) => snapshot !== workout)
  t.same(await send(), first)
  shown.isUnavailable = true
  t.same(await send(), first)
  shown.isUnavailable = false
  t.match(await post(ana, '/feed', fields), { status: 400 })
})

const cancel = async (activityId: string, reason = 'CANCELED') =>
  await deliver(handlers, ActivityCanceled.type, {
    activityId,
    sport: 'running',
    startsAt: tomorrow,
    timezone: 'Etc/UTC',
    accountIds: [ana],
    reason,
    notifiedIds: []
  })

t.test('a post shows what it is about, to everybody who reads it and in every list', async (t) => {
  const [workout, achievement, activity] = [givenWorkout(ana), givenAchievement(ana), givenActivity(ana)]
  const { startsAt: _, ...shownActivity } = activity
  const expected = {
    workout,
    achievement,
    activity: shownActivity,
    location: { name: 'Lapangan Gasibu', latitude: -6.9, longitude: 107.62 }
  }
  const { status, data } = await create(ana, {
    type: 'WORKOUT',
    content: undefined,
    workoutId: workout.id,
    achievementId: achievement.id,
    activityId: activity.id,
    locationName: 'Lapangan Gasibu',
    latitude: -6.9004,
    longitude: 107.6187
  })
  t.equal(status, 201)
  const { id } = data.post
  const listed = (await get(ben, `/feed?userId=${ana}`)).data.posts.find((each: { id: string }) => each.id === id)
  for (const each of [data.post, (await get(ben, `/feed/${id}`)).data.post, listed]) t.match(each, expected)
  t.match(
    await db.selectFrom('posts').where('id', '=', id).select(['latitude', 'longitude']).executeTakeFirst(),
    { latitude: -6.9, longitude: 107.62 },
    'the exact position is not even stored'
  )
})

t.test('the title of an achievement is in the language of the request, else in that of its author', async (t) => {
  const ida = await person('Ida', { locale: 'id-ID' })
  const share = async (accountId: string, headers = {}) => {
    const { id: achievementId } = givenAchievement(accountId)
    shown.languages.length = 0
    t.equal((await post(accountId, '/feed', { type: 'ACHIEVEMENT', achievementId }, headers)).status, 201)
    return shown.languages
  }
  t.same(await share(ida), ['id'])
  t.same(await share(ana), ['en'])
  t.same(await share(ida, { 'accept-language': 'en-GB' }), ['en'])
})

t.test('the snapshot stays as it was when the workout is edited or deleted', async (t) => {
  const workout = givenWorkout(ana)
  const { data: { post: { id } } } = await create(ana, { workoutId: workout.id })
  shown.workouts = shown.workouts.filter(({ snapshot }) => snapshot !== workout)
  t.match((await get(ben, `/feed/${id}`)).data.post, { type: 'TEXT', workout: { id: workout.id, name: 'Push day' } })
})

t.test('an id of somebody else, an unknown one and a malformed one get the same answer, which names the field', async (t) => {
  const ids = {
    workoutId: givenWorkout(ben).id,
    achievementId: givenAchievement(ben).id,
    activityId: givenActivity(ben).id
  }
  const count = async () => (await get(ana, `/feed?userId=${ana}`)).data.posts.length
  const before = await count()
  for (const [field, foreign] of Object.entries(ids)) {
    const responses = []
    for (const id of [foreign, randomUUID(), 'w1']) responses.push(await create(ana, { [field]: id }))
    for (const response of responses) t.same(response, responses[0])
    t.match(responses[0], { status: 400, code: 'VALIDATION_ERROR', error: new RegExp(`^${field} `) })
  }
  t.equal(await count(), before, 'nothing was posted')
})

t.test('a report freezes every text of what a post shows', async (t) => {
  const { data: { post: { id } } } = await create(ana, {
    content: '',
    workoutId: givenWorkout(ana).id,
    activityId: givenActivity(ana).id,
    locationName: 'Gasibu'
  })
  t.equal((await post(ben, '/reports', { targetType: 'POST', targetId: id, reason: 'HATE' })).status, 201)
  const { content } = await db.selectFrom('case_evidence').innerJoin('cases', 'cases.id', 'case_id')
    .where('target_id', '=', id).select('content').executeTakeFirstOrThrow()
  t.match(content, { otherTexts: ['Gasibu', 'Push day', 'Evening run'] })
})

t.test('while the service that owns it is unavailable, nothing is posted; other posts are', async (t) => {
  const workout = givenWorkout(ana)
  shown.isUnavailable = true
  t.match(await create(ana, { content: 'not posted', workoutId: workout.id }), { status: 503 })
  t.match(await create(ana, { content: 'posted', type: 'WORKOUT' }), { status: 201, data: { post: { workout: null } } })
  shown.isUnavailable = false
  t.notOk(
    (await get(ana, `/feed?userId=${ana}`)).data.posts.some(({ content }: { content: string }) =>
      content === 'not posted'
    )
  )
})

t.test('a place needs a name or both coordinates', async (t) => {
  const locationOf = async (fields: object) => (await create(ana, fields)).data.post.location
  t.same(await locationOf({}), null)
  t.same(await locationOf({ latitude: 1 }), null)
  t.same(await locationOf({ locationName: 'Gasibu' }), { name: 'Gasibu', latitude: null, longitude: null })
  t.same(await locationOf({ latitude: 0.004, longitude: -0.006 }), { name: null, latitude: 0, longitude: -0.01 })
})

t.test('a canceled activity is not open, whether the event comes before or after the post, and twice', async (t) => {
  const [before, after, placeEnded] = [givenActivity(ana), givenActivity(ana), givenActivity(ana)]
  const isOpen = async (id: string) => (await get(ben, `/feed/${id}`)).data.post.activity.isOpen
  await cancel(before.id)
  const { data: { post: first } } = await create(ana, { activityId: before.id })
  t.equal(first.activity.isOpen, false)

  const { data: { post: second } } = await create(ana, { activityId: after.id })
  t.equal(await isOpen(second.id), true)
  await cancel(after.id)
  await cancel(after.id)
  t.equal(await isOpen(second.id), false)

  const { data: { post: third } } = await create(ana, { activityId: placeEnded.id })
  await cancel(placeEnded.id, 'PLACE_ENDED')
  t.equal(await isOpen(third.id), true, 'only somebody left')
})

t.test('an activity is not open any more once it starts, also after the event that canceled it was forgotten', async (t) => {
  const activity = givenActivity(ana, { startsAt: '2026-01-01T10:00:00.000Z' })
  await cancel(activity.id)
  await db.updateTable('canceled_activities').where('activity_id', '=', activity.id)
    .set({ starts_at: sql`now() - interval '181 days'` }).execute()
  await deleteOldCanceledActivities(db)
  t.same(await db.selectFrom('canceled_activities').where('activity_id', '=', activity.id).selectAll().execute(), [])
  t.match(await create(ana, { activityId: activity.id }), { data: { post: { activity: { isOpen: false } } } })
})

t.test('that an achievement is shared, and no longer, is published once', async (t) => {
  const { id: achievementId } = givenAchievement(ana)
  const headers = { 'idempotency-key': randomUUID() }
  const share = async () => await post(ana, '/feed', { type: 'ACHIEVEMENT', achievementId }, headers)
  const { data: { post: { id } } } = await share()
  t.equal((await share()).data.post.id, id)
  await del(ana, `/feed/${id}`)
  await del(ana, `/feed/${id}`)
  const event = { postId: id, authorId: ana, achievementId }
  const ofPost = async (type: string) => (await publishedEvents(type)).filter(({ postId }) => postId === id)
  t.same(await ofPost('social.achievement.shared.v1'), [event])
  t.same(await ofPost('social.achievement.unshared.v1'), [event])
})

t.test('a page with a post of each type costs as many statements as a page of texts', async (t) => {
  const [texts, shows] = [await person('Texts'), await person('Shows')]
  const upload = async (files: Parameters<typeof createFilesForm>[0]) => {
    const { headers, payload } = createFilesForm(files)
    const response = await app.inject({
      method: 'POST',
      url: '/media',
      headers: { ...bearer(shows), ...headers },
      payload
    })
    return response.json().data.media.url as string
  }
  const image = { field: 'file', bytes: createPng(400, 300), type: 'image/png' }
  const video = { field: 'file', bytes: testVideo(), type: 'video/quicktime' }
  await create(shows, { type: 'IMAGE', mediaUrls: [await upload([image]), await upload([image])] })
  await create(shows, { type: 'VIDEO', mediaUrls: [await upload([video, { ...image, field: 'poster' }])] })
  await create(shows, { type: 'WORKOUT', workoutId: givenWorkout(shows).id })
  await create(shows, { type: 'ACHIEVEMENT', achievementId: givenAchievement(shows).id })
  await create(shows, { type: 'ACTIVITY', activityId: givenActivity(shows).id })
  await create(shows, { type: 'POLL', content: 'When?', pollOptions: [{ text: 'At dawn' }, { text: 'At dusk' }] })
  await create(shows, { locationName: 'Gasibu', latitude: -6.9, longitude: 107.6 })
  const { posts } = (await get(ben, `/feed?userId=${shows}`)).data
  t.same(posts.map(({ type }: { type: string }) => type).sort(), [...postTypes].sort())
  for (let each = 0; each < posts.length; each++) await create(texts, {})

  let statements = 0
  const countingDb = db.withPlugin({
    transformQuery: ({ node }) => node,
    // Pages are compiled once, so that only their results come by here.
    async transformResult ({ result }) {
      statements++
      return result
    }
  })
  const counted = await createApp({ ...deps, db: countingDb }, { log: silentLog, keys: testKeys })
  t.teardown(() => counted.close())
  const costOf = async (author: string) => {
    statements = 0
    const headers = bearer(ben, { sessionId: ben })
    const response = await counted.inject({ method: 'GET', url: `/feed?userId=${author}`, headers })
    t.equal(response.json().data.posts.length, posts.length)
    return statements
  }
  const cost = await costOf(texts)
  t.ok(cost > 0)
  t.equal(await costOf(shows), cost)
})
