import { sql } from 'kysely'
import type { Trx } from '../tables.ts'
import type { StoredLog } from './changes.ts'

/** What is left of a deleted log. */
export interface Tombstone {
  /** Null if the log never arrived. */
  logId: string | null
  /** When it was deleted at its source; null: it never comes back. */
  modifiedAt: Date | null
  /** An import was undone: it can come back as if it had never been there. */
  isUndone: boolean
}

export async function findTombstones (trx: Trx, accountId: string, keys: string[]) {
  const rows = await trx.selectFrom('deleted_logs')
    .where('account_id', '=', accountId)
    .where('client_id', '=', sql<string>`any(${keys}::text[])`)
    .select(['client_id as key', 'log_id as logId', 'modified_at as modifiedAt', 'is_undone as isUndone'])
    .execute()
  return new Map<string, Tombstone>(rows.map((row) => [row.key, row]))
}

interface Burial {
  deletions: { key: string, modifiedAt?: Date | undefined }[]
  /** The logs that there were of them. */
  deleted: StoredLog[]
  /** Logs that come back. */
  restored?: { key: string }[]
  revision: number
  isUndone?: boolean
}

/** Writes the tombstones of deleted logs, also of those that never arrived, and removes those of logs that come back. */
export async function bury (trx: Trx, accountId: string, burial: Burial) {
  const { deletions, deleted, restored = [], revision, isUndone = false } = burial
  const logs = new Map(deleted.map((log) => [log.key, log]))
  const tombstones = deletions.map(({ key, modifiedAt = null }) => {
    const { id: logId, sentClientId, type } = logs.get(key) ?? {}
    return { key, sentClientId, modifiedAt, logId, type }
  })
  if (tombstones.length > 0) {
    await sql`
      insert into deleted_logs (account_id, client_id, sent_client_id, modified_at, is_undone, log_id, type, revision)
      select ${accountId}, key, "sentClientId", "modifiedAt", ${isUndone}, "logId", type, ${revision}
      from jsonb_to_recordset(${JSON.stringify(tombstones)}::jsonb)
        as tombstone (key text, "sentClientId" text, "modifiedAt" timestamptz, "logId" uuid, type text)
      on conflict (account_id, client_id) do update set
        modified_at = excluded.modified_at, is_undone = excluded.is_undone,
        sent_client_id = coalesce(excluded.sent_client_id, deleted_logs.sent_client_id),
        log_id = coalesce(excluded.log_id, deleted_logs.log_id), type = coalesce(excluded.type, deleted_logs.type),
        revision = case when excluded.log_id is null then deleted_logs.revision else excluded.revision end,
        deleted_at = now()`.execute(trx)
  }
  if (restored.length > 0) {
    await trx.deleteFrom('deleted_logs').where('account_id', '=', accountId)
      .where('client_id', '=', sql<string>`any(${restored.map(({ key }) => key)}::text[])`)
      .execute()
  }
}
