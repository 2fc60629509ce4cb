import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { turnOff } from '@tandem/brand-kit/testing'
import { recordedEvents } from '@tandem/bus-kit/testing'
import { MeetingMailFailed, PersonHidden, TrustedContactEnded } from '@tandem/contracts'
import { pendingMails } from '@tandem/mail-kit/testing'
import { testApp } from '../test/app.ts'
import { handleTrustedContactStatus } from '../trusted-contact/rpc.ts'
import { addressDigest } from '../trusted-contact/tokens.ts'

const { reset, deps } = await testApp(t)

function setUp () {
  const fixture = reset()
  const { db, neighbours, person, receive } = fixture
  neighbours.meeting = {
    title: 'Evening run',
    timezone: 'Asia/Jakarta',
    startsAt: '2026-11-28T11:00:00.000Z',
    endsAt: '2026-11-28T12:30:00.000Z',
    locationName: 'Gelora, gate 5. See https://evil.example',
    branch: null,
    city: 'Jakarta',
    latitude: -6.21,
    longitude: 106.8,
    companions: ['Ben']
  }
  return {
    ...fixture,
    owner: async (status: 'PENDING' | 'CONFIRMED' | 'DECLINED' | 'NONE' = 'CONFIRMED', locale = 'en') => {
      const [accountId, email] = [await person('Ana'), `mum-${randomUUID()}@example.com`]
      if (status !== 'NONE') {
        await db.insertInto('trusted_contacts').values({ account_id: accountId, name: 'Mum', email, locale, status })
          .execute()
      }
      return { accountId, email, meetingId: randomUUID(), activityId: randomUUID() }
    },
    tell: async (
      what: string,
      { accountId, meetingId, activityId }: Record<'accountId' | 'meetingId' | 'activityId', string>
    ) => await receive(`fitmatch.meeting.${what}.v1`, { accountId, meetingId, activityId }),
    eventsOf: async ({ accountId }: { accountId: string }) =>
      (await recordedEvents(db)).filter(({ data }) => (data as { accountId?: string }).accountId === accountId),
    mailsTo: async (email: string) => (await pendingMails(db)).filter(({ recipient }) => recipient === email)
  }
}

t.test('the contact is mailed who, where and when, then the alarm, then the all-clear, each once', async (t) => {
  const { owner, tell, mailsTo, inbox, device, deliverAll, provider, send } = setUp()
  const meeting = await owner()
  const { accountId, email } = meeting
  await device(accountId)
  await send(accountId, 'PUT', '/notifications/preferences', {
    categories: { ACCOUNT: { push: false, inApp: true } },
    quietHours: { enabled: true, start: '00:00', end: '23:59' }
  })
  for (const _ of [1, 2]) await tell('shared', meeting)
  const [shared, ...none] = await mailsTo(email)
  t.equal(none.length, 0)
  t.equal(shared!.subject, 'Ana is going to train with others')
  t.match(shared!.text, /Where: Gelora, gate 5 See https \/\/evil example, Jakarta \(-6\.21, 106\.8\)/)
  t.match(shared!.text, /When: Saturday,? November 28, 2026,? (at )?6:00\s–\s7:30\sPM \(Asia\/Jakarta\)/)
  t.match(shared!.text, /With: Ben/)
  t.match(shared!.text, /no emergency service/)
  t.match(shared!.text, /trusted-contact#token=/)

  for (const _ of [1, 2]) await tell('asked', meeting)
  t.match((await inbox(accountId)).notifications, [{
    title: 'Are you safe?',
    data: { activityId: meeting.activityId }
  }])
  await deliverAll()
  t.match(provider.sent, [{ title: 'Are you safe?' }], 'neither a muted category nor quiet hours hold it')
  t.equal((await mailsTo(email)).length, 1, 'asking mails nothing')

  for (const _ of [1, 2]) await tell('overdue', meeting)
  const overdue = (await mailsTo(email)).at(-1)
  t.equal(overdue!.subject, 'Ana has not reported back')
  t.match(overdue!.text, /Where: Gelora/)
  t.equal((await mailsTo(email)).length, 2)

  for (const _ of [1, 2]) await tell('cleared', meeting)
  const last = (await mailsTo(email)).at(-1)
  t.equal(last!.subject, 'Ana has reported back')
  t.match(last!.text, /no emergency service/)
  await tell('overdue', meeting)
  t.equal((await mailsTo(email)).at(-1)!.subject, 'Ana has reported back', 'nothing follows the all-clear')
})

t.test('the all-clear goes to the contact who got the alarm, also after another one was chosen', async (t) => {
  const { db, owner, tell, mailsTo, send, receive, neighbours, person } = setUp()
  const subjectsTo = async (email: string) => (await mailsTo(email)).map(({ subject }) => subject)
  /** An alarm that was sent, and another contact since. */
  async function givenAlarm ({ isSent = true } = {}) {
    const meeting = await owner()
    await tell('overdue', meeting)
    if (isSent) {
      await sql`
        update mails set status = 'sent', sent_at = now(), subject = null, body_text = null, body_html = null
        where recipient = ${meeting.email}`.execute(db)
    }
    const contact = {
      account_id: meeting.accountId,
      name: 'Dad',
      email: `dad-${randomUUID()}@example.com`,
      locale: 'en'
    }
    return {
      ...meeting,
      other: contact.email,
      replace: async () => {
        const path = '/notifications/trusted-contact'
        t.equal((await send(meeting.accountId, 'DELETE', `${path}?confirm=true`)).status, 200)
        await db.insertInto('trusted_contacts').values({ ...contact, status: 'CONFIRMED' }).execute()
      }
    }
  }

  const replaced = await givenAlarm()
  await replaced.replace()
  for (const _ of [1, 2]) await tell('cleared', replaced)
  const [mail, ...none] = await mailsTo(replaced.email)
  t.match([mail, none], [{ subject: 'Ana has reported back', text: /trusted-contact#token=/ }, { length: 0 }])
  t.same(await subjectsTo(replaced.other), [], 'who got no alarm')

  const unsent = await givenAlarm({ isSent: false })
  await unsent.replace()
  await tell('cleared', unsent)
  t.same(await subjectsTo(unsent.email), [])

  const refusing = await givenAlarm()
  await db.insertInto('trusted_contact_refusals')
    .values({ account_id: refusing.accountId, address_digest: addressDigest(refusing.email) }).execute()
  const blocked = await givenAlarm()
  const mum = await person('Mum')
  neighbours.contacts.set(mum, { email: blocked.email, name: 'Mum', locale: 'en' })
  for (const each of [refusing, blocked]) await each.replace()
  await receive('fitmatch.person.blocked.v1', { blockerId: blocked.accountId, blockedId: mum })
  for (const each of [refusing, blocked]) {
    await tell('cleared', each)
    t.same(await subjectsTo(each.email), [])
  }
})

t.test('the contact is mailed each version of an activity once', async (t) => {
  const { owner, tell, mailsTo, neighbours, receive } = setUp()
  const { email, ...meeting } = await owner()
  await tell('shared', meeting)
  for (const [version, locationName] of [[2, 'Gate 7'], [2, 'Gate 7'], [3, 'Gate 9']] as const) {
    neighbours.meeting = { ...neighbours.meeting!, locationName }
    await receive('fitmatch.meeting.shared.v1', { ...meeting, version })
  }
  const [first, second, third, ...none] = await mailsTo(email)
  t.same(none, [])
  t.match(first!.text, /Where: Gelora/)
  t.match(second!.text, /Where: Gate 7/)
  t.match(third!.text, /Where: Gate 9/)
})

t.test('without activities, no contact is mailed', async (t) => {
  const { owner, tell, mailsTo } = setUp()
  const meeting = await owner()
  turnOff(t, 'activities')
  for (const each of ['shared', 'overdue', 'cleared', 'ended', 'silenced'] as const) await tell(each, meeting)
  t.strictSame(await mailsTo(meeting.email), [])
})

t.test('a late question whether a person is safe is not pushed once they need not report back', async (t) => {
  const { owner, tell, device, deliverAll, provider, neighbours } = setUp()
  for (const status of ['SAFE', 'NONE', 'ALARMED', 'ARMED'] as const) {
    provider.sent.length = 0
    const meeting = await owner()
    await device(meeting.accountId)
    await tell('asked', meeting)
    neighbours.meetingStatus = status
    await deliverAll()
    t.equal(provider.sent.length, status === 'SAFE' || status === 'NONE' ? 0 : 1, status)
  }
  const meeting = await owner()
  await device(meeting.accountId)
  await tell('asked', meeting)
  neighbours.isUnavailable = true
  await deliverAll()
  t.equal(provider.sent.length, 2, 'a question too many is better than one too few')
})

t.test('an alarm that arrives after its all-clear mails nothing, and at once they agree', async (t) => {
  const { db, owner, tell, mailsTo } = setUp()
  const late = await owner()
  await tell('cleared', late)
  await tell('overdue', late)
  t.same(await mailsTo(late.email), [])

  for (const turn of Array.from({ length: 30 }, (_, index) => index)) {
    const meeting = await owner()
    const both = turn % 2 ? ['overdue', 'cleared'] : ['cleared', 'overdue']
    await Promise.all(both.map(async (what) => await tell(what, meeting)))
    const mails = await db.selectFrom('mails').where('recipient', '=', meeting.email).select('dedupe_key').execute()
    const kinds = mails.map(({ dedupe_key }) => dedupe_key.split(':')[0])
    if (kinds.length !== 0) {
      t.strictSame(new Set(kinds), new Set(['meeting-overdue', 'meeting-cleared']), `round ${turn}`)
    }
  }
})

t.test('a meeting that has ended before its event arrives is not shared', async (t) => {
  const { owner, tell, mailsTo, neighbours } = setUp()
  for (const status of ['SAFE', 'NONE', 'ARMED', 'ALARMED'] as const) {
    const meeting = await owner()
    neighbours.meetingStatus = status
    await tell('shared', meeting)
    t.equal((await mailsTo(meeting.email)).length, status === 'SAFE' || status === 'NONE' ? 0 : 1, status)
  }
})

t.test('an alarm that arrives after the person has reported back mails nothing', async (t) => {
  const { owner, tell, mailsTo, neighbours } = setUp()
  const meeting = await owner()
  neighbours.meetingStatus = 'SAFE'
  await tell('overdue', meeting)
  await tell('cleared', meeting)
  t.same(await mailsTo(meeting.email), [])
})

t.test('only a contact who has agreed gets anything; without one, fitmatch hears so each time', async (t) => {
  const { owner, tell, mailsTo, eventsOf } = setUp()
  for (const status of ['NONE', 'PENDING', 'DECLINED', 'CONFIRMED'] as const) {
    const meeting = await owner(status)
    for (const what of ['shared', 'overdue', 'cleared']) await tell(what, meeting)
    t.equal((await mailsTo(meeting.email)).length > 0, status === 'CONFIRMED', status)
    t.match(
      await eventsOf(meeting),
      status === 'CONFIRMED' ? [] : [
        { type: TrustedContactEnded.type },
        { type: MeetingMailFailed.type, data: { meetingId: meeting.meetingId, isAlarm: true, failedAt: String } }
      ]
    )
    t.equal(await handleTrustedContactStatus(deps).handle({ accountId: meeting.accountId }), status)
  }
})

t.test('the contact of a person who can no longer report back learns that no mail follows, and the person too', async (t) => {
  const { owner, tell, mailsTo, inbox, neighbours, receive } = setUp()
  const meeting = await owner()
  await tell('shared', meeting)
  neighbours.meeting = null
  // As in the 14 days before the deletion of their account.
  await receive(PersonHidden.type, { accountId: meeting.accountId, hidden: true })
  for (const _ of [1, 2]) await tell('ended', meeting)
  const mails = await mailsTo(meeting.email)
  t.same(mails.map(({ subject }) => subject), [
    'Ana is going to train with others',
    'The safety check of Ana has ended'
  ])
  t.match(mails[1]!.text, /because their account was closed or paused/)
  t.match((await inbox(meeting.accountId)).notifications, [{ title: 'Your safety check has ended' }])

  const declined = await owner('DECLINED')
  await tell('ended', declined)
  t.same(await mailsTo(declined.email), [])
})

t.test('after the alarm, its contact learns once that no all-clear can come, and gets one if it does', async (t) => {
  const { owner, tell, mailsTo, inbox, neighbours } = setUp()
  const meeting = await owner()
  neighbours.meeting = null
  await tell('overdue', meeting)
  for (const _ of [1, 2]) await tell('silenced', meeting)
  const subjects = async ({ email }: { email: string }) => (await mailsTo(email)).map(({ subject }) => subject)
  t.same(await subjects(meeting), ['Ana has not reported back', 'Ana cannot report back'])
  t.match((await mailsTo(meeting.email))[1]!.text, /because their account was closed or paused/)
  t.same((await inbox(meeting.accountId)).notifications, [])
  for (const what of ['cleared', 'silenced']) await tell(what, meeting)
  t.same((await subjects(meeting)).at(-1), 'Ana has reported back')

  const disordered = await owner()
  for (const what of ['silenced', 'overdue']) await tell(what, disordered)
  t.same(await subjects(disordered), ['Ana cannot report back', 'Ana has not reported back'])
  const declined = await owner('DECLINED')
  for (const what of ['overdue', 'silenced']) await tell(what, declined)
  t.same(await mailsTo(declined.email), [])
})

t.test('a contact who is no longer eligible gets no alarm, and fitmatch hears so; without identity they get it', async (t) => {
  const { owner, tell, mailsTo, eventsOf, neighbours } = setUp()
  const [banned, unknown] = [await owner(), await owner()]
  const contact = { email: banned.email, name: 'Mum', locale: 'en', isBannedOrLeaving: true }
  neighbours.contacts.set(randomUUID(), contact)
  t.equal(await handleTrustedContactStatus(deps).handle({ accountId: banned.accountId }), 'NONE')
  for (const what of ['shared', 'overdue', 'cleared', 'ended']) await tell(what, banned)
  t.same(await mailsTo(banned.email), [])
  t.match(await eventsOf(banned), [{ type: TrustedContactEnded.type }, { type: MeetingMailFailed.type }])

  neighbours.isIdentityUnavailable = true
  t.equal(await handleTrustedContactStatus(deps).handle({ accountId: unknown.accountId }), 'CONFIRMED')
  await tell('overdue', unknown)
  t.equal((await mailsTo(unknown.email)).length, 1)
})

t.test('a mail is in the language of the contact, is sent without an activity, and waits for fitmatch', async (t) => {
  const { owner, tell, mailsTo, neighbours } = setUp()
  const meeting = await owner('CONFIRMED', 'id')
  neighbours.isUnavailable = true
  await t.rejects(tell('overdue', meeting), { code: 'SERVICE_UNAVAILABLE' })
  t.same(await mailsTo(meeting.email), [])
  neighbours.isUnavailable = false
  neighbours.meeting = null
  await tell('overdue', meeting)
  t.match(await mailsTo(meeting.email), [{ subject: 'Ana belum memberi kabar', text: /Email pertama memuat tempat/ }])
})

t.test('a contact ends it as an alarm is mailed: no mail, or one that is withdrawn if it was not sent yet', async (t) => {
  const { db, app, owner, tell, mailsTo, eventsOf } = setUp()
  const outcomes = new Set<number>()
  for (const turn of Array.from({ length: 30 }, (_, index) => index)) {
    const meeting = await owner()
    await tell('shared', meeting)
    const token = /#token=([\w-]{43})/.exec((await mailsTo(meeting.email))[0]!.text)![1]!
    const decline = async () => {
      const payload = { token, accept: false }
      const { statusCode } = await app.inject({ method: 'POST', url: '/notifications/trusted-contact/answer', payload })
      if (statusCode !== 200) throw new Error(`declining failed: ${statusCode}`)
    }
    const alarm = async () => await tell('overdue', meeting)
    // One after the other in either order, and at once.
    if (turn === 0) await alarm()
    if (turn === 1) await decline()
    await Promise.all((turn % 2 ? [alarm, decline] : [decline, alarm]).map(async (call) => await call()))
    t.same(await mailsTo(meeting.email), [], 'they get no more mails')
    const alarms = await db.selectFrom('mails').where('dedupe_key', '=', `meeting-overdue:${meeting.meetingId}`)
      .select('id').execute()
    const failed = (await eventsOf(meeting)).filter(({ type }) => type === MeetingMailFailed.type)
    // A withdrawn mail fails when its turn comes.
    t.equal(alarms.length + failed.length, 1, `round ${turn}`)
    outcomes.add(alarms.length)
  }
  t.equal(outcomes.size, 2)
})
