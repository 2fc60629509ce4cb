import { textsOf } from '@tandem/brand-kit'
import { Counter, Histogram } from 'prom-client'
import type { CallRpc } from '@tandem/bus-kit'
import { DEFAULT_TIMEZONE, MeetingStatus } from '@tandem/contracts'
import { retryAfter, type Outcome as JobOutcome } from '@tandem/queue-kit'
import { createBatcher, type Log, Unavailable, untilPersisted } from '@tandem/process-kit'
import type { FindPeople } from '../people/lookup.ts'
import type { Db } from '../tables.ts'
import { isAlwaysPushed, isOffered, type Kind } from '../texts/kinds.ts'
import { renderText } from '../texts/texts.ts'
import type { Outcome, Provider } from './provider.ts'
import {
  claimDeliveries,
  findClaimDelayMs,
  listGoneNotifications,
  finishDeliveries,
  postponeDelivery,
  readPushContents,
  type ClaimedDelivery,
  type DeliveryResult,
  type PushContent
} from './queries.ts'

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

const MAX_DELAY_SECONDS = 24 * 60 * 60
const MINUTE_MS = 60_000
const MAX_RETRY_DELAY_MS = 10 * MINUTE_MS
// What is left of the lease after two attempts at the provider. A push that was accepted but not marked as sent would be
// sent again.
const PERSIST_TIMEOUT_MS = 8_000

export interface PushSenderOptions {
  db: Db
  callRpc: CallRpc
  findPeople: FindPeople
  provider: Provider
  log: Log
  /** The first retry delay if the provider does not name one. */
  retryDelayMs?: number
}

/** Returns a function that sends one push: it claims the delivery, sends it if it is still due, and stores the result. */
export function createPushSender (
  { db, callRpc, findPeople, provider, log, retryDelayMs = MINUTE_MS }: PushSenderOptions
): (id: string) => Promise<JobOutcome> {
  // Pushes that are sent at once share these statements: a broadcast takes a fifth of the time.
  const claim = createBatcher(async (ids: string[]) => await claimDeliveries(db, ids))
  const read = createBatcher(async (ids: string[]) => await readPushContents(db, ids))
  const finish = createBatcher(async (results: (DeliveryResult & { id: string })[]) => {
    await untilPersisted(async () => await finishDeliveries(db, results), Date.now() + PERSIST_TIMEOUT_MS)
    return results.map(() => undefined)
  })

  return async (id) => {
    const delivery = await claim(id)
    if (!delivery) {
      const delayMs = await findClaimDelayMs(db, id)
      return delayMs === undefined ? undefined : retryAfter(Math.max(delayMs, 0) + 10)
    }
    const content = await read(id)
    if (!content) return
    const skipped = skipReason(delivery, content) ?? await overtakenReason(callRpc, delivery.accountId, content)
    if (skipped) return await finish({ id, ...skipped })
    if (content.token === null) return await finish({ id, status: 'pruned', reason: 'the device has signed out' })

    const outcome = await send(delivery, content, content.token)
    switch (outcome.type) {
      case 'sent':
        return await finish({ id, status: 'sent', reason: outcome.note ?? null })
      case 'refused':
        return await finish({ id, status: 'failed', reason: outcome.reason })
      case 'dead':
        await deleteDevice(db, delivery, content.token)
        return await finish({ id, status: 'pruned', reason: outcome.reason })
      case 'later':
        return await retryLater(delivery, outcome)
    }
  }

  async function send (delivery: ClaimedDelivery, content: PushContent, token: string) {
    const { language, timezone, actorName } = await resolveRecipient(findPeople, delivery.accountId, content)
    const silent = content.kind === 'inboxChanged'
    const startedAt = performance.now()
    const outcome = await provider.send({
      token,
      platform: delivery.platform,
      collapseId: delivery.notificationId,
      ...renderText({ ...content, actorName }, language, timezone),
      data: silent
        ? { change: 'inbox', goneIds: (await listGoneNotifications(db, delivery)).join() }
        : { notificationId: delivery.notificationId, type: content.type, ...content.data },
      badge: content.unread,
      urgent: !delivery.lowPriority && !silent,
      silent
    })
    pushesTotal.inc({ outcome: outcome.type })
    log.info({
      deliveryId: delivery.id,
      notificationId: delivery.notificationId,
      outcome: outcome.type,
      reason: outcome.type === 'sent' ? outcome.note : outcome.reason
    }, 'attempted a push')
    if (outcome.type === 'sent') {
      const sendSeconds = (performance.now() - startedAt) / 1_000
      pushDelay.observe({ priority: delivery.lowPriority ? 'low' : 'high' }, delivery.delaySeconds + sendSeconds)
    }
    return outcome
  }

  async function retryLater (delivery: ClaimedDelivery, outcome: Extract<Outcome, { type: 'later' }>) {
    const delayMs = outcome.retryAfterMs ?? Math.min(retryDelayMs * 2 ** (delivery.attempts - 1), MAX_RETRY_DELAY_MS)
    const dueAt = nextAttemptAt(delivery, delayMs)
    if (!dueAt) return await finish({ id: delivery.id, status: 'failed', reason: outcome.reason })
    await untilPersisted(
      async () => await postponeDelivery(db, delivery, outcome.reason, dueAt),
      Date.now() + PERSIST_TIMEOUT_MS
    )
    return retryAfter(dueAt.getTime() - Date.now())
  }
}

/** Deletes a device only with the token of this push: it may have registered a new one under its id meanwhile. */
async function deleteDevice (db: Db, { deviceId, accountId }: ClaimedDelivery, token: string) {
  await db.deleteFrom('devices').where('id', '=', deviceId).where('account_id', '=', accountId)
    .where('token', '=', token)
    .execute()
}

function skipReason (
  { wasHeld, delaySeconds }: ClaimedDelivery,
  { kind, isRemoved, isBlocked, isHidden, isUnwanted, isMuted, isStopped, isRead }: PushContent
): DeliveryResult | undefined {
  if (!isOffered(kind)) return { status: 'muted', reason: 'the feature is off' }
  if (isRemoved) return { status: 'muted', reason: 'the notification was deleted' }
  if (isBlocked) return { status: 'muted', reason: 'one of the two people has blocked the other' }
  if (isHidden) return { status: 'muted', reason: 'one of the two people is hidden' }
  if (isUnwanted) return { status: 'muted', reason: 'pushes are turned off in the profile' }
  if (isMuted && !isAlwaysPushed(kind) && kind !== 'inboxChanged') {
    return { status: 'muted', reason: 'the category is muted' }
  }
  if (isStopped) return { status: 'muted', reason: 'the broadcast was stopped' }
  if (wasHeld && isRead) return { status: 'muted', reason: 'the notification was read before the push was due' }
  if (delaySeconds >= MAX_DELAY_SECONDS) {
    return { status: 'failed', reason: 'the push could not be sent within a day' }
  }
}

// A booking that its producer tells of in its own words has a time only if it is a reminder.
const reminders: Kind[] = ['activityReminded', 'reservationReminded', 'bookingTold']

/** Why a push that is late says what is no longer so. */
async function overtakenReason (
  callRpc: CallRpc,
  accountId: string,
  { kind, params: { startsAt }, data }: PushContent
): Promise<DeliveryResult | undefined> {
  if (reminders.includes(kind) && typeof startsAt === 'string' && new Date(startsAt).getTime() <= Date.now()) {
    return { status: 'muted', reason: 'it has started' }
  }
  const activityId = data['activityId']
  if (kind !== 'meetingAsked' || activityId === undefined) return
  // A question too many is better than one too few.
  const status = await callRpc(MeetingStatus, { accountId, activityId }).catch((error: unknown) => {
    if (error instanceof Unavailable) return 'ARMED'
    throw error
  })
  if (status === 'SAFE' || status === 'NONE') return { status: 'muted', reason: 'the person need not report back' }
}

/**
 * When a push is tried again: after the delay plus up to a quarter of random jitter. Undefined if the push would be too
 * old by then.
 */
function nextAttemptAt ({ delaySeconds }: ClaimedDelivery, delayMs: number) {
  if (delaySeconds + delayMs / 1_000 < MAX_DELAY_SECONDS) {
    return new Date(Date.now() + delayMs * (1 + Math.random() / 4))
  }
}

/**
 * The language and time zone of the recipient and the name of the actor. While profile is unavailable, defaults replace
 * what is missing.
 */
async function resolveRecipient (
  findPeople: FindPeople,
  accountId: string,
  { actorId, actorName, locale, timezone }: PushContent
) {
  const unknown = [...locale === null ? [accountId] : [], ...actorId && actorName === null ? [actorId] : []]
  const people = await findPeople(unknown).catch((error: unknown) => {
    if (error instanceof Unavailable) return []
    throw error
  })
  const find = (id: string | null) => people.find((person) => person.accountId === id)
  return {
    language: textsOf(locale ?? find(accountId)?.locale ?? null).locale,
    timezone: timezone ?? find(accountId)?.timezone ?? DEFAULT_TIMEZONE,
    actorName: actorName ?? find(actorId)?.name ?? null
  }
}
