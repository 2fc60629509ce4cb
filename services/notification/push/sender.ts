import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Counter, Histogram } from 'prom-client'
import { lookupArray } from '@tandem/database-kit'
import { retryAfter, type Outcome as JobOutcome } from '@tandem/queue-kit'
import { languageOfLocale } from '@tandem/http-kit'
import { createBatcher, type Log, Unavailable } from '@tandem/process-kit'
import type { FindPeople } from '../people/lookup.ts'
import type { Db, DeliveryStatus } from '../tables.ts'
import { renderText } from '../texts/texts.ts'
import type { Outcome, Provider } from './provider.ts'
import { claimDeliveries, findClaimDelayMs, readNewlyClaimed, type ClaimedDelivery } from './queries.ts'

const pushesTotal = new Counter({
  name: 'notification_pushes_total',
  help: 'Push attempts by outcome',
  labelNames: ['outcome'] as const
})
for (const outcome of ['sent', 'dead', 'later', 'refused'] satisfies Outcome['type'][]) pushesTotal.inc({ outcome }, 0)
const pushDelay = new Histogram({
  name: 'notification_push_delay_seconds',
  help: 'Time from when a push could be sent until the provider accepted it',
  labelNames: ['priority'] as const,
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3_600]
})

const MAX_AGE_HOURS = 24
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const MAX_RETRY_DELAY_MS = 10 * MINUTE_MS
// What is left of the lease after two attempts at the provider.
const PERSIST_TIMEOUT_MS = 8_000

interface PushSenderOptions {
  db: Db
  findPeople: FindPeople
  provider: Provider
  log: Log
  /** The first retry delay if the provider does not name one. */
  retryDelayMs?: number
}

/** Sends single pushes, and stores the results. */
export interface PushSender {
  /** Claims a delivery and sends it, if it is still due. */
  send(id: string): Promise<JobOutcome>
  /** Sends a delivery that this process claimed when it inserted it. */
  sendClaimed(id: string): Promise<JobOutcome>
}

export function createPushSender (
  { db, findPeople, provider, log, retryDelayMs = MINUTE_MS }: PushSenderOptions
): PushSender {
  const claim = createBatcher(async (ids: string[]) => await claimDeliveries(db, ids))
  // Pushes that were created together are read together. Without this, the first would be read alone, before the others.
  const read = createBatcher(async (ids: string[]) => await readNewlyClaimed(db, ids), { waitsForTurn: true })
  const finish = createBatcher(
    async (results: DeliveryResult[]) => await retryUntilPersisted(async () => await finishDeliveries(db, results)),
    { waitsForTurn: true }
  )

  return {
    async send (id) {
      const claimed = await claim(id)
      if (claimed) return await sendAndStore(claimed)
      const delayMs = await findClaimDelayMs(db, id)
      return delayMs === undefined ? undefined : retryAfter(Math.max(delayMs, 0) + 10)
    },
    async sendClaimed (id) {
      const claimed = await read(id)
      // Without a lease, the row belongs to another worker or to the sweep.
      return claimed && await sendAndStore(claimed)
    }
  }

  async function sendAndStore (claimed: ClaimedDelivery) {
    const { id, token } = claimed
    const skipped = skipReason(claimed)
    if (skipped) return await finish({ id, ...skipped })
    if (token === null) return await finish({ id, status: 'pruned', reason: 'the device has signed out' })

    const { language, timezone, actorName } = await resolveRecipient(findPeople, claimed)
    const startedAt = performance.now()
    const outcome = await provider.send({
      token,
      platform: claimed.platform,
      collapseId: claimed.notificationId,
      ...renderText({ ...claimed, actorName }, language, timezone),
      data: { notificationId: claimed.notificationId, type: claimed.type, ...claimed.data },
      badge: claimed.unread,
      urgent: !claimed.lowPriority
    })
    pushesTotal.inc({ outcome: outcome.type })
    log.info({
      deliveryId: id,
      notificationId: claimed.notificationId,
      outcome: outcome.type,
      reason: outcome.type === 'sent' ? outcome.note : outcome.reason
    }, 'attempted a push')
    if (outcome.type === 'later') return await retryLater(claimed, outcome)
    if (outcome.type === 'sent') {
      pushDelay.observe(
        { priority: claimed.lowPriority ? 'low' : 'high' },
        claimed.delaySeconds + (performance.now() - startedAt) / 1_000
      )
      return await finish({ id, status: 'sent', reason: outcome.note ?? null })
    }
    if (outcome.type === 'dead') await deleteDevice(db, claimed)
    return await finish({ id, status: outcome.type === 'dead' ? 'pruned' : 'failed', reason: outcome.reason })
  }

  async function retryLater (claimed: ClaimedDelivery, outcome: Extract<Outcome, { type: 'later' }>) {
    const { id, attempts } = claimed
    const delayMs = outcome.retryAfterMs ?? Math.min(retryDelayMs * 2 ** (attempts - 1), MAX_RETRY_DELAY_MS)
    const dueAt = nextAttemptAt(claimed, delayMs)
    if (!dueAt) return await finish({ id, status: 'failed', reason: outcome.reason })
    await retryUntilPersisted(async () => await reschedule(db, claimed, outcome.reason, dueAt))
    return retryAfter(dueAt.getTime() - Date.now())
  }
}

/** Deletes a device only with the token of this push: it may have registered a new one under its id meanwhile. */
async function deleteDevice (db: Db, { deviceId, accountId, token }: ClaimedDelivery) {
  await db.deleteFrom('devices').where('id', '=', deviceId).where('account_id', '=', accountId)
    .where('token', '=', token)
    .execute()
}

interface DeliveryResult {
  id: string
  status: DeliveryStatus
  reason: string | null
}

function skipReason (
  { isRemoved, isBlocked, isHidden, isRead, wasHeld, ageHours }: ClaimedDelivery
): Omit<DeliveryResult, 'id'> | undefined {
  if (isRemoved) return { status: 'muted', reason: 'the notification was deleted' }
  if (isBlocked) return { status: 'muted', reason: 'one of the two people has blocked the other' }
  if (isHidden) return { status: 'muted', reason: 'one of the two people is hidden' }
  if (wasHeld && isRead) return { status: 'muted', reason: 'the notification was read before the push was due' }
  if (!wasHeld && ageHours >= MAX_AGE_HOURS) {
    return { status: 'failed', reason: 'the push could not be sent within a day' }
  }
}

/**
 * When a push is tried again: after the delay plus up to a quarter of random jitter. Undefined if the push would be too
 * old by then.
 */
function nextAttemptAt ({ ageHours }: ClaimedDelivery, delayMs: number) {
  if (ageHours + delayMs / HOUR_MS < MAX_AGE_HOURS) return new Date(Date.now() + delayMs * (1 + Math.random() / 4))
}

async function finishDeliveries (db: Db, results: DeliveryResult[]): Promise<undefined[]> {
  await sql`
    update deliveries set
      status = result.status, reason = result.reason, claimed_until = null, finished_at = now()
    from unnest(
      ${lookupArray(results.map(({ id }) => id), 'uuid')},
      ${lookupArray(results.map(({ status }) => status), 'text')},
      ${lookupArray(results.map(({ reason }) => reason), 'text')}
    ) as result (id, status, reason)
    where deliveries.id = result.id and deliveries.status in ('pending', 'held')`.execute(db)
  return results.map(() => undefined)
}

async function reschedule (db: Db, { id, attempts }: ClaimedDelivery, reason: string, dueAt: Date) {
  await db.updateTable('deliveries')
    .set({ status: 'pending', reason, claimed_until: null, due_at: dueAt })
    .where('id', '=', id).where('attempts', '=', attempts).where('status', 'in', ['pending', 'held'])
    .execute()
}

/**
 * The language and time zone of the recipient and the name of the actor. While profile is unavailable, defaults replace
 * what is missing.
 */
async function resolveRecipient (
  findPeople: FindPeople,
  { accountId, actorId, actorName, locale, timezone }: ClaimedDelivery
) {
  const unknown = [...locale === null ? [accountId] : [], ...actorId && actorName === null ? [actorId] : []]
  const people = await findPeople(unknown).catch((error: unknown) => {
    if (error instanceof Unavailable) return []
    throw error
  })
  const find = (id: string | null) => people.find((person) => person.accountId === id)
  return {
    language: languageOfLocale(locale ?? find(accountId)?.locale ?? null),
    timezone: timezone ?? find(accountId)?.timezone ?? DEFAULT_TIMEZONE,
    actorName: actorName ?? find(actorId)?.name ?? null
  }
}

// A push that was accepted but not marked as sent would be sent again, so Postgres gets a while to come back.
async function retryUntilPersisted<Result> (write: () => Promise<Result>) {
  const deadline = Date.now() + PERSIST_TIMEOUT_MS
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await sleep(250)
    }
  }
}
