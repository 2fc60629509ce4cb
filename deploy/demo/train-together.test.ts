import { randomUUID } from 'node:crypto'
import { codeMailedTo, PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import { withStack, type Stack } from '@tandem/rehearsals/kit/stack.ts'
import { createTandem, TandemError, type Tandem } from '@tandem/sdk'
import { startNats, until, type TestServer } from '@tandem/test-kit'
import pg from 'pg'
import t, { type Test } from 'tap'

const contact = 'contact@example.com'
const secondContact = 'second@example.com'
const sport = 'running'

t.test('two people train together', async (t) => {
  const nats = await startNats(t)
  await withStack(async (stack) => {
    const database = new pg.Client({ connectionString: stack.postgres.url })
    // Postgres may stop before this test has closed its connection.
    database.on('error', () => {})
    await database.connect()
    const context = { t, stack, nats, database, ...await meet(stack) }
    const id = await planAndAccept(context)
    await remind(context, id)
    await checkIn(context, id)
    await meetSafely(context, id)
    await loseContact(context, id)
    await logOnce(context, id)
    await refuse(context)
    await database.end()
  }, { NATS_URL: nats.url, LIMIT_PROFILE: 'relaxed' })
})

interface Person {
  api: Tandem
  id: string
  profileId: string
}

interface Context {
  t: Test
  stack: Stack
  nats: TestServer
  database: pg.Client
  ana: Person
  ben: Person
  matchId: string
}

async function join ({ gateway, ...stack }: Stack, name: string, birthDate?: string) {
  const api = createTandem({ url: gateway.url, language: 'en' })
  const email = `${name.toLowerCase()}@example.com`
  const { user: { id } } = await api.register({ body: { email, password: PASSWORD, name } })
  await api.verifyEmail({ body: { userId: id, code: await codeMailedTo({ gateway, ...stack }, email) } })
  const profile = { communityRulesAccepted: true, name, gender: 'FEMALE', completed: true } as const
  await api.saveOnboardingProfile({ body: { ...profile, ...(birthDate && { birthDate }) } })
  return { api, id }
}

/** Two adults with profiles, who are matched. */
async function meet (stack: Stack) {
  const member = async (name: string): Promise<Person> => {
    const { api, id } = await join(stack, name, '1995-05-05')
    return { api, id, profileId: (await api.createFitMatchProfile({ body: {} })).data.id }
  }
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await ana.api.swipe({ body: { targetProfileId: ben.profileId, swipeType: 'WORKOUT_BUDDY' } })
  const { data } = await ben.api.swipe({ body: { targetProfileId: ana.profileId, swipeType: 'WORKOUT_BUDDY' } })
  return { ana, ben, matchId: data.match?.matchId ?? '' }
}

const codeOf = async (work: Promise<unknown>) =>
  await work.then(() => 'no error', (error: unknown) => error instanceof TandemError ? error.code : String(error))

/** A plan that begins in 25 minutes, so that people can check in already. */
async function planAndAccept ({ t, ana, ben, matchId }: Context) {
  const start = Temporal.Now.zonedDateTimeISO('Etc/UTC').add({ minutes: 25 })
  const time = (minutes: number) => start.add({ minutes }).toPlainTime().toString({ smallestUnit: 'minute' })
  const { data: { activity } } = await ana.api.planActivity({
    body: {
      title: 'Evening run',
      sport,
      date: start.toPlainDate().toString(),
      startTime: time(0),
      endTime: time(90),
      timezone: 'Etc/UTC',
      locationName: 'Gate 5',
      profileIds: [ben.profileId]
    }
  })
  const path = { id: activity.id }
  t.same((await ben.api.getHome()).data.upcomingActivities, [], 'an invitation is not a plan')
  t.equal(await codeOf(ben.api.respondToInvitation({ path, body: { accept: true, version: 2 } })), 'ACTIVITY_CHANGED')
  await ben.api.respondToInvitation({ path, body: { accept: true, version: activity.version } })
  for (const { api } of [ana, ben]) {
    t.strictSame((await api.getHome()).data.upcomingActivities, [{
      id: activity.id,
      title: 'Evening run',
      sport,
      date: activity.date,
      startTime: time(0),
      endTime: time(90),
      locationName: 'Gate 5'
    }], 'exactly the seven fields')
    t.match((await api.getChat({ path: { matchId } })).data.activities, [{ id: activity.id }])
  }
  return activity.id
}

const titlesOf = async ({ api }: Person, type: string) =>
  (await api.listNotifications({ query: { limit: 50 } })).data.notifications
    .filter((notification) => notification.type === type).map(({ title }) => title)

const isReminder = (title: string) => /^Starts in \d+ (?:hour|minute)s?$/.test(title)

/** The reminder comes late, and says the time that is left. */
async function remind ({ t, database, ana, ben }: Context, id: string) {
  await database.query(
    `insert into fitmatch.activity_timers (activity_id, kind, due_at) values ($1, 'REMIND_1H', now())`,
    [id]
  )
  for (const person of [ana, ben]) {
    await until(async () => (await titlesOf(person, 'BOOKING')).some(isReminder))
  }
  t.same(await titlesOf(ben, 'SPORT_BUDDY'), [], 'an answered invitation is withdrawn')
  t.match((await titlesOf(ana, 'BOOKING')).sort(), ['Plan confirmed', /^Starts in/])
}

async function checkIn ({ t, ana, ben }: Context, id: string) {
  for (const { api } of [ana, ben]) {
    const { data } = await api.checkIn({ path: { id } })
    t.equal(data.workoutClientId, `activity:${id}`)
    t.same((await api.checkIn({ path: { id } })).data, data, 'a repeat gets the same answer')
  }
}

interface Mail {
  subject: string
  text: string
}

const mailsTo = async ({ mail }: Stack, address: string) =>
  (await (await fetch(`${mail.url}/api/mails?to=${address}`)).json() as Mail[]).toReversed()

const tokenIn = ({ text }: Mail) => /#token=([\w-]{43})/.exec(text)![1]!

/** Ben lets a trusted contact know, does not report back in time, and then does. The clock is moved twice. */
async function meetSafely ({ t, stack, database, ana, ben }: Context, id: string) {
  const path = { id }
  const mails = async () => await mailsTo(stack, contact)
  const waitForMail = async (subject: RegExp) => {
    await until(async () => (await mails()).some((mail) => subject.test(mail.subject)))
    return (await mails()).find((mail) => subject.test(mail.subject))!
  }
  await ben.api.setTrustedContact({ body: { name: 'Mum', email: contact } })
  const token = tokenIn(await waitForMail(/trusted contact/))
  t.equal(await codeOf(ben.api.armMeetingSafety({ path, body: {} })), 'NO_TRUSTED_CONTACT', 'not before they agree')
  await ben.api.answerAsTrustedContact({ body: { token, accept: true } })
  const seen = JSON.stringify((await ana.api.getActivity({ path })).data)
  await ben.api.armMeetingSafety({ path, body: { minutes: 60 } })
  t.match((await waitForMail(/going to train/)).text, /Gate 5[^]*Ana[^]*no emergency service/)
  t.equal(JSON.stringify((await ana.api.getActivity({ path })).data), seen, 'Ana learns nothing of it')

  await database.query('update fitmatch.meetings set ask_at = now(), due_at = now() where activity_id = $1', [id])
  await until(async () => (await titlesOf(ben, 'ACCOUNT')).includes('Are you safe?'))
  t.equal((await ben.api.getMeetingSafety({ path })).data.safety?.status, 'ARMED')
  await database.query(
    `update fitmatch.meetings set ask_at = now() - interval '1 hour', alarm_at = now(), due_at = now()
     where activity_id = $1`,
    [id]
  )
  t.match((await waitForMail(/not reported back/)).text, /Gate 5/)
  await until(async () => (await titlesOf(ben, 'ACCOUNT')).includes('Your trusted contact was notified'))
  const { data: { safety } } = await ben.api.reportSafe({ path })
  t.match(safety, { status: 'SAFE', contactToldAt: String })
  await waitForMail(/^Ben has reported back/)
  t.equal((await mails()).length, 4, 'the request, what is planned, the alarm, and the all-clear')
}

/** Ben arms a check again, and their contacts leave: one before the alarm, the other at its very moment. */
async function loseContact ({ t, stack, database, ben }: Context, id: string) {
  const path = { id }
  const safety = async () => (await ben.api.getMeetingSafety({ path })).data.safety
  const titles = async () => await titlesOf(ben, 'ACCOUNT')
  const raiseAlarm = async () =>
    await database.query(
      `update fitmatch.meetings set ask_at = now() - interval '1 hour', alarm_at = now(), due_at = now()
       where activity_id = $1 and status = 'ARMED'`,
      [id]
    )
  await ben.api.armMeetingSafety({ path, body: {} })
  t.equal(await codeOf(ben.api.removeTrustedContact()), 'CONTACT_NEEDED')
  const sent = 5
  await until(async () => (await mailsTo(stack, contact)).length === sent)
  await ben.api.answerAsTrustedContact({ body: { token: tokenIn((await mailsTo(stack, contact))[0]!), accept: false } })
  await until(async () => (await titles()).includes('Your safety check has ended'))
  t.equal(await safety(), null)
  await raiseAlarm()

  await ben.api.setTrustedContact({ body: { name: 'Dad', email: secondContact } })
  await until(async () => (await mailsTo(stack, secondContact)).length === 1)
  const token = tokenIn((await mailsTo(stack, secondContact))[0]!)
  await ben.api.answerAsTrustedContact({ body: { token, accept: true } })
  await ben.api.armMeetingSafety({ path, body: {} })
  await until(async () => (await mailsTo(stack, secondContact)).length === 2)
  const told = (await titles()).filter((title) => title === 'Your trusted contact was notified').length
  await Promise.all([raiseAlarm(), ben.api.answerAsTrustedContact({ body: { token, accept: false } })])
  await until(async () => {
    const current = await safety()
    return !current || current.contactToldAt !== null || current.contactFailedAt !== null
  })
  const outcome = await safety()
  const alarms = (await mailsTo(stack, secondContact)).filter(({ subject }) => /not reported back/.test(subject)).length
  t.equal(alarms, outcome?.contactToldAt ? 1 : 0, 'told means mailed')
  const expected = outcome?.contactToldAt
    ? 'Your trusted contact was notified'
    : outcome
    ? 'Your trusted contact was not notified'
    : 'Your safety check has ended'
  await until(async () => (await titles()).slice(0, 3).includes(expected))
  if (!outcome?.contactToldAt) {
    t.equal((await titles()).filter((title) => title === 'Your trusted contact was notified').length, told)
  }
  t.equal((await mailsTo(stack, contact)).length, sent, 'who left gets no more mails')
  if (outcome) await ben.api.reportSafe({ path })
}

/** The activity ends while the broker is away. Then the broker loses everything, three more times. */
async function logOnce ({ t, nats, database, ana, ben }: Context, id: string) {
  const workoutsOf = async ({ api }: Person) => (await api.listLogs({ query: { type: 'WORKOUT' } })).data.logs
  const unpublished = async () => {
    const { rows: [row] } = await database.query<{ count: number }>(
      `select count(*)::int as count from fitmatch.outbox where type = 'fitmatch.activity.attended.v1' and published_at is null`
    )
    return row!.count
  }
  await nats.kill()
  await database.query(
    `update fitmatch.activities set starts_at = now() - interval '91 minutes', ends_at = now() - interval '1 minute'
     where id = $1`,
    [id]
  )
  await database.query(
    `update fitmatch.activity_timers set due_at = now() where activity_id = $1 and kind = 'FINISH'`,
    [id]
  )
  await until(async () => await unpublished() === 2)
  await nats.wipe()
  await nats.start()
  for (const person of [ana, ben]) await until(async () => (await workoutsOf(person)).length === 1)
  for (let turn = 0; turn < 3; turn++) {
    await nats.wipe()
    await database.query(
      `update fitmatch.outbox set published_at = null where type = 'fitmatch.activity.attended.v1'`
    )
    await until(async () => await unpublished() === 0)
  }
  // The event of another run shows that the repeats before it have been consumed.
  const [startsAt, endsAt] = [25, 24].map((hours) => Temporal.Now.instant().subtract({ hours }).toString())
  await database.query(
    `insert into fitmatch.outbox (type, subject, data)
     select type, $1, data || jsonb_build_object('activityId', $1::text, 'startsAt', $2::text, 'endsAt', $3::text)
     from fitmatch.outbox where type = 'fitmatch.activity.attended.v1'`,
    [randomUUID(), startsAt, endsAt]
  )
  for (const person of [ana, ben]) {
    await until(async () => (await workoutsOf(person)).length > 1)
    const [workout, other, ...more] = await workoutsOf(person)
    t.match(workout, { clientId: `activity:${id}`, data: { title: 'Evening run', durationMinutes: 90 } })
    t.match(other, { data: { durationMinutes: 60 } })
    t.same(more, [], 'one workout each')
    t.equal((await person.api.getStats()).data.stats.totalXp, 220, 'with the points of one')
  }
}

/** Who cannot take part is refused by every POST. */
async function refuse ({ t, stack, database, ana, ben }: Context) {
  const { data: { activity } } = await ana.api.planActivity({
    body: {
      sport,
      date: Temporal.Now.plainDateISO('UTC').add({ days: 3 }).toString(),
      startTime: '18:00',
      endTime: '19:00',
      timezone: 'Etc/UTC',
      locationName: 'Gate 5',
      visibility: 'OPEN'
    }
  })
  const path = { id: activity.id }
  const posts = (api: Tandem) => [
    async () =>
      await api.planActivity({
        body: { sport, date: activity.date, startTime: '10:00', endTime: '11:00', locationName: 'Gate 6' }
      }),
    async () => await api.askToJoin({ path }),
    async () => await api.respondToInvitation({ path, body: { accept: true, version: 1 } }),
    async () => await api.checkIn({ path }),
    async () => await api.inviteToActivity({ path, body: { userIds: [ana.id] } }),
    async () => await api.repeatActivity({ path, body: { date: activity.date } }),
    async () => await api.answerJoinRequest({ path: { ...path, userId: ana.id }, body: { accept: true } }),
    async () => await api.armMeetingSafety({ path, body: {} }),
    async () => await api.requestBuddy({ body: { userId: ana.id, sport } })
  ]
  const codesOf = async (api: Tandem) => {
    const codes = new Set<string>()
    for (const post of posts(api)) codes.add(await codeOf(post()))
    return [...codes]
  }
  const young = await join(stack, 'Yuki', Temporal.Now.plainDateISO().subtract({ years: 17 }).toString())
  t.equal(await codeOf(young.api.createFitMatchProfile({ body: {} })), 'AGE_RESTRICTED')
  t.same(await codesOf(young.api), ['PROFILE_NOT_FOUND'], 'no profile')
  t.equal(await codeOf(young.api.startFast({ body: { plan: '16:8' } })), 'AGE_RESTRICTED', '17 years')
  const ageless = await join(stack, 'Nia')
  t.equal(await codeOf(ageless.api.startFast({ body: { plan: '16:8' } })), 'AGE_RESTRICTED', 'no birth date')
  const setProfile = async (assignment: string) =>
    await database.query(`update fitmatch.profiles set ${assignment} where account_id = $1`, [ben.id])
  await setProfile(`birth_date = current_date - 17 * 365`)
  t.same(await codesOf(ben.api), ['AGE_RESTRICTED'], '17 years')
  await setProfile('birth_date = null')
  t.same(await codesOf(ben.api), ['AGE_RESTRICTED'], 'no birth date')
  await setProfile(`birth_date = '1995-05-05', suspended = true`)
  t.same(await codesOf(ben.api), ['PROFILE_SUSPENDED'], 'suspended')
}
