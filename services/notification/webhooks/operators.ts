import { isIP } from 'node:net'
import { sql } from 'kysely'
import { createWebhookSecret } from '@tandem/http-kit'
import type { WebhookType } from '@tandem/contracts'
import { InvalidWebhookUrl, WebhookIsDisabled, WebhookNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { disableEndpoint } from './actions.ts'
import { isPublic } from './poster.ts'

/** Adds an endpoint. The secret is shown here only. @throws InvalidWebhookUrl */
export async function addEndpoint (
  { db, webhookPrivateHosts }: { db: Db, webhookPrivateHosts: ReadonlySet<string> },
  { url, eventTypes }: { url: string, eventTypes: WebhookType[] }
) {
  const secret = createWebhookSecret()
  const { id } = await db.insertInto('webhook_endpoints')
    .values({ url: checkUrl(url, webhookPrivateHosts), secret, event_types: [...new Set(eventTypes)] })
    .returning('id').executeTakeFirstOrThrow()
  return { id, secret }
}

/** The address of a name is checked at every connection; here is refused what can never work. */
function checkUrl (text: string, privateHosts: ReadonlySet<string>) {
  const url = URL.parse(text)
  if (!url || url.username || url.password) throw new InvalidWebhookUrl()
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isReachable = url.protocol === 'https:' && (!isIP(host) || isPublic(host))
  const isLocal = privateHosts.has(host) && ['http:', 'https:'].includes(url.protocol)
  if (!isReachable && !isLocal) throw new InvalidWebhookUrl()
  url.hash = ''
  return url.href
}

/** @throws WebhookNotFound if it is unknown, or disabled already */
export async function disableByOperator (db: Db, id: string) {
  await db.transaction().execute(async (trx) => {
    if (!await disableEndpoint(trx, id, 'an operator disabled it')) throw new WebhookNotFound()
  })
}

/** Sends to an endpoint again what happens from now on. @throws WebhookNotFound unless it is disabled */
export async function enableEndpoint (db: Db, id: string) {
  const enabled = await db.updateTable('webhook_endpoints').where('id', '=', id).where('disabled_at', 'is not', null)
    .set({ disabled_at: null, disabled_reason: null })
    .returning('id').executeTakeFirst()
  if (!enabled) throw new WebhookNotFound()
}

/**
 * Sends everything again that an endpoint asks for and that happened since a time, with the ids that it had. What is
 * being sent goes on.
 * @returns how many deliveries @throws WebhookNotFound, WebhookIsDisabled
 */
export async function replay (db: Db, { id, since }: { id: string, since: Date }) {
  return await db.transaction().execute(async (trx) => {
    const endpoint = await trx.selectFrom('webhook_endpoints').where('id', '=', id)
      .select(['event_types as eventTypes', 'disabled_at as disabledAt']).forShare().executeTakeFirst()
    if (!endpoint) throw new WebhookNotFound()
    if (endpoint.disabledAt) throw new WebhookIsDisabled()
    const { numAffectedRows = 0 } = await sql`
      insert into webhook_deliveries (endpoint_id, message_id)
      select ${id}, id from webhook_messages
      where occurred_at >= ${since} and type = any(${endpoint.eventTypes})
      order by id
      on conflict (message_id, endpoint_id) do update
        set status = 'pending', attempts = 0, due_at = now(), queued_at = now(), response_status = null, error = null,
          claimed_until = null, finished_at = null
        where webhook_deliveries.status <> 'pending'`.execute(trx)
    return Number(numAffectedRows)
  })
}
