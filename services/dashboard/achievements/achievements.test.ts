import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { deliver, recordedEvents } from '@tandem/bus-kit/testing'
import { AchievementShared, AchievementUnshared, ActivityAttended } from '@tandem/contracts'
import type * as Actions from '../logs/actions.ts'
import { onActivityAttended } from '../logs/consumers.ts'
import { parseItem } from '../logs/items.ts'
import { testApp, lift, sleep, workout } from '../test/app.ts'
import { onAchievementShared, onAchievementUnshared } from './consumers.ts'
import { handleAchievementSnapshot } from './rpc.ts'

const { newUser, db, deps, clock } = await testApp(t)
const now = '2026-11-20T05:00:00Z'
/** Workouts at different hours of one day, since of those at the same time only one counts. */
const atHour = (hour: number) => `2026-11-19T${String(hour).padStart(2, '0')}:00:00Z`

interface Achievement {
  id: string | null
  kind: string
  title: string
  description: string
  icon: string
  earnedAt: string | null
  progress: number
  postId: string | null
}

function athlete () {
  const user = newUser({ now })
  const list = async () => (await user.read('/achievements')).achievements as Achievement[]
  return {
    ...user,
    list,
    find: async (kind: string) => (await list()).find((each) => each.kind === kind) as Achievement,
    earned: async () => (await list()).filter(({ earnedAt }) => earnedAt !== null).map(({ kind }) => kind),
    achievementEvents: async () =>
      (await user.publishedEvents()).filter(([what]) => String(what).startsWith('achievement')),
    remove: async (id: string | undefined) => await user.send('DELETE', `/logs/${id}`),
    attend: async (activityId: string) =>
      await deliver([onActivityAttended(deps)], ActivityAttended.type, {
        activityId,
        accountId: user.account,
        title: 'Evening run',
        sport: 'running',
        startsAt: '2026-11-20T01:00:00.000Z',
        endsAt: '2026-11-20T02:00:00.000Z',
        timezone: 'Asia/Jakarta'
      })
  }
}

/** As if everything of an account had been written this much earlier. */
async function age (account: string, time: string) {
  const interval = sql<string>`${time}::interval`
  await db.updateTable('achievements').where('account_id', '=', account)
    .set({ earned_at: sql`earned_at - ${interval}` }).execute()
  await db.updateTable('logs').where('account_id', '=', account)
    .set({ created_at: sql`created_at - ${interval}`, updated_at: sql`updated_at - ${interval}` }).execute()
}

t.test('all kinds are listed, those not yet earned with their progress', async (t) => {
  const { list, log, find } = athlete()
  const before = await list()
  t.ok(before.length >= 10)
  t.same(before.filter(({ id, earnedAt }) => id !== null || earnedAt !== null), [])
  t.match(before.find(({ kind }) => kind === 'FIRST_WORKOUT'), { icon: 'workout', progress: 0 })

  await log(lift(atHour(1), 'Squat', 80), workout(atHour(2)), workout(atHour(3)))
  const workouts = await find('FIRST_WORKOUT')
  t.match(workouts, { id: /^[0-9a-f-]{36}$/, progress: 100, earnedAt: /Z$/ })
  t.match(await find('FIRST_PR'), { progress: 100, earnedAt: /Z$/ })
  t.match(await find('TEN_WORKOUTS'), { id: null, progress: 30, earnedAt: null })
  t.match(await find('STREAK_7'), { id: null, progress: 14 })
})

t.test('titles are in the language that was asked for', async (t) => {
  const { send } = athlete()
  const titleIn = async (language: string) => {
    const response = await send('GET', '/achievements', undefined, { 'accept-language': language })
    t.equal(response.headers['vary'], 'Accept-Language')
    return response.json().data.achievements[0].title
  }
  t.equal(await titleIn('en'), 'First workout')
  t.equal(await titleIn('id'), 'Latihan pertama')
})

t.test('the event carries the id that the list shows', async (t) => {
  const { account, log, find } = athlete()
  await log(workout(now))
  const events = (await recordedEvents(db)).filter(({ subject, type }) =>
    subject === account && type === 'dashboard.achievement.earned.v1'
  )
  t.same(events.map(({ data }) => data), [{
    accountId: account,
    achievement: 'FIRST_WORKOUT',
    achievementId: (await find('FIRST_WORKOUT')).id
  }])
})

t.test('batches that race in two processes earn each achievement once', async (t) => {
  const { account: accountId, earned, achievementEvents } = athlete()
  const replicas = await Promise.all(
    ['?one', '?two'].map(async (name) => await import(`../logs/actions.ts${name}`) as typeof Actions)
  )
  await Promise.all(Array.from({ length: 10 }, async (_, index) =>
    await replicas[index % 2]?.writeLogs(db, {
      accountId,
      zone: 'Asia/Jakarta',
      parsedItems: [parseItem(workout(atHour(index)), clock.now)],
      idempotencyKey: undefined
    })))
  t.same(await earned(), ['FIRST_WORKOUT', 'TEN_WORKOUTS'])
  t.same(await achievementEvents(), [['achievement', 'FIRST_WORKOUT'], ['achievement', 'TEN_WORKOUTS']])
})

t.test('an achievement is taken back when the log that earned it is deleted, and can be earned again', async (t) => {
  const { log, remove, find, achievementEvents } = athlete()
  const [first] = await log(workout(now))
  const { id } = await find('FIRST_WORKOUT')
  await remove(first?.id)
  t.match(await find('FIRST_WORKOUT'), { id: null, earnedAt: null, progress: 0 })
  await log(workout(now))
  t.not((await find('FIRST_WORKOUT')).id, id)
  t.same(await achievementEvents(), [
    ['achievement', 'FIRST_WORKOUT'],
    ['achievement lost', 'FIRST_WORKOUT'],
    ['achievement', 'FIRST_WORKOUT']
  ])
})

t.test('it stays if it is true without the log, and after 24 hours', async (t) => {
  const stillTrue = athlete()
  const [one] = await stillTrue.log(workout(atHour(1)), workout(atHour(2)))
  await stillTrue.remove(one?.id)
  t.same(await stillTrue.earned(), ['FIRST_WORKOUT'], 'one workout is left')

  const another = athlete()
  const days = [19, 18, 17, 16, 15, 14].map((day) => `2026-11-${day}T05:00:00Z`)
  const [other] = await another.log(...days.map((at) => sleep(at)))
  await another.log(sleep(now))
  t.same(await another.earned(), ['STREAK_7'])
  await another.remove(other?.id)
  t.same(await another.earned(), [], 'whichever of its days is lost')

  const old = athlete()
  const [log] = await old.log(workout(now))
  await age(old.account, '25 hours')
  await old.remove(log?.id)
  t.same(await old.earned(), ['FIRST_WORKOUT'])
  t.same(await old.achievementEvents(), [['achievement', 'FIRST_WORKOUT']])
})

t.test('an edit in between does not hide the log that earned it', async (t) => {
  const { log, remove, earned } = athlete()
  const [first] = await log(workout(now, {}, { clientId: 'edited' }))
  await log(workout(now, { durationMinutes: 45 }, { clientId: 'edited' }))
  await remove(first?.id)
  t.same(await earned(), [])
})

t.test('a program is completed when each of its training days has a workout, and not by days of others', async (t) => {
  const { send, log, find } = athlete()
  const createProgram = async (post: typeof send) => {
    const day = (dayOfWeek: string, isRestDay = false) => ({ dayOfWeek, name: 'Day', isRestDay, exercises: [] })
    const response = await post('POST', '/programs', {
      name: 'Plan',
      days: [day('MONDAY'), day('WEDNESDAY'), day('FRIDAY', true)]
    })
    return (response.json().data.program.days as { id: string }[]).map(({ id }) => id)
  }
  const stranger = athlete()
  for (const programDayId of await createProgram(stranger.send)) await log(workout(now, { programDayId }))
  t.match(await find('FIRST_PROGRAM'), { earnedAt: null, progress: 0 })

  const [monday, wednesday] = await createProgram(send)
  await log(workout(now, { programDayId: monday }), workout(now, { programDayId: monday }))
  t.match(await find('FIRST_PROGRAM'), { earnedAt: null, progress: 50 })
  const last = workout(now, { programDayId: wednesday })
  await log(last)
  t.match(await find('FIRST_PROGRAM'), { earnedAt: /Z$/, progress: 100 })
  await log({ ...last, data: { durationMinutes: 30 } })
  t.match(await find('FIRST_PROGRAM'), { earnedAt: null, progress: 50 })
  const [again] = await log(last)
  t.match(await find('FIRST_PROGRAM'), { earnedAt: /Z$/, progress: 100 })
  await send('DELETE', `/logs/${again?.id}`)
  t.match(await find('FIRST_PROGRAM'), { earnedAt: null, progress: 50 })
})

t.test('a completed program stays so when its plan is changed or deleted, as long as its workouts are there', async (t) => {
  const { send, log, find, remove } = athlete()
  const plan = (...days: string[]) => ({
    name: 'Plan',
    days: days.map((dayOfWeek) => ({ dayOfWeek, name: 'Day', exercises: [] }))
  })
  const { id, days } = (await send('POST', '/programs', plan('MONDAY', 'WEDNESDAY'))).json().data.program
  const trained = workout(now, { programDayId: days[0].id })
  const [first] = await log(trained)
  t.match(await find('FIRST_PROGRAM'), { earnedAt: null, progress: 50 })
  await send('PUT', `/programs/${id}`, plan('MONDAY'))
  t.match(await find('FIRST_PROGRAM'), { earnedAt: /Z$/, progress: 100 }, 'by a plan with fewer days')

  const [other] = await log(workout(now))
  await send('PUT', `/programs/${id}`, plan('MONDAY', 'FRIDAY'))
  await remove(other?.id)
  t.match(await find('FIRST_PROGRAM'), { earnedAt: /Z$/ }, 'another workout takes nothing back')
  await send('DELETE', `/programs/${id}`)
  await log({ ...trained, data: { ...trained.data, durationMinutes: 5 } })
  t.match(await find('FIRST_PROGRAM'), { earnedAt: /Z$/ }, 'nor does an edit of the workout')
  await remove(first?.id)
  t.match(await find('FIRST_PROGRAM'), { earnedAt: null })
})

t.test('five activities with others count, each once, however often its event comes', async (t) => {
  const { attend, find, achievementEvents } = athlete()
  const activities = Array.from({ length: 5 }, () => randomUUID())
  for (const activity of activities.slice(0, 4)) {
    await Promise.all([attend(activity), attend(activity)])
  }
  t.match(await find('FIVE_ACTIVITIES'), { earnedAt: null, progress: 80 })
  await Promise.all([attend(activities[4] as string), attend(activities[4] as string)])
  t.match(await find('FIVE_ACTIVITIES'), { earnedAt: /Z$/, progress: 100 })
  t.equal((await achievementEvents()).filter(([, kind]) => kind === 'FIVE_ACTIVITIES').length, 1)
})

t.test('the list names the newest post that shows an achievement, in whatever order the events come', async (t) => {
  const { account, log, find } = athlete()
  await log(workout(now))
  const { id: achievementId, postId } = await find('FIRST_WORKOUT')
  t.equal(postId, null)
  const [older, newer] = [randomUUID(), randomUUID()].toSorted() as [string, string]
  const handlers = [onAchievementShared(deps), onAchievementUnshared(deps)]
  const tell = async (type: string, id: string, authorId = account) =>
    await deliver(handlers, type, { postId: id, authorId, achievementId })
  const shownIn = async () => (await find('FIRST_WORKOUT')).postId

  await tell(AchievementShared.type, randomUUID(), randomUUID())
  t.equal(await shownIn(), null, 'a post of somebody else is not theirs')
  await tell(AchievementShared.type, newer)
  await tell(AchievementShared.type, older)
  t.equal(await shownIn(), newer)
  await tell(AchievementUnshared.type, newer)
  await tell(AchievementShared.type, newer)
  t.equal(await shownIn(), older)
  await tell(AchievementUnshared.type, older)
  t.equal(await shownIn(), null)
})

t.test('the snapshot of an achievement is of its owner, in the language that was asked for', async (t) => {
  const { account, log, find, remove } = athlete()
  const [first] = await log(workout(now))
  const { id, earnedAt } = await find('FIRST_WORKOUT')
  const achievementId = id ?? ''
  const snapshotFor = async (accountId: string, language: 'en' | 'id' = 'en') =>
    await handleAchievementSnapshot(deps).handle({ accountId, achievementId, language })
  t.same(await snapshotFor(account), { id, kind: 'FIRST_WORKOUT', title: 'First workout', earnedAt })
  t.match(await snapshotFor(account, 'id'), { title: 'Latihan pertama' })
  t.equal(await snapshotFor(randomUUID()), null)
  await remove(first?.id)
  t.equal(await snapshotFor(account), null)
})
