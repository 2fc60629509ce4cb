import { sql } from 'kysely'
import t from 'tap'
import { MeetingDisarmed } from '@tandem/contracts'
import { setSuspended } from '../safety/suspensions.ts'
import { runDueTimers } from '../activities/timers.ts'
import { activityApi } from '../test/activities.ts'
import { testApp, type Member } from '../test/app.ts'

// Every way out of an activity ends the safety check, long before the start, and notifies people who did not choose it.

const app = await testApp(t)
const { get, post, put, del, member, createMatch, publishedEvents, db, deps } = app
const { createWith, respond } = activityApi(app)

interface Situation {
  ana: Member
  ben: Member
  matchId: string
  id: string
}

/** Ben goes to an activity of Ana, and both have armed a meeting. */
async function givenArmed (): Promise<Situation> {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const matchId = await createMatch(ana, ben)
  const { id } = await createWith(ana, [ben])
  for (const each of [ana, ben]) {
    const { status } = await post(each.id, `/activities/${id}/safety`)
    if (status !== 200) throw new Error(`arming failed: ${status}`)
  }
  return { ana, ben, matchId, id }
}

const move = async ({ ana, id }: Situation) =>
  await put(ana.id, `/activities/${id}`, { startTime: '18:15', version: 1 })

const suspend = async ({ id: accountId }: Member) =>
  await db.transaction().execute(async (trx) => await setSuspended(trx, accountId, true))

interface Way {
  name: string
  go: (situation: Situation) => Promise<unknown>
  /** Who is notified. */
  told: ('ana' | 'ben')[]
  /** Whose meeting stays. */
  armed: ('ana' | 'ben')[]
}

const ways: Way[] = [
  { name: 'leaving', go: ({ ben, id }) => del(ben.id, `/activities/${id}/join`), told: [], armed: ['ana'] },
  {
    name: 'declining after a move',
    go: async (situation) => {
      await move(situation)
      await respond(situation.ben, situation.id, false, 2)
    },
    told: [],
    armed: ['ana']
  },
  {
    name: 'leaving after a move',
    go: async (situation) => {
      await move(situation)
      await del(situation.ben.id, `/activities/${situation.id}/join`)
    },
    told: [],
    armed: ['ana']
  },
  {
    name: 'not answering after a move, until the reserved place is released',
    go: async (situation) => {
      await move(situation)
      await sql`update activity_timers set due_at = now() - interval '1 second'
        where activity_id = ${situation.id} and kind = 'RELEASE'`.execute(db)
      await sql`update activities set starts_at = now() + interval '119 minutes' where id = ${situation.id}`.execute(db)
      await runDueTimers(db, deps.now)
    },
    told: ['ben'],
    armed: ['ana']
  },
  { name: 'a cancellation', go: ({ ana, id }) => del(ana.id, `/activities/${id}`), told: ['ben'], armed: [] },
  {
    name: 'a removal by the host',
    go: ({ ana, ben, id }) => del(ana.id, `/activities/${id}/participants/${ben.profileId}`),
    told: ['ben'],
    armed: ['ana']
  },
  {
    name: 'a block by the guest',
    go: ({ ana, ben }) => post(ben.id, '/fitmatch/block', { blockedProfileId: ana.profileId }),
    told: ['ana', 'ben'],
    armed: []
  },
  {
    name: 'an unmatch by the host',
    go: ({ ana, matchId }) => del(ana.id, `/fitmatch/chat/${matchId}`),
    told: ['ben'],
    armed: []
  },
  { name: 'a suspension of the guest', go: ({ ben }) => suspend(ben), told: ['ben'], armed: ['ana'] },
  { name: 'a suspension of the host', go: ({ ana }) => suspend(ana), told: ['ana', 'ben'], armed: [] },
  { name: 'the end of a profile', go: ({ ben }) => del(ben.id, '/fitmatch/profile'), told: ['ben'], armed: ['ana'] }
]

for (const { name, go, told, armed } of ways) {
  t.test(`${name} ends the safety check`, async (t) => {
    const situation = await givenArmed()
    await go(situation)
    const people = [['ana', situation.ana], ['ben', situation.ben]] as const
    const disarmed = (await publishedEvents(MeetingDisarmed)).filter(({ activityId }) => activityId === situation.id)
    for (const [who, { id: accountId }] of people) {
      const { data } = await get(accountId, `/activities/${situation.id}/safety`)
      t.equal(data.safety?.status ?? null, armed.includes(who) ? 'ARMED' : null, `the check of ${who}`)
      t.match(
        disarmed.filter((event) => event['accountId'] === accountId),
        told.includes(who) ? [{ reason: 'PLACE_ENDED' }] : [],
        `what ${who} learns`
      )
    }
    t.equal(disarmed.length, told.length)
  })
}
