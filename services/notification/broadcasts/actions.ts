import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import { inSavepoints } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { changeInbox, joinChanges } from '../notifications/change-inbox.ts'
import { notify } from '../notifications/notify.ts'
import type { NotificationRequest } from '../notifications/plan.ts'
import { recipientColumns, type Recipient } from '../notifications/recipients.ts'
import type { Localized, Db, Trx } from '../tables.ts'

const CHUNK_SIZE = 500
const POLL_INTERVAL_MS = 5_000
// Enough to keep the workers busy; more would only fill Redis.
const MAX_QUEUE_DEPTH = 5_000
const PAUSE_WHEN_FULL_MS = 200

interface Broadcast {
  id: string
  title: Localized
  body: Localized
}

/** What the notification of a broadcast is rendered from: `title_en`, `body_en` and so on. */
export const paramsOf = ({ title, body }: Pick<Broadcast, 'title' | 'body'>) =>
  Object.fromEntries(
    Object.entries({ title, body }).flatMap(([part, texts]) =>
      Object.entries(texts).map(([locale, text]) => [`${part}_${locale}`, text])
    )
  )

/** Stores a broadcast. `startBroadcasting` creates its notifications. */
export async function insertBroadcast (db: Db, { id, title, body }: Broadcast, at: Date) {
  await db.insertInto('broadcasts')
    .values({ id, title: JSON.stringify(title), body: JSON.stringify(body), created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Creates the notifications of broadcasts, chunk by chunk, until stopped. Replicas take turns; if one crashes, another
 * does the next chunk.
 */
export function startBroadcasting (deps: Deps, log: Log) {
  let stopping = false
  const stop = runPeriodically(async () => {
    while (!stopping && await notifyNextChunk(deps)) {
      while (!stopping && await isQueueFull(deps)) await sleep(PAUSE_WHEN_FULL_MS)
    }
  }, { intervalMs: POLL_INTERVAL_MS, log })
  return async () => {
    stopping = true
    await stop()
  }
}

// While Redis is unavailable the depth is unknown, and deliveries written now are enqueued once it is back.
const isQueueFull = async ({ pushes }: Deps) =>
  await pushes.lowPriorityDepth().then((depth) => depth > MAX_QUEUE_DEPTH, () => false)

/**
 * Notifies the next accounts, in the order of their ids, and advances the cursor in the same transaction.
 * @returns false if there is nothing to do or another replica is doing it
 */
export async function notifyNextChunk (deps: Deps): Promise<boolean> {
  const { db, now, log } = deps
  // Almost always there is none, and a read is less than a transaction.
  const unfinished = await db.selectFrom('broadcasts').where('finished_at', 'is', null).select('id').limit(1)
    .executeTakeFirst()
  if (!unfinished) return false
  const { hasWorked } = await changeInbox(deps, async (trx) => {
    const broadcast = await trx.selectFrom('broadcasts').where('finished_at', 'is', null)
      .select(['id', 'title', 'body', 'cursor_account_id', 'created_at'])
      .orderBy('created_at').limit(1).forUpdate().skipLocked()
      .executeTakeFirst()
    if (!broadcast) return { hasWorked: false, signal: [] }

    const recipients = await listRecipientsAfter(trx, broadcast.cursor_account_id)
    const { title, body } = broadcast
    const request: NotificationRequest = {
      kind: 'broadcast',
      dedupeKey: `broadcast:${broadcast.id}`,
      to: [],
      data: { broadcastId: broadcast.id },
      params: paramsOf({ title, body })
    }
    const { results, failures } = await inSavepoints(
      trx,
      recipients,
      async (some) =>
        await notify(trx, [{ request, recipients: some, occurredAt: broadcast.created_at, lowPriority: true }], now())
    )
    for (const { item: { accountId }, error } of failures) {
      log.error({ err: error, accountId, broadcastId: broadcast.id }, 'an account is left out of a broadcast')
    }
    await trx.updateTable('broadcasts')
      .set({
        cursor_account_id: recipients.at(-1)?.accountId ?? broadcast.cursor_account_id,
        recipients_count: sql`recipients_count + ${results.flatMap(({ created }) => created).length}`,
        ...recipients.length < CHUNK_SIZE && { finished_at: sql`now()` }
      })
      .where('id', '=', broadcast.id)
      .execute()
    return { hasWorked: true, ...joinChanges(results) }
  })
  return hasWorked
}

async function listRecipientsAfter (trx: Trx, accountId: string) {
  const { rows } = await sql<Recipient>`
    select requested.account_id as "accountId", ${recipientColumns}
    from (
      select account_id from inboxes
      where account_id > ${accountId} and ${isNotHidden(sql`inboxes.account_id`)}
      order by account_id limit ${sql.lit(CHUNK_SIZE)}
    ) requested
    left join people on people.account_id = requested.account_id
    left join preferences on preferences.account_id = requested.account_id
    order by requested.account_id`.execute(trx)
  return rows
}
