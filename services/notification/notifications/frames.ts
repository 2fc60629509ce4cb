import type { PlannedNotification } from './plan.ts'
import { changedFrame, type NewFrame } from '../frames/log.ts'

/** The frames that report a notification: to the account, and a sent message to the devices of its sender as well. */
export function framesOf ({ request, accountId, listed, sequence }: PlannedNotification): NewFrame[] {
  const { kind, dedupeKey: key, data: ids = {}, actorId } = request
  switch (kind) {
    case 'messageReceived': {
      const frame = { type: 'message.created' as const, ids, key }
      return [{ accountId, ...frame }, ...actorId ? [{ accountId: actorId, ...frame }] : []]
    }
    case 'matchMade':
      return [{ accountId, type: 'match.created', ids, key }]
    default:
      // A newer event with the same key updates the notification, or brings it back.
      return listed ? [{ ...changedFrame(accountId, key), key: `${key}:${sequence}` }] : []
  }
}
