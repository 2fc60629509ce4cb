import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Fault, SendRequest } from '../../../services/notification/test/fake-fcm.ts'
import { readStack } from '../kit/stack.ts'
import { createLevels, publishPaced, waitUntilDelivered } from './load.ts'
import { createPeople, numberOf, tokenOf } from './people.ts'
import type { World } from './world.ts'

const PEOPLE = 2_500
const DEVICES = 2
const KILLS = 20
const PER_SECOND = 12

const UNREGISTERED = { status: 404, code: 'UNREGISTERED' }
const QUOTA_EXCEEDED = { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 5 }
const UNAVAILABLE = { status: 503, code: 'UNAVAILABLE' }
// Seven of twenty tokens meet a fault: always, if they are unregistered, and otherwise only at the first attempt.
const faultsByToken: (Fault | undefined)[] = [
  UNREGISTERED,
  QUOTA_EXCEEDED,
  UNAVAILABLE,
  undefined,
  'silence',
  UNREGISTERED,
  QUOTA_EXCEEDED,
  UNAVAILABLE
]
const faultOf = (token: string) => faultsByToken[numberOf(token) % 20]
const isUnregistered = (token: string) => faultOf(token) === UNREGISTERED

/** Sends 5,000 pushes, a third of which meet a fault, while the notification service is killed 20 times. */
export async function faults (world: World) {
  const { db, provider } = world
  const accounts = await createPeople(db, PEOPLE, DEVICES)
  provider.respondWith(({ token }, attempt) => attempt === 1 || isUnregistered(token) ? faultOf(token) : undefined)

  const publishing = publishPaced(db, createLevels(accounts, PEOPLE), PER_SECOND)
  const killedAt = await killRepeatedly(world)
  await publishing
  console.log(`${KILLS} kills in ${((killedAt.at(-1)! - killedAt[0]!) / 1_000).toFixed(0)} s`)
  await waitUntilDelivered(world, 240)

  await checkNotifications(world)
  checkSends(world, killedAt)
}

/** @returns the time of each kill */
async function killRepeatedly ({ dataDir, random }: World) {
  const killedAt: number[] = []
  const killed = new Set<number>()
  while (killed.size < KILLS) {
    const { pid } = (await readStack(dataDir)).services['notification']!
    if (!pid || killed.has(pid)) {
      await sleep(50)
      continue
    }
    await sleep(500 + random() * 2_500)
    process.kill(pid, 'SIGKILL')
    killedAt.push(Date.now())
    killed.add(pid)
  }
  return killedAt
}

async function checkNotifications ({ db, check }: World) {
  const deliveries = await sql<{ status: string, count: number }>`
    select status, count(*)::int as count from notification.deliveries group by status`.execute(db)
  const { rows: [notifications] } = await sql<{ count: number, people: number, unread: number }>`
    select count(*)::int as count, count(distinct account_id)::int as people,
      count(*) filter (where listed and removed_at is null and read_at is null)::int as unread
    from notification.notifications`.execute(db)
  console.log(`notifications ${JSON.stringify(notifications)}, deliveries ${JSON.stringify(deliveries.rows)}`)
  check(
    notifications?.count === PEOPLE && notifications.people === PEOPLE && notifications.unread === PEOPLE,
    'each person gets one notification, which is unread'
  )
}

function checkSends ({ provider, check }: World, killedAt: number[]) {
  const sendsByToken = Map.groupBy(provider.seen, ({ token }) => token)
  const tally = {
    tokens: PEOPLE * DEVICES,
    sends: provider.seen.length,
    unregistered: 0,
    unregisteredTwice: 0,
    missing: 0,
    otherCollapseId: 0,
    repeated: 0,
    unexplained: 0,
    early: 0,
    forgotten: 0
  }
  for (let number = 0; number < tally.tokens; number++) {
    const token = tokenOf(number)
    const sends = sendsByToken.get(token) ?? []
    if (isUnregistered(token)) {
      tally.unregistered++
      if (sends.length > 1) tally.unregisteredTwice++
    } else if (!sends.some(({ status }) => status === 200)) tally.missing++
    if (new Set(sends.map(({ message }) => message.android.collapse_key)).size > 1) tally.otherCollapseId++
    for (const [index, next] of sends.slice(1).entries()) {
      const kind = classifyRepeat(sends[index]!, next, killedAt)
      if (kind === 'unexplained') tally.repeated++
      if (kind) tally[kind]++
    }
  }
  console.log(JSON.stringify(tally))
  check(tally.missing === 0, 'every registered token received its push')
  check(tally.early === 0, 'no push was repeated before its time')
  check(
    tally.unexplained === 0 && tally.otherCollapseId === 0,
    'only a kill led to a second send, with the same collapse id'
  )
}

/** Returns why `next` follows `previous` on the same token, or undefined for a retry that is in order. */
function classifyRepeat (previous: SendRequest, next: SendRequest, killedAt: number[]) {
  const waitedMs = next.at - previous.at
  if ((previous.status === 429 && waitedMs < 5_000) || (previous.status === 503 && waitedMs < 60_000)) {
    // A worker that is killed before it stores the response loses it, and its lease is shorter than the wait.
    const kill = killedAt.find((at) => at >= previous.at - 50 && at <= previous.at + 500)
    const when = kill === undefined ? 'at another time' : `${kill - previous.at} ms after the response`
    console.log(`response ${previous.status}, repeated after ${waitedMs} ms; killed ${when}`)
    return kill !== undefined && waitedMs > 25_000 ? 'forgotten' : 'early'
  }
  if (previous.status !== 200 && previous.status !== 404) return
  // It was accepted, or rejected for good. Only a worker that was killed before it stored that may repeat it.
  return killedAt.some((at) => at >= previous.at - 50 && at <= next.at) ? 'repeated' : 'unexplained'
}
