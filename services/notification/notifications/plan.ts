import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { randomUUIDv7 } from 'node:crypto'
import type { Correlation } from '@tandem/process-kit'
import type { DeliveryStatus, Params, Platform } from '../tables.ts'
import { isAlwaysPushed, type Kind, typeOf } from '../texts/kinds.ts'
import { quietHoursEnd } from './quiet-hours.ts'
import type { Recipient } from './recipients.ts'

/** Which notification to create, and its recipient. */
export interface NotificationRequest {
  kind: Kind
  /** An account gets one notification for each key, however often its events arrive. */
  dedupeKey: string
  to: string[]
  /**
   * Account of the reported action; left out if there is none, or if it must stay hidden. Actors are never notified of
   * their own actions.
   */
  actorId?: string | null
  /** What it is about: by any of these it is withdrawn or rewritten (`subjects.ts`). */
  subjects?: string[]
  /** The account whose post or activity it is about. Nobody is notified of it while that person is hidden or blocked. */
  ownerId?: string
  /** The ids that the app opens. */
  data?: Record<string, string>
  /** The values of the text, except names. */
  params?: Params
  /** From this time on it is not created any more. A push that would be held until after it is sent at once. */
  pointlessFrom?: Date
  /** The session whose device gets no push, because it caused the event. */
  excludedSessionId?: string
}

interface PlannedDelivery {
  id: string
  deviceId: string
  deviceName: string | null
  platform: Platform
  status: DeliveryStatus
  reason: string | null
  dueAt: Date
}

export interface PlannedNotification {
  request: NotificationRequest
  notificationId: string
  accountId: string
  listed: boolean
  /** Of its event, which orders the events of one service; 0 without one. */
  sequence: number
  deliveries: PlannedDelivery[]
  lowPriority: boolean
  correlation: Correlation | undefined
}

/** A delivery to enqueue. */
export interface DeliveryJob {
  id: string
  dueAt: Date
  lowPriority: boolean
  /** The event or request that caused it; by default that of the code that enqueues it. */
  correlation?: Correlation | undefined
}

interface Times {
  now: Date
  occurredAt: Date
  /** Before this time no push is sent, for this reason. */
  hold?: { until: Date, reason: string }
}

interface Options extends Times {
  sequence?: number
  lowPriority?: boolean
  correlation?: Correlation
}

// Long enough for a client to mark a message as read that it shows, and to tell the server.
const ON_SCREEN_HOLD_MS = 5_000

// An event older than a day appears in the inbox only: it is not worth a push.
const STALE_AFTER_MS = 24 * 60 * 60 * 1_000

/**
 * Plans one notification for a recipient, with a delivery for each device: due now, due later, or muted with a reason.
 */
export function planNotification (
  request: NotificationRequest,
  recipient: Recipient,
  { sequence = 0, lowPriority = false, correlation, ...times }: Options
): PlannedNotification {
  const { kind, excludedSessionId } = request
  const type = typeOf(kind)
  const preference = { push: true, inApp: true, ...recipient.categories?.[type] }
  return {
    request,
    notificationId: randomUUIDv7(),
    accountId: recipient.accountId,
    listed: preference.inApp && kind !== 'pushTest',
    sequence,
    lowPriority,
    correlation,
    deliveries: recipient.devices.filter((device) => device.sessionId !== excludedSessionId).map((device) => ({
      id: randomUUIDv7(),
      deviceId: device.id,
      deviceName: device.name,
      platform: device.platform,
      ...(preference.push || isAlwaysPushed(kind)
        ? planDelivery(request, recipient, { ...times, ...holdOnScreen(request, recipient, times.now) })
        : { status: 'muted', reason: 'the category is muted', dueAt: times.now })
    }))
  }
}

function planDelivery (
  { kind, pointlessFrom }: NotificationRequest,
  { quietHours, timezone }: Recipient,
  { now, occurredAt, hold }: Times
): Pick<PlannedDelivery, 'status' | 'reason' | 'dueAt'> {
  if (now.getTime() - occurredAt.getTime() > STALE_AFTER_MS) {
    return { status: 'muted', reason: 'the event arrived more than a day late', dueAt: now }
  }
  const earliest = hold?.until ?? now
  const quietUntil = typeOf(kind) !== 'ACCOUNT' && quietHours
    ? quietHoursEnd(quietHours, timezone ?? DEFAULT_TIMEZONE, earliest)
    : undefined
  if (quietUntil && !(pointlessFrom && quietUntil > pointlessFrom)) {
    return { status: 'held', reason: 'quiet hours', dueAt: quietUntil }
  }
  return hold
    ? { status: 'held', reason: hold.reason, dueAt: hold.until }
    : { status: 'pending', reason: null, dueAt: now }
}

/** A message of the chat on the recipient's screen is pushed only if it is not read there. */
function holdOnScreen ({ kind, data }: NotificationRequest, { focusedMatchId }: Recipient, now: Date) {
  if (kind !== 'messageReceived' || focusedMatchId === null || data?.['matchId'] !== focusedMatchId) return
  return { hold: { until: new Date(now.getTime() + ON_SCREEN_HOLD_MS), reason: 'the chat is on the screen' } }
}
