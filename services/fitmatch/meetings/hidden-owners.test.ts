import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { MeetingAsked, MeetingEnded, MeetingOverdue, MeetingSilenced, PersonHidden } from '@tandem/contracts'
import { activityApi } from '../test/activities.ts'
import { testApp } from '../test/app.ts'
import { runDueMeetings } from './alarms.ts'

// A person whose account is closed, paused or restricted cannot report back. They are not in danger for that.

const app = await testApp(t)
const { get, post, member, createMatch, publishedEvents, db, handlers } = app
const { createWith } = activityApi(app)

/** Ben has armed a meeting with Ana. */
async function givenMeeting () {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await createMatch(ana, ben)
  const { id: activityId } = await createWith(ana, [ben])
  const arm = async () => await post(ben.id, `/activities/${activityId}/safety`)
  const { data: { safety } } = await arm()
  const { id: meetingId } = await db.selectFrom('meetings').where('account_id', '=', ben.id).select('id')
    .executeTakeFirstOrThrow()
  const events = [MeetingEnded, MeetingAsked, MeetingOverdue]
  const start = Date.now()
  return {
    activityId,
    meetingId,
    accountId: ben.id,
    arm,
    hide: async (hidden: boolean, afterMs: number) =>
      await deliver(handlers, PersonHidden.type, { accountId: ben.id, hidden }, { at: new Date(start + afterMs) }),
    runAlarm: async () => await runDueMeetings(db, () => new Date(safety.alarmAt)),
    statusOf: async () =>
      (await get(ben.id, `/activities/${activityId}/safety`)).data.safety?.status as string | undefined,
    published: async () => {
      const all = await Promise.all(
        events.map(async (event) =>
          (await publishedEvents(event)).filter((data) => data['meetingId'] === meetingId)
            .map((data) => ({ type: event.type, ...data }))
        )
      )
      return all.flat()
    }
  }
}

t.test('a meeting ends when its owner is hidden, its contact is to be notified once, and there is no alarm', async (t) => {
  const { activityId, meetingId, accountId, hide, arm, runAlarm, statusOf, published } = await givenMeeting()
  for (const _ of [1, 2]) await hide(true, 1_000)
  t.equal(await statusOf(), undefined)
  t.same(await published(), [{ type: MeetingEnded.type, meetingId, activityId, accountId }])
  await runAlarm()
  t.equal((await published()).length, 1)
  await hide(false, 2_000)
  t.match(await arm(), { status: 200, data: { safety: { status: 'ARMED' } } }, 'they can ask for it again')
})

t.test('a meeting that was armed as its owner was hidden ends when it is due', async (t) => {
  const { hide, arm, runAlarm, published } = await givenMeeting()
  await hide(true, 1_000)
  await arm()
  const { id } = await db.selectFrom('meetings').orderBy('id', 'desc').select('id').limit(1).executeTakeFirstOrThrow()
  await runAlarm()
  t.same(await db.selectFrom('meetings').where('id', '=', id).execute(), [])
  const ended = (await publishedEvents(MeetingEnded)).filter((data) => data['meetingId'] === id)
  t.equal(ended.length, 1)
  t.same((await publishedEvents(MeetingOverdue)).filter((data) => data['meetingId'] === id), [])
  t.equal((await published()).length, 1)
})

t.test('after the alarm, and when the owner is back before a late event, the meeting stays as it is', async (t) => {
  const alarmed = await givenMeeting()
  await alarmed.runAlarm()
  await alarmed.runAlarm()
  t.equal(await alarmed.statusOf(), 'ALARMED')
  await alarmed.hide(true, 1_000)
  t.equal(await alarmed.statusOf(), 'ALARMED', 'they can still give the all-clear once they are back')
  const silenced = async () =>
    (await publishedEvents(MeetingSilenced)).filter((data) => data['meetingId'] === alarmed.meetingId)
  const { activityId, meetingId, accountId } = alarmed
  t.same(await silenced(), [{ meetingId, activityId, accountId }], 'the contact is to be notified that none can come')
  await db.updateTable('meetings').where('id', '=', meetingId)
    .set({ ask_at: new Date(Date.now() - 8 * 86_400_000), alarm_at: new Date(Date.now() - 7.5 * 86_400_000) }).execute()
  await alarmed.hide(true, 1_000)
  t.equal((await silenced()).length, 1, 'after a week nobody waits for it')

  const late = await givenMeeting()
  await late.hide(false, 2_000)
  await late.hide(true, 1_000)
  t.equal(await late.statusOf(), 'ARMED')
})
