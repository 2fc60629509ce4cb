import { randomUUID } from 'node:crypto'
import t from 'tap'
import { recordedEvents } from '@tandem/bus-kit/testing'
import { MeetingAlarmMailed, MeetingMailFailed } from '@tandem/contracts'
import { bearer, silentLog } from '@tandem/http-kit/testing'
import { createMailer } from '@tandem/mail-kit'
import { startSmtp } from '@tandem/mail-kit/faulty-smtp'
import { startRedis, until } from '@tandem/test-kit'
import { testApp } from '../test/app.ts'
import { meetingMailOutcomes } from './outcomes.ts'

// Alarms through a real mail server: what fitmatch hears, and when.

const [{ db, deps, app, person, receive }, redis, smtp] = await Promise.all([
  testApp(t),
  startRedis(t),
  startSmtp(t)
])
deps.mailer = createMailer({
  db,
  service: 'notification',
  smtpUrl: smtp.url,
  redisUrl: redis.url,
  from: 'Tandem <hello@tandem.test>',
  log: silentLog,
  sweepIntervalSeconds: 1,
  outcomes: meetingMailOutcomes
})
t.teardown(() => deps.mailer.close())
deps.mailer.start()

async function givenAlarm () {
  const [accountId, email] = [await person('Ana'), `mum-${randomUUID()}@example.com`]
  const contact = { account_id: accountId, name: 'Mum', email, locale: 'en', status: 'CONFIRMED' as const }
  await db.insertInto('trusted_contacts').values(contact).execute()
  const meeting = { accountId, meetingId: randomUUID(), activityId: randomUUID() }
  const tell = async (what: string, more = {}) => await receive(`fitmatch.meeting.${what}.v1`, { ...meeting, ...more })
  return {
    ...meeting,
    tell,
    received: () => smtp.received.filter(({ to }) => to.includes(email)),
    events: async () =>
      (await recordedEvents(db)).filter(({ data }) => (data as { meetingId?: string }).meetingId === meeting.meetingId),
    mails: async () =>
      await db.selectFrom('mails').where('recipient', '=', email).select(['status', 'attempts']).orderBy('id').execute()
  }
}

t.test('fitmatch hears that the contact was mailed after the server took the mail', async (t) => {
  const { meetingId, accountId, tell, events, received, mails } = await givenAlarm()
  await smtp.stop()
  await tell('overdue')
  await until(async () => (await mails()).some(({ attempts }) => attempts > 0))
  t.same(await events(), [], 'nothing yet')
  await smtp.start()
  await until(async () => (await events()).length > 0)
  t.equal(received().length, 1)
  t.match(await events(), [{ type: MeetingAlarmMailed.type, data: { meetingId, accountId, mailedAt: String } }])
})

t.test('an address that the server rejects for good is reported, of the alarm and of the first mail', async (t) => {
  const { meetingId, accountId, tell, events } = await givenAlarm()
  smtp.rejectionCode = 550
  t.teardown(() => smtp.rejectionCode = undefined)
  await tell('shared')
  await until(async () => (await events()).length === 1)
  await tell('shared', { version: 2 })
  await until(async () => (await events()).length === 2)
  await tell('overdue')
  await until(async () => (await events()).length === 3)
  const failed = { type: MeetingMailFailed.type }
  t.match(await events(), [
    { ...failed, data: { meetingId, accountId, isAlarm: false } },
    { ...failed, data: { meetingId, accountId, isAlarm: false } },
    { ...failed, data: { meetingId, accountId, isAlarm: true } }
  ])
})

t.test('a contact who leaves while the alarm waits for the server gets no mail, and fitmatch hears so', async (t) => {
  const { accountId, meetingId, tell, events, received, mails } = await givenAlarm()
  await smtp.stop()
  await tell('overdue')
  await until(async () => (await mails()).some(({ attempts }) => attempts > 0))
  const removed = await app.inject({
    method: 'DELETE',
    url: '/notifications/trusted-contact?confirm=true',
    headers: bearer(accountId)
  })
  t.equal(removed.statusCode, 200)
  await smtp.start()
  await until(async () => (await events()).length > 0)
  t.match(await events(), [{ type: MeetingMailFailed.type, data: { meetingId, isAlarm: true } }])
  t.same(received(), [])
})

t.test('an alarm that its all-clear supersedes did not fail', async (t) => {
  const { tell, events, received, mails } = await givenAlarm()
  await smtp.stop()
  await tell('overdue')
  await until(async () => (await mails()).some(({ attempts }) => attempts > 0))
  await tell('cleared')
  await smtp.start()
  await until(async () => (await mails()).every(({ status }) => status === 'sent' || status === 'failed'))
  t.equal(received().length, 1, 'the all-clear')
  t.same(await events(), [])
})
