import { sql } from 'kysely'
import { hasTombstone } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { WebhookDisabled, type WebhookData, type WebhookType } from '@tandem/contracts'
import type { Db, Trx } from '../tables.ts'
import { expiryOf, lockAccount, type ClaimedWebhook } from './queries.ts'

/** What a webhook says, by its type. */
export type WebhookContent = {
  [Type in WebhookType]: {
    type: Type,
    /** The account that it is about. It is erased with the account. */
    accountId: string | null,
    data: WebhookData<Type>
  }
}[WebhookType]

type WebhookMessage = WebhookContent & {
  /** Of the event: a repeated event is one message. */
  id: string,
  occurredAt: Date
}

/**
 * Creates a message and its deliveries, if an endpoint asks for its type. Nothing about an erased account is created but
 * that it was deleted.
 * @returns the deliveries
 */
export async function createWebhook (trx: Trx, { id, type, accountId, data, occurredAt }: WebhookMessage) {
  // Shared, so that an endpoint is not disabled meanwhile: its deliveries would wait forever.
  const endpoints = await trx.selectFrom('webhook_endpoints')
    .where(sql<boolean>`${type} = any(event_types)`)
    .select(['id', 'disabled_at as disabledAt'])
    .orderBy('id').forShare().execute()
  if (endpoints.length === 0) return []
  if (accountId !== null) {
    await lockAccount(trx, accountId)
    if (type !== 'account.deleted' && await hasTombstone(trx, accountId)) return []
  }
  const message = await trx.insertInto('webhook_messages')
    .values({ id, type, account_id: accountId, data: JSON.stringify(data), occurred_at: occurredAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id').executeTakeFirst()
  const enabled = endpoints.filter(({ disabledAt }) => disabledAt === null)
  if (!message || enabled.length === 0) return []
  const deliveries = await trx.insertInto('webhook_deliveries')
    .values(enabled.map((endpoint) => ({ endpoint_id: endpoint.id, message_id: id })))
    .returning('id').execute()
  return deliveries.map((delivery) => delivery.id)
}

/** Creates the last message about an account, and deletes those that are not sent yet. @returns the deliveries */
export async function createLastWebhook (
  trx: Trx,
  { erasureId, accountId, occurredAt }: { erasureId: string, accountId: string, occurredAt: Date }
) {
  const deliveries = await createWebhook(trx, {
    id: erasureId,
    type: 'account.deleted',
    accountId,
    data: { accountId },
    occurredAt
  })
  await lockAccount(trx, accountId)
  await trx.deleteFrom('webhook_messages').where('account_id', '=', accountId).where('type', '<>', 'account.deleted')
    .execute()
  return deliveries
}

/** Counts a match in the hour in which it was made. */
export async function countMatch (trx: Trx, at: Date) {
  await sql`
    insert into webhook_match_counts (hour, count) values (date_trunc('hour', ${at}::timestamptz, 'UTC'), 1)
    on conflict (hour) do update set count = webhook_match_counts.count + 1`.execute(trx)
}

/** What happened to a delivery: it was accepted, or is due again at a time, or has failed for good. */
interface Result {
  status: number | null
  error: string | null
}

export async function markSent (db: Db, { id, endpointId }: ClaimedWebhook, { status }: Result) {
  await db.updateTable('webhook_deliveries').where('id', '=', id).where('status', '=', 'pending')
    .set({ status: 'sent', response_status: status, error: null, claimed_until: null, finished_at: sql`now()` })
    .execute()
  // Once a minute is enough to know that it is not dead.
  await db.updateTable('webhook_endpoints').where('id', '=', endpointId)
    .where(sql<boolean>`coalesce(last_success_at < now() - interval '1 minute', true)`)
    .set({ last_success_at: sql`now()` })
    .execute()
}

/** Plans the next attempt. The last one is when the delivery expires. */
export async function postpone (db: Db, { id }: ClaimedWebhook, { status, error }: Result, delayMs: number) {
  await db.updateTable('webhook_deliveries').where('id', '=', id).where('status', '=', 'pending')
    .set({
      due_at: sql`least(now() + make_interval(secs => ${delayMs / 1_000}), ${expiryOf})`,
      response_status: status,
      error,
      claimed_until: null
    })
    .execute()
}

/** Fails a delivery for good, and disables its endpoint if it has accepted nothing since the delivery was queued. */
export async function markFailed (db: Db, { id, endpointId }: ClaimedWebhook, { status, error }: Result) {
  await db.transaction().execute(async (trx) => {
    // The endpoint first, in the order of disableEndpoint.
    const endpoint = await trx.selectFrom('webhook_endpoints').where('id', '=', endpointId)
      .select('last_success_at as lastSuccessAt').forUpdate().executeTakeFirst()
    const failed = await trx.updateTable('webhook_deliveries').where('id', '=', id).where('status', '=', 'pending')
      .set({ status: 'failed', response_status: status, error, claimed_until: null, finished_at: sql`now()` })
      .returning('queued_at as queuedAt').executeTakeFirst()
    if (!failed || !endpoint) return
    if (endpoint.lastSuccessAt && endpoint.lastSuccessAt > failed.queuedAt) return
    await disable(trx, endpointId, error ?? 'no success')
  })
}

/** Disables an endpoint that does not respond. Operators are mailed. */
async function disable (trx: Trx, endpointId: string, reason: string) {
  const disabled = await disableEndpoint(trx, endpointId, reason)
  if (!disabled) return
  const { host } = new URL(disabled.url)
  await publish(trx, WebhookDisabled, endpointId, { endpointId, host, reason })
}

/** Sends nothing more to an endpoint. What waits for it fails. @returns undefined if it is unknown, or disabled already */
export async function disableEndpoint (trx: Trx, endpointId: string, reason: string) {
  const disabled = await trx.updateTable('webhook_endpoints').where('id', '=', endpointId)
    .where('disabled_at', 'is', null)
    .set({ disabled_at: sql`now()`, disabled_reason: reason })
    .returning('url').executeTakeFirst()
  if (!disabled) return
  await trx.updateTable('webhook_deliveries').where('endpoint_id', '=', endpointId).where('status', '=', 'pending')
    .set({ status: 'failed', error: 'the endpoint was disabled', claimed_until: null, finished_at: sql`now()` })
    .execute()
  return disabled
}
