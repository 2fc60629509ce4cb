import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { AchievementEarned, BadgeEarned } from '@tandem/contracts'
import { Unavailable } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { inParallel, testApp } from '../test/app.ts'
import { runDueChecks } from './checks.ts'
import { measureProgress } from './rules.ts'

t.test('badges are granted once, from what other services know of the account', async (t) => {
  const { get, post, member, services, publishedEvents } = await testApp(t)
  const stranger = randomUUID()
  services.membership = { since: new Date().toISOString(), number: 1 }
  for (const send of [get, post]) {
    t.match(await send(stranger, '/fitmatch/badges'), { status: 404, code: 'PROFILE_NOT_FOUND' })
  }
  t.same(await publishedEvents(BadgeEarned), [], 'nobody without a profile gets badges')

  const { id: ana } = await member('Ana')
  t.match(await get(ana, '/fitmatch/badges'), {
    status: 200,
    data: { badges: [], progress: [{ badge: 'PHOTO_VERIFIED', progress: 0, requirement: String }, {}, {}, {}, {}] }
  })

  services.progress = { weekStreak: 2, personalRecords: 10 }
  services.membership = { since: new Date(Date.now() - 100 * 86_400_000).toISOString(), number: 1000 }
  const responses = await inParallel(5, () => post(ana, '/fitmatch/badges'))
  for (const { status } of responses) t.equal(status, 200)
  const { data } = await get(ana, '/fitmatch/badges')
  t.strictSame(data.badges.toSorted(), ['EARLY_ADOPTER', 'PR_ACHIEVER'])
  t.match(data.progress, [
    { badge: 'PHOTO_VERIFIED', progress: 0 },
    { badge: 'CONSISTENT', progress: 50, requirement: String },
    { badge: 'PR_ACHIEVER', progress: 100, earnedAt: String },
    { badge: 'VETERAN', progress: 27 },
    { badge: 'EARLY_ADOPTER', progress: 100 }
  ])
  t.notOk('requirement' in data.progress[2])
  t.strictSame((await publishedEvents(BadgeEarned)).map(({ badge }) => String(badge)).sort(), [
    'EARLY_ADOPTER',
    'PR_ACHIEVER'
  ])

  services.progress = { weekStreak: 0, personalRecords: 0 }
  await post(ana, '/fitmatch/badges')
  t.equal((await get(ana, '/fitmatch/badges')).data.badges.length, 2, 'earned badges stay')
  services.areUnavailable = true
  t.match(await post(ana, '/fitmatch/badges'), { status: 503, code: 'SERVICE_UNAVAILABLE' })
})

t.test('each badge reaches 100 percent at its requirement', async (t) => {
  const inputs = { isVerified: false, weekStreak: 0, personalRecords: 0, membership: null }
  const since = (days: number) => ({ since: new Date(Date.now() - days * 86_400_000).toISOString(), number: 1001 })
  t.match(measureProgress({ ...inputs, weekStreak: 3, personalRecords: 9, membership: since(360) }), {
    CONSISTENT: 75,
    PR_ACHIEVER: 90,
    VETERAN: 98,
    EARLY_ADOPTER: 0,
    PHOTO_VERIFIED: 0
  })
  t.match(measureProgress({ isVerified: true, weekStreak: 4, personalRecords: 10, membership: since(367) }), {
    CONSISTENT: 100,
    PR_ACHIEVER: 100,
    VETERAN: 100,
    PHOTO_VERIFIED: 100
  })
  t.match(measureProgress(inputs), { VETERAN: 0, EARLY_ADOPTER: 0 })
})

t.test('badges come without a request: with the achievement, with a new profile, and weekly', async (t) => {
  const { get, db, deps, handlers, member, services, publishedEvents } = await testApp(t)
  const badgesOf = async (accountId: string) => (await get(accountId, '/fitmatch/badges')).data.badges as string[]
  const earn = async (accountId: string, achievement: string) =>
    await deliver(handlers, AchievementEarned.type, { accountId, achievement, achievementId: randomUUID() })
  const dueAt = async (accountId: string) =>
    (await db.selectFrom('badge_checks').where('account_id', '=', accountId).select('due_at').executeTakeFirst())
      ?.due_at
  const makeDue = async () => await db.updateTable('badge_checks').set({ due_at: new Date() }).execute()
  const { id: ana } = await member('Ana')
  t.ok((await dueAt(ana))!.getTime() <= Date.now(), 'the badges of a new profile are due at once')

  services.progress = { weekStreak: 4, personalRecords: 3 }
  await earn(ana, 'TEN_WORKOUTS')
  t.same(await badgesOf(ana), [], 'it changes no fact of a badge')
  await earn(ana, 'WEEK_STREAK_4')
  await earn(ana, 'WEEK_STREAK_4')
  t.same(await badgesOf(ana), ['CONSISTENT'])
  const stranger = randomUUID()
  await earn(stranger, 'WEEK_STREAK_4')
  const granted = await db.selectFrom('badges').where('account_id', '=', stranger).select('badge').execute()
  t.same(granted, [], 'nobody without a profile gets badges of FitMatch')

  services.areUnavailable = true
  await makeDue()
  await t.rejects(runDueChecks(deps))
  services.areUnavailable = false
  const almostAYearAgo = Temporal.Now.instant().subtract({ hours: 364 * 24 }).toString()
  services.membership = { since: almostAYearAgo, number: 12 }
  await runDueChecks(deps)
  t.same((await badgesOf(ana)).toSorted(), ['CONSISTENT', 'EARLY_ADOPTER'], 'what could not be read stayed due')
  const days = ((await dueAt(ana))!.getTime() - Date.now()) / 86_400_000
  t.ok(days > 0.5 && days < 2.5, `the next check is at the end of the first year, in ${days} days`)

  services.membership = { since: '2020-01-01T00:00:00Z', number: 12 }
  services.progress = { weekStreak: 5, personalRecords: 10 }
  await makeDue()
  await runDueChecks(deps)
  t.same((await badgesOf(ana)).toSorted(), ['CONSISTENT', 'EARLY_ADOPTER', 'PR_ACHIEVER', 'VETERAN'])
  t.equal(await dueAt(ana), undefined, 'nothing is left to earn')
  t.equal((await publishedEvents(BadgeEarned)).length, 4)
})

t.test('an account whose facts cannot be read keeps no other from its check', async (t) => {
  const { db, deps } = await testApp(t)
  await sql`insert into members (account_id) select gen_random_uuid() from generate_series(1, 150)`.execute(db)
  await sql`insert into profiles (account_id, display_name, has_custom_name, looking_for, interested_in, fitness_goals,
      preferred_times, workout_days, age_min, age_max, max_distance, prompts, suspended, trait_bits, sport_bits)
    select account_id, 'Ana', true, '{}', '{}', '{}', '{}', '{}', 18, 99, 50, '[]', false, 0, 0::bit(128)
    from members`.execute(db)
  await sql`insert into badge_checks (account_id, due_at) select account_id, now() from members`.execute(db)
  const { account_id: unreadable } = await db.selectFrom('members').select('account_id').orderBy('account_id')
    .executeTakeFirstOrThrow()
  const callRpc: Deps['callRpc'] = async (rpc, request, options) => {
    if (JSON.stringify(request).includes(unreadable)) throw new Unavailable()
    return await deps.callRpc(rpc, request, options)
  }
  await t.rejects(runDueChecks({ ...deps, callRpc }), new Unavailable())
  const due = await db.selectFrom('badge_checks').where('due_at', '<=', sql<Date>`now()`).select('account_id').execute()
  t.same(due, [{ account_id: unreadable }])
})
