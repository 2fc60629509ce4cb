import { randomUUIDv7 } from 'node:crypto'
import { endOfQuiet } from '../preferences/quiet-hours.ts'
import type { DeliveryStatus, Params, Platform } from '../tables.ts'
import { kinds, type Kind } from './kinds.ts'
import type { Recipient } from './recipients.ts'

/** What is told, to whom, and because of what. */
export interface NotificationRequest {
  kind: Kind
  /** What brought it about: a cause is told to a person once, however often it is heard. */
  cause: string
  to: string[]
  /** Who did it, unless nobody did or it is not to be known. He is never told himself. */
  actorId?: string | null
  /** What it is about, if it is to go when that goes. */
  subjectId?: string
  /** The ids to open. */
  data?: Record<string, string>
  /** What the text needs besides names. */
  params?: Params
  /** A session whose device needs no push: it was there. */
  exceptSession?: string
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

export interface Planned { telling: NotificationRequest, noticeId: string, accountId: string, listed: boolean, deliveries: PlannedDelivery[] }

interface Times { now: Date, happenedAt: Date, notBefore?: Date }

// News of yesterday are for the inbox; a phone is not woken for them.
const STALE = 24 * 60 * 60 * 1_000

/** One notice for a recipient, and a delivery for each of his devices: at once, later, or with the reason why not. */
export function planNotification (telling: NotificationRequest, recipient: Recipient, times: Times): Planned {
  const { kind, exceptSession } = telling
  const type = kinds[kind]
  const wishes = { push: true, inApp: true, ...recipient.categories?.[type] }
  return {
    telling,
    noticeId: randomUUIDv7(),
    accountId: recipient.accountId,
    listed: wishes.inApp && kind !== 'pushTest',
    deliveries: recipient.devices.filter((device) => device.sessionId !== exceptSession).map((device) => ({
      id: randomUUIDv7(),
      deviceId: device.id,
      deviceName: device.name,
      platform: device.platform,
      ...(wishes.push || kind === 'pushTest' ? planDelivery(type !== 'ACCOUNT', recipient, times) : { status: 'muted', reason: 'the category is muted', dueAt: times.now })
    }))
  }
}

function planDelivery (mayWait: boolean, { quietHours, timezone }: Recipient, { now, happenedAt, notBefore }: Times): Pick<PlannedDelivery, 'status' | 'reason' | 'dueAt'> {
  if (now.getTime() - happenedAt.getTime() > STALE) return { status: 'muted', reason: 'heard of a day too late', dueAt: now }
  const earliest = notBefore ?? now
  const quietUntil = mayWait && quietHours ? endOfQuiet(quietHours, timezone ?? 'UTC', earliest) : undefined
  if (quietUntil) return { status: 'held', reason: 'quiet hours', dueAt: quietUntil }
  return notBefore ? { status: 'held', reason: 'more may join it', dueAt: notBefore } : { status: 'pending', reason: null, dueAt: now }
}
