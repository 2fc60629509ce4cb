import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import {
  MeetingAlarmMailed,
  MeetingContactNotTold,
  MeetingContactTold,
  MeetingDisarmed,
  MeetingMailFailed,
  MeetingOverdue,
  TrustedContactEnded
} from '@tandem/contracts'
import { testApp } from '../test/app.ts'
import { runDueMeetings } from './alarms.ts'
import { handleArmedMeetings } from './rpc.ts'

const MINUTE_MS = 60_000

// What notification says about the contact and the mails, and what becomes of the meetings.

const { get, post, member, createMatch, publishedEvents, db, deps, handlers, services } = await testApp(t)

/** Ana hosts an activity in three days. Ben goes to it, and has armed a meeting. */
async function givenMeeting () {
  services.contactStatus = 'CONFIRMED'
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await createMatch(ana, ben)
  const date = Temporal.Now.plainDateISO('Asia/Jakarta').add({ days: 3 }).toString()
  const plan = { sport: 'running', date, startTime: '18:00', endTime: '19:00', locationName: 'Gate 5' }
  const created = await post(ana.id, '/activities', { ...plan, userIds: [ben.id] })
  const { id: activityId } = created.data.activity as { id: string }
  await post(ben.id, `/activities/${activityId}/respond`, { accept: true, version: 1 })
  const armed = await post(ben.id, `/activities/${activityId}/safety`)
  const alarmAt = new Date(armed.data.safety.alarmAt as string)
  const { id: meetingId } = await db.selectFrom('meetings').where('activity_id', '=', activityId).select('id')
    .executeTakeFirstOrThrow()
  const accountId = ben.id
  const eventsOf = async (event: { type: string }) =>
    (await publishedEvents(event)).filter((data) => data['meetingId'] === meetingId)
  return {
    accountId,
    activityId,
    meetingId,
    eventsOf,
    arm: async () => await post(ben.id, `/activities/${activityId}/safety`),
    safe: async () => await post(ben.id, `/activities/${activityId}/safe`),
    safety: async () => (await get(ben.id, `/activities/${activityId}/safety`)).data.safety,
    runAlarm: async () => await runDueMeetings(db, () => new Date(alarmAt.getTime() + MINUTE_MS)),
    endContact: async () => await deliver(handlers, TrustedContactEnded.type, { accountId }),
    mailed: async () =>
      await deliver(handlers, MeetingAlarmMailed.type, { meetingId, accountId, mailedAt: '2026-11-28T13:31:00.000Z' }),
    failed: async (isAlarm: boolean) =>
      await deliver(handlers, MeetingMailFailed.type, {
        meetingId,
        accountId,
        isAlarm,
        failedAt: '2026-11-28T13:31:00.000Z'
      })
  }
}

t.test('a meeting ends with its contact, its owner is notified once, and there is no alarm', async (t) => {
  const meeting = await givenMeeting()
  const { accountId, activityId, meetingId, eventsOf, safety, endContact, runAlarm } = meeting
  t.equal(await handleArmedMeetings(deps).handle({ accountId }), 1)
  services.contactStatus = 'DECLINED'
  for (const _ of [1, 2]) await endContact()
  t.equal(await safety(), null)
  t.same(await eventsOf(MeetingDisarmed), [{ meetingId, activityId, accountId, reason: 'CONTACT_ENDED' }])
  await runAlarm()
  t.same(await eventsOf(MeetingOverdue), [])
  t.equal(await handleArmedMeetings(deps).handle({ accountId }), 0)
  t.match(await meeting.arm(), { status: 409, code: 'NO_TRUSTED_CONTACT' })
})

t.test('a late event does not end a meeting whose owner has another contact by now, and waits for notification', async (t) => {
  const { safety, endContact } = await givenMeeting()
  await endContact()
  t.match(await safety(), { status: 'ARMED' })
  services.areUnavailable = true
  await t.rejects(endContact(), { code: 'SERVICE_UNAVAILABLE' })
  services.areUnavailable = false
  t.match(await safety(), { status: 'ARMED' })
})

t.test('the contact ends it at the instant of the alarm: no meeting, or an alarm that is not called sent', async (t) => {
  const outcomes = new Set<string>()
  for (const turn of Array.from({ length: 40 }, (_, index) => index)) {
    const { eventsOf, safety, endContact, runAlarm } = await givenMeeting()
    services.contactStatus = 'DECLINED'
    const calls = [runAlarm, endContact]
    // One after the other in either order, and at once.
    if (turn < 2) await calls[turn]!()
    await Promise.all((turn % 2 ? calls : calls.toReversed()).map(async (call) => await call()))
    const left = await safety()
    const counts = [(await eventsOf(MeetingDisarmed)).length, (await eventsOf(MeetingOverdue)).length]
    if (left === null) t.same(counts, [1, 0], `round ${turn}`)
    else {
      t.match(left, { status: 'ALARMED', contactToldAt: null, contactFailedAt: null })
      t.same(counts, [0, 1], `round ${turn}`)
    }
    outcomes.add(counts.join())
  }
  t.same([...outcomes].sort(), ['0,1', '1,0'])
})

t.test('an alarm counts as sent to the contact once a mail server has the mail, and not before', async (t) => {
  const { accountId, activityId, meetingId, eventsOf, safety, runAlarm, mailed, safe } = await givenMeeting()
  await runAlarm()
  t.match(await safety(), { status: 'ALARMED', contactToldAt: null, contactFailedAt: null })
  for (const _ of [1, 2]) await mailed()
  t.match(await safety(), { contactToldAt: '2026-11-28T13:31:00.000Z', contactFailedAt: null })
  t.same(await eventsOf(MeetingContactTold), [{ meetingId, activityId, accountId }])
  t.match(await safe(), { data: { safety: { status: 'SAFE', contactToldAt: String } } })
})

t.test('an alarm that cannot be mailed says so, and so does a meeting that could not be shared', async (t) => {
  const { accountId, activityId, meetingId, eventsOf, safety, runAlarm, failed } = await givenMeeting()
  await failed(false)
  t.match(await safety(), { status: 'ARMED' }, 'a later mail may arrive')
  t.same(await eventsOf(MeetingContactNotTold), [{ meetingId, activityId, accountId, isAlarm: false }])
  await runAlarm()
  for (const _ of [1, 2]) await failed(true)
  t.match(await safety(), {
    status: 'ALARMED',
    contactToldAt: null,
    contactFailedAt: '2026-11-28T13:31:00.000Z'
  })
  t.same(await eventsOf(MeetingContactNotTold), [
    { meetingId, activityId, accountId, isAlarm: false },
    { meetingId, activityId, accountId, isAlarm: true }
  ])
})

t.test('who has reported back is not notified of the mails any more', async (t) => {
  const { eventsOf, safety, runAlarm, mailed, failed, safe } = await givenMeeting()
  await runAlarm()
  await safe()
  await failed(true)
  await mailed()
  t.match(await safety(), { status: 'SAFE', contactToldAt: String, contactFailedAt: null })
  t.same([...await eventsOf(MeetingContactTold), ...await eventsOf(MeetingContactNotTold)], [])
})
