import { randomUUID } from 'node:crypto'
import t from 'tap'
import { activityApi } from '../test/activities.ts'
import { testApp, type Member } from '../test/app.ts'

t.test('reports of what happened at an activity', async (t) => {
  const app = await testApp(t)
  const { db, get, post, del, member, createMatch, operator } = app
  const { createWith, create, match, letEverybodyFollow } = activityApi(app)
  const report = async (one: Member, other: Member, activityId: string, reason = 'OFFLINE_BEHAVIOR') =>
    await post(one.id, '/fitmatch/report', { reportedProfileId: other.profileId, reason, activityId })
  const reviewed = async (id: string) =>
    (await operator('GET', '/fitmatch/admin/reports?limit=50')).data.reports
      .find((each: { id: string }) => each.id === id)
  const activitiesInEvidence = async (about: Member) =>
    (await db.selectFrom('case_evidence').innerJoin('cases', 'cases.id', 'case_id').where('account_id', '=', about.id)
      .select('content').execute()).flatMap(({ content }) => {
        const { activity } = content as { activity?: { title: string } }
        return activity ? [activity.title] : []
      }).sort()
  letEverybodyFollow()

  t.test('the evidence stays as it was, whatever becomes of the activity and the profile', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await match(ana, [ben])
    const { id } = await createWith(ana, [ben], { title: 'Night run', note: 'Come alone' })
    await db.updateTable('activity_participants').set({ checked_in_at: new Date('2026-01-01T10:00:00Z') })
      .where('activity_id', '=', id).where('account_id', '=', ana.id).execute()
    const { status, data } = await report(ben, ana, id)
    t.equal(status, 201)
    t.match(data.report, { activityId: id, reason: 'OFFLINE_BEHAVIOR' })
    t.match((await get(ben.id, '/fitmatch/report')).data.reports, [{ activityId: id }])
    await db.updateTable('activities').set({ title: 'Tea', note: null, location_name: null, status: 'FINISHED' })
      .where('id', '=', id).execute()
    await del(ana.id, '/fitmatch/profile')
    t.match((await reviewed(data.report.id)).activity, {
      title: 'Night run',
      note: 'Come alone',
      locationName: 'Gelora, gate 5',
      date: String,
      startTime: '18:00',
      timezone: 'Etc/UTC',
      status: 'PLANNED',
      hostedBy: 'REPORTED',
      reporter: { state: 'GOING', checkedInAt: null },
      reported: { state: 'GOING', checkedInAt: /^2026-01-01T10:00:00/ }
    })
    t.same(await activitiesInEvidence(ana), ['Night run'])
  })

  t.test('each activity is evidence of its own in the case, though the profile is the same', async (t) => {
    const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
    for (const [guest, title] of [[ben, 'First'], [cleo, 'Second']] as const) {
      const { id } = await createWith(ana, [guest], { title })
      t.equal((await report(guest, ana, id)).status, 201)
    }
    t.same(await activitiesInEvidence(ana), ['First', 'Second'])
  })

  t.test('guests report each other, also after one of them has blocked the other or left FitMatch', async (t) => {
    const people = [await member('Ana'), await member('Ben'), await member('Cleo'), await member('Dan')] as const
    const [ana, ben, cleo, dan] = people
    const { id } = await createWith(ana, [ben, cleo, dan])
    const profiles = (await get(ben.id, `/activities/${id}`)).data.activity.participants
    t.same(
      profiles.map((each: { profileId: string }) => each.profileId).sort(),
      people.map((each) => each.profileId).sort(),
      'the activity names the profiles to report'
    )
    await post(cleo.id, '/fitmatch/block', { blockedProfileId: ben.profileId })
    t.match(await report(ben, cleo, id), { status: 201 }, 'a block first does not prevent it')
    await del(dan.id, '/fitmatch/profile')
    t.match(await report(ben, dan, id), { status: 201 }, 'nor does leaving')
    const ended = new Date(Date.now() - 31 * 86_400_000)
    await db.updateTable('activities').set({ starts_at: new Date(ended.getTime() - 1), ends_at: ended })
      .where('id', '=', id).execute()
    t.match(await report(ana, dan, id), { status: 404, code: 'PROFILE_NOT_FOUND' }, '30 days later the profile is gone')
  })

  t.test('nobody names an activity that the two were not in', async (t) => {
    const [ana, ben, cleo, eve] = [await member('Ana'), await member('Ben'), await member('Cleo'), await member('Eve')]
    await createMatch(ana, ben)
    const invited = await createWith(ana, [ben])
    const open = await create(ana, { visibility: 'OPEN', capacity: 5, note: 'Secret' })
    t.equal((await post(cleo.id, `/activities/${open.id}/join`)).status, 200)
    for (
      const [who, about, activityId, name] of [
        [eve, ana, invited.id, 'who cannot see it'],
        [eve, cleo, open.id, 'who sees it, about somebody who asked'],
        [cleo, eve, open.id, 'about somebody who is not in it'],
        [cleo, ben, open.id, 'about a guest of another activity'],
        [ben, ana, randomUUID(), 'an unknown activity'],
        [ben, ana, 'garbage', 'no id']
      ] as const
    ) t.match(await report(who, about, activityId), { status: 404, code: 'NOT_FOUND' }, name)
    t.same((await get(eve.id, '/fitmatch/report')).data.reports, [], 'nothing is stored or blocked')
    t.same((await get(eve.id, '/fitmatch/block')).data.blockedUsers, [])
    t.match(await report(eve, ana, open.id), { status: 201 }, 'the host of one that they see')
    t.match(await report(ana, cleo, open.id), { status: 201 }, 'a host, about who asked')
  })

  t.test('the report of a host who leaves keeps the times, and nothing that they wrote', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const { id } = await createWith(ana, [ben], { title: 'At my house' })
    const { data } = await report(ana, ben, id)
    await db.insertInto('departures').values({ account_id: ana.id, erasure_id: randomUUID() }).execute()
    await app.deps.erasure.eraseDue()
    const { activity } = await reviewed(data.report.id)
    t.match(activity, { hostedBy: 'REPORTER', sport: 'running' })
    t.notMatch(JSON.stringify(activity), /house|Gelora|water/)
  })
})
