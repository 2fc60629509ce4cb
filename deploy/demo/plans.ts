import type { Member } from './member.ts'
import type { Random } from './random.ts'
import { openPlans, sharedPlans, type Plan } from './texts.ts'

const DAY_MS = 24 * 60 * 60_000
const HOUR_MS = 60 * 60_000
const FASTS = 5

interface Activity {
  id: string
  version: number
}

const plan = async ({ send }: Member, { inDays, ...fields }: Plan, more: object = {}) => {
  const date = new Date(Date.now() + inDays * DAY_MS).toISOString().slice(0, 10)
  return (await send<{ data: { activity: Activity } }>('POST', '/activities', { ...fields, ...more, date })).data
    .activity
}

const accept = async ({ send }: Member, { id, version }: Activity) =>
  await send('POST', `/activities/${id}/respond`, { accept: true, version })

/** A main person has one plan with each of three matches: they go to one, host one, and are invited to one. */
export async function planTogether (main: Member, [host, guest, other]: [Member, Member, Member]) {
  const userIds = [await main.accountId()]
  await accept(main, await plan(host, sharedPlans[0], { userIds, capacity: 4 }))
  const own = await plan(main, sharedPlans[1], {
    userIds: [await guest.accountId(), await other.accountId()],
    capacity: 3
  })
  await accept(guest, own)
  await plan(other, sharedPlans[2], { userIds })
}

/** Plans that anybody nearby can join, each of another member. */
export async function planOpenly (members: Member[], random: Random) {
  const activities = []
  for (const [index, fields] of openPlans.entries()) {
    activities.push(
      await plan(members[index]!, fields, {
        visibility: 'OPEN',
        capacity: random.integer(4, 10),
        // A few streets around the middle of Berlin.
        latitude: 52.52 + (random.next() - 0.5) * 0.06,
        longitude: 13.405 + (random.next() - 0.5) * 0.1
      })
    )
  }
  return activities
}

/** A main person has a buddy, is asked by another follower, and has asked a third. */
export async function makeBuddies (main: Member, [buddy, asking, asked]: [Member, Member, Member]) {
  const ask = async (from: Member, to: Member) =>
    (await from.send<{ data: { request: { id: string } } }>('POST', '/buddies/requests', {
      userId: await to.accountId(),
      sport: from.person.sports[0]
    })).data.request.id
  const id = await ask(buddy, main)
  await main.send('POST', `/buddies/requests/${id}/respond`, { accept: true })
  await ask(asking, main)
  await ask(main, asked)
}

/** Some fasts in the last days, and one that runs. */
export async function fast ({ send }: Member, random: Random) {
  const startedAt = (daysAgo: number) => Date.now() - 9 * HOUR_MS - daysAgo * DAY_MS
  for (let daysAgo = FASTS; daysAgo > 0; daysAgo--) {
    await send('POST', '/fasting', {
      plan: '16:8',
      startedAt: new Date(startedAt(daysAgo)).toISOString(),
      endedAt: new Date(startedAt(daysAgo) + random.integer(28, 34) / 2 * HOUR_MS).toISOString()
    })
  }
  await send('POST', '/fasting', { plan: '16:8', startedAt: new Date(startedAt(0)).toISOString() })
}
