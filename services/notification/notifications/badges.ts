import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import type { Trx } from '../tables.ts'
import { type Kind, typeOf } from '../texts/kinds.ts'
import type { DeliveryJob } from './plan.ts'

const KIND: Kind = 'inboxChanged'

// What is read one after the other updates another device once.
const HOLD_SECONDS = 5

/**
 * Plans a silent push to each device that shows one of these notifications, which were read or removed: it updates the
 * number on the app icon. The device of the session that read them knows.
 * @returns the deliveries to enqueue after the commit
 */
export async function planBadgeUpdates (trx: Trx, changedIds: string[], sessionId?: string): Promise<DeliveryJob[]> {
  const devices = changedIds.length === 0 ? [] : await listDevicesThatShow(trx, changedIds, sessionId)
  if (devices.length === 0) return []
  // One row for each account, and one delivery for each of its devices, which every change uses again.
  await sql`
    insert into notifications (id, account_id, dedupe_key, kind, type, data, params, listed)
    select uuidv7(), account_id, ${KIND}, ${KIND}, ${typeOf(KIND)}, '{}', '{}', false
    from unnest(${devices.map(({ accountId }) => accountId)}::uuid[]) as changed (account_id)
    group by account_id order by account_id
    on conflict (account_id, dedupe_key) do nothing`.execute(trx)
  const { rows } = await sql<Omit<DeliveryJob, 'lowPriority'>>`
    insert into deliveries (
      id, notification_id, account_id, device_id, device_name, platform, low_priority, status, reason, due_at
    )
    select uuidv7(), notifications.id, devices.account_id, devices.id, device_name, platform, false, 'held',
      'waiting for more changes', now() + make_interval(secs => ${sql.lit(HOLD_SECONDS)})
    from devices join notifications on notifications.account_id = devices.account_id and dedupe_key = ${KIND}
    where devices.id = any(${devices.map(({ id }) => id)}::uuid[])
    on conflict (notification_id, device_id) do update set
      id = excluded.id, status = excluded.status, reason = excluded.reason, due_at = excluded.due_at,
      attempts = 0, claimed_until = null, finished_at = null, created_at = now()
      where deliveries.status not in ('pending', 'held') or deliveries.claimed_until is not null
    returning id, due_at as "dueAt"`.execute(trx)
  return rows.map((row) => ({ ...row, lowPriority: false }))
}

async function listDevicesThatShow (trx: Trx, notificationIds: string[], sessionId: string | undefined) {
  const { rows } = await sql<{ id: string, accountId: string }>`
    select distinct devices.id, devices.account_id as "accountId"
    from deliveries join devices on devices.id = deliveries.device_id and devices.account_id = deliveries.account_id
    where notification_id = any(${lookupArray(notificationIds, 'uuid')}::uuid[])
      and (status = 'sent' or claimed_until > now()) and session_id is distinct from ${sessionId ?? null}::uuid`
    .execute(trx)
  return rows
}
