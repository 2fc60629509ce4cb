import { randomUUIDv7 } from 'node:crypto'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import { wakeAfterCommit } from '../notifications/change-inbox.ts'
import { notify, type Notified } from '../notifications/notify.ts'
import type { NotificationRequest } from '../notifications/plan.ts'
import { findRecipients } from '../notifications/recipients.ts'

/** Sends a test push to all devices of an account, even muted ones; returns the number of devices. */
export async function sendTestPush (deps: Deps, accountId: string, key: IdempotencyKey | undefined) {
  const request: NotificationRequest = { kind: 'pushTest', dedupeKey: `test:${randomUUIDv7()}`, to: [accountId] }
  const [recipients = []] = await findRecipients(deps, [request])
  let notified: Notified = { created: [], signal: [], deliveries: [] }
  const devices = await withIdempotencyKey(deps.db, key, async (trx) => {
    const now = deps.now()
    notified = await notify(trx, [{ request, recipients, occurredAt: now }], now)
    return notified.deliveries.length
  })
  await wakeAfterCommit(deps, notified)
  return devices
}
