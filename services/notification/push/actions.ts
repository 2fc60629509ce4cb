import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Counter, Histogram } from 'prom-client'
import { Unavailable } from '@tandem/bus-kit'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { retryAfter, type Outcome as JobOutcome } from '@tandem/queue-kit'
import { createBatcher, languageOfLocale } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { writeNotices } from '../inbox/actions.ts'
import { planNotification, type NotificationRequest } from '../inbox/planning.ts'
import { findRecipients } from '../inbox/recipients.ts'
import type { FindPeople } from '../people/lookup.ts'
import type { Db, DeliveryStatus } from '../tables.ts'
import { write } from '../texts/texts.ts'
import type { Provider } from './provider.ts'
import type { Waiting } from './pushes.ts'
import { claimDeliveries, findWait, type Claimed } from './queries.ts'

const counted = new Counter({ name: 'notification_pushes_total', help: 'Attempts at a push, by what came of them', labelNames: ['outcome'] as const })
const lateness = new Histogram({
  name: 'notification_push_delay_seconds',
  help: 'From when a push could be sent until the provider took it',
  labelNames: ['priority'] as const,
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3_600]
})

const GIVE_UP_AFTER_HOURS = 24
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const TEN_MINUTES = 10 * MINUTE
const LEASE_LEFT = 8_000

interface Delivering extends Pick<Deps, 'db' | 'findPeople'> {
  provider: Provider
  /** How long to wait, in milliseconds, where the provider does not say: a minute. */
  pause?: number
}

/** Gives what sends one push, if it is still to be sent, and writes down what came of it. */
export function createDelivery ({ db, findPeople, provider, pause = MINUTE }: Delivering): (id: string) => Promise<JobOutcome> {
  const claim = createBatcher(async (ids: string[]) => await claimDeliveries(db, ids))
  const finish = createBatcher(async (endings: Ending[]) => await persist(async () => await finishDeliveries(db, endings)))

  return async (id) => {
    const claimed = await claim(id)
    if (!claimed) {
      const wait = await findWait(db, id)
      return wait === undefined ? undefined : retryAfter(Math.max(wait, 0) + 10)
    }
    const { token, accountId, deviceId } = claimed
    const needless = skipReason(claimed)
    if (needless) return await finish({ id, ...needless })
    if (token === null) return await finish({ id, status: 'pruned', reason: 'the device has signed out' })

    const { language, timezone, actorName } = await resolveRecipient(findPeople, claimed)
    const sending = performance.now()
    const outcome = await provider.send({
      token,
      platform: claimed.platform,
      collapseId: claimed.noticeId,
      ...write({ ...claimed, actorName }, language, timezone),
      data: { notificationId: claimed.noticeId, type: claimed.type, ...claimed.data },
      badge: claimed.unread,
      urgent: !claimed.low
    })
    counted.inc({ outcome: outcome.is })
    switch (outcome.is) {
      case 'sent':
        lateness.observe({ priority: claimed.low ? 'low' : 'high' }, claimed.waited + (performance.now() - sending) / 1_000)
        return await finish({ id, status: 'sent', reason: outcome.note ?? null })
      case 'refused': return await finish({ id, status: 'failed', reason: outcome.reason })
      case 'dead':
        // The token too: meanwhile the device may have registered a new one under its id.
        await db.deleteFrom('devices').where('id', '=', deviceId).where('account_id', '=', accountId).where('token', '=', token).execute()
        return await finish({ id, status: 'pruned', reason: outcome.reason })
      case 'later': {
        const dueAt = nextAttemptAt(claimed, outcome.wait ?? Math.min(pause * 2 ** (claimed.attempts - 1), TEN_MINUTES))
        if (!dueAt) return await finish({ id, status: 'failed', reason: outcome.reason })
        await persist(async () => await putOff(db, claimed, outcome.reason, dueAt))
        return retryAfter(dueAt.getTime() - Date.now())
      }
    }
  }
}

interface Ending { id: string, status: DeliveryStatus, reason: string | null }

function skipReason ({ isRemoved, isBlocked, isRead, wasHeld, hours }: Claimed): Omit<Ending, 'id'> | undefined {
  if (isRemoved) return { status: 'muted', reason: 'the notification was deleted' }
  if (isBlocked) return { status: 'muted', reason: 'one of the two has blocked the other' }
  if (wasHeld && isRead) return { status: 'muted', reason: 'it was read before it was due' }
  if (!wasHeld && hours >= GIVE_UP_AFTER_HOURS) return { status: 'failed', reason: 'it could not be sent within a day' }
}

/** When a push is tried again: after `wait` milliseconds and a little, so that not all come at once. Undefined when that is too late to be news. */
function nextAttemptAt ({ hours }: Claimed, wait: number) {
  if (hours + wait / HOUR < GIVE_UP_AFTER_HOURS) return new Date(Date.now() + wait * (1 + Math.random() / 4))
}

async function finishDeliveries (db: Db, endings: Ending[]): Promise<undefined[]> {
  await sql`
    update deliveries set status = ending.status, reason = ending.reason, claimed_until = null, finished_at = now()
    from unnest(${endings.map(({ id }) => id)}::uuid[], ${endings.map(({ status }) => status)}::text[], ${endings.map(({ reason }) => reason)}::text[])
      as ending (id, status, reason)
    where deliveries.id = ending.id and deliveries.status in ('pending', 'held')`.execute(db)
  return endings.map(() => undefined)
}

async function putOff (db: Db, { id, attempts }: Claimed, reason: string, dueAt: Date) {
  await db.updateTable('deliveries')
    .set({ status: 'pending', reason, claimed_until: null, due_at: dueAt })
    .where('id', '=', id).where('attempts', '=', attempts).where('status', 'in', ['pending', 'held'])
    .execute()
}

/** What the text needs of people; whom nobody knows is no reason to keep silent. */
async function resolveRecipient (findPeople: FindPeople, { accountId, actorId, actorName, locale, timezone }: Claimed) {
  const unknown = [...locale === null ? [accountId] : [], ...actorId && actorName === null ? [actorId] : []]
  const people = await findPeople(unknown).catch((error: unknown) => {
    if (error instanceof Unavailable) return []
    throw error
  })
  const find = (id: string | null) => people.find((person) => person.accountId === id)
  return {
    language: languageOfLocale(locale ?? find(accountId)?.locale ?? null),
    timezone: timezone ?? find(accountId)?.timezone ?? 'UTC',
    actorName: actorName ?? find(actorId)?.name ?? null
  }
}

// A push that was taken and cannot be marked would be sent again, so Postgres gets a while to come back.
async function persist<Result> (write: () => Promise<Result>) {
  const until = Date.now() + LEASE_LEFT
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (Date.now() > until) throw error
      await sleep(250)
    }
  }
}

/** Pushes a word to all devices of somebody, muted or not; returns to how many. */
export async function testPush (deps: Deps, accountId: string, key: IdempotencyKey | undefined) {
  const [[recipient] = []] = await findRecipients(deps, [{ to: [accountId], actorId: null }])
  let waiting: Waiting[] = []
  const devices = await withIdempotencyKey(deps.db, key, async (trx) => {
    if (!recipient) return 0
    const now = deps.now()
    const telling: NotificationRequest = { kind: 'pushTest', cause: `test:${randomUUIDv7()}`, to: [accountId] }
    const written = await writeNotices(trx, [planNotification(telling, recipient, { now, happenedAt: now })])
    waiting = [...written.waiting.values()].flat()
    return waiting.length
  })
  await deps.pushes.offer(waiting)
  return devices
}
