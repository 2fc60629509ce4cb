import { sql } from 'kysely'
import type { WebhookType } from '@tandem/contracts'
import type { Job, PendingQuery } from '@tandem/queue-kit'
import type { Db, Trx } from '../tables.ts'

/** How long a process owns what it claimed: longer than all attempts of a batch at a silent endpoint can take. */
const LEASE_SECONDS = 90
const BATCH_SIZE = 10
/** For how long a delivery is retried. */
const LIFETIME = '3 days'

export interface ClaimedWebhook {
  id: string
  endpointId: string
  messageId: string
  type: WebhookType
  accountId: string | null
  data: object
  occurredAt: Date
  url: string
  secret: string
  attempts: number
  /** Whether it has been retried for as long as any. */
  isLastAttempt: boolean
}

/**
 * Claims the oldest deliveries of an endpoint that are due, for this process. Undefined while another process has claimed
 * some: it goes on with the others, so that those of one account stay in their order.
 */
export async function claimWebhooks (db: Db, endpointId: string) {
  return await db.transaction().execute(async (trx) => {
    // One after the other, and the second sees what the first has claimed.
    await trx.selectFrom('webhook_endpoints').where('id', '=', endpointId).select('id').forNoKeyUpdate().execute()
    const other = await trx.selectFrom('webhook_deliveries').where('endpoint_id', '=', endpointId)
      .where('status', '=', 'pending').where('claimed_until', '>', sql<Date>`now()`)
      .select('id').limit(1).executeTakeFirst()
    return other ? undefined : await claimDue(trx, endpointId)
  })
}

async function claimDue (trx: Trx, endpointId: string) {
  const { rows } = await sql<ClaimedWebhook>`
    with claimed as (
      update webhook_deliveries set
        attempts = attempts + 1, claimed_until = now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})
      where id = any(array(
        select id from webhook_deliveries
        where endpoint_id = ${endpointId} and status = 'pending' and due_at <= now()
        order by id limit ${sql.lit(BATCH_SIZE)}
      ))
      returning id, endpoint_id, message_id, attempts, queued_at
    )
    select claimed.id, endpoint_id as "endpointId", message_id as "messageId", type, account_id as "accountId", data,
      occurred_at as "occurredAt", url, secret, attempts, ${expiryOf} <= now() as "isLastAttempt"
    from claimed
    join webhook_messages on webhook_messages.id = message_id
    join webhook_endpoints on webhook_endpoints.id = endpoint_id
    order by claimed.id`.execute(trx)
  return rows
}

/**
 * A delivery, or the one of an endpoint that is due next: how long it still has to wait. Undefined if there is none, or
 * if a process has claimed it, which plans the next attempt.
 */
export async function findPending (db: Db, id: string) {
  return await db.selectFrom('webhook_deliveries')
    .where(({ eb, or }) => or([eb('id', '=', id), eb('endpoint_id', '=', id)]))
    .where(isPending)
    .select(['id', 'endpoint_id as endpointId', millisecondsLeft.as('delayMs')])
    .orderBy('due_at').limit(1)
    .executeTakeFirst()
}

const isPending = sql<boolean>`(status = 'pending' and (claimed_until is null or claimed_until < now()))`
const millisecondsLeft = sql<number>`(extract(epoch from due_at - now()) * 1000)::float8`

/** Pending deliveries that are due soon, in id order. A later sweep finds those that wait for hours. */
export async function listPendingWebhooks (db: Db, { olderThanSeconds, limit, after }: PendingQuery): Promise<Job[]> {
  const rows = await db.selectFrom('webhook_deliveries').where(isPending)
    .where('queued_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
    .where('due_at', '<', sql<Date>`now() + interval '1 minute'`)
    .$if(after !== undefined, (query) => query.where('id', '>', after!))
    .select(['id', millisecondsLeft.as('delayMs')])
    .orderBy('id').limit(sql.lit(limit))
    .execute()
  return rows.map(({ id, delayMs }) => ({ id, delayMs: Math.max(0, Math.ceil(delayMs)) }))
}

/** The time until which a delivery is retried. */
export const expiryOf = sql<Date>`queued_at + ${sql.lit(LIFETIME)}::interval`

/** The endpoints and their latest deliveries, for operators. */
export async function listEndpoints (db: Db) {
  return await db.selectFrom('webhook_endpoints')
    .select([
      'id',
      'url',
      'event_types as eventTypes',
      'created_at as createdAt',
      'last_success_at as lastSuccessAt',
      'disabled_at as disabledAt',
      'disabled_reason as disabledReason',
      sql<number>`(
        select count(*) from webhook_deliveries where endpoint_id = webhook_endpoints.id and status = 'pending'
      )`.as('pending')
    ])
    .orderBy('id')
    .execute()
}

const RECENT = 50

/** The latest deliveries to all endpoints, newest first, without what they say. */
export async function listRecentDeliveries (db: Db) {
  return await db.selectFrom('webhook_deliveries')
    .innerJoin('webhook_messages', 'webhook_messages.id', 'message_id')
    .select([
      'webhook_deliveries.id',
      'endpoint_id as endpointId',
      'message_id as messageId',
      'type',
      'status',
      'attempts',
      'response_status as responseStatus',
      'error',
      'due_at as dueAt',
      'queued_at as queuedAt',
      'finished_at as finishedAt'
    ])
    .orderBy('webhook_deliveries.id', 'desc').limit(RECENT)
    .execute()
}

/** Locks an account for what is sent about it, until the transaction ends. */
export async function lockAccount (trx: Trx, accountId: string) {
  await sql`select pg_advisory_xact_lock(hashtextextended('webhooks of ' || ${accountId}, 0))`.execute(trx)
}
