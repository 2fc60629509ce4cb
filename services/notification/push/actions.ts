import { randomUUIDv7 } from 'node:crypto'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import { insertNotifications } from '../notifications/create.ts'
import { planNotification, type DeliveryJob, type NotificationRequest } from '../notifications/plan.ts'
import { findRecipients } from '../notifications/recipients.ts'

/** Sends a test push to all devices of an account, even muted ones; returns the number of devices. */
export async function sendTestPush (deps: Deps, accountId: string, key: IdempotencyKey | undefined) {
  const [[recipient] = []] = await findRecipients(deps, [{ to: [accountId], actorId: null }])
  let jobs: DeliveryJob[] = []
  const devices = await withIdempotencyKey(deps.db, key, async (trx) => {
    if (!recipient) return 0
    const now = deps.now()
    const request: NotificationRequest = { kind: 'pushTest', dedupeKey: `test:${randomUUIDv7()}`, to: [accountId] }
    const inserted = await insertNotifications(trx, [planNotification(request, recipient, { now, occurredAt: now })])
    jobs = [...inserted.jobs.values()].flat()
    return jobs.length
  })
  await deps.pushes.enqueue(jobs)
  return devices
}
