import { sql, type Kysely } from 'kysely'
import { isUuid, type Page } from '@tandem/http-kit'
import type { StaffRole } from './rights.ts'
import type { AuditTables } from './tables.ts'

export interface AuditEntry {
  /**
   * APP_ADMIN: an account of the app with the role ADMIN, named by its own id. SHELL: a command, which no operator runs.
   */
  operator: { id: string, role: StaffRole | 'APP_ADMIN' | 'SHELL' }
  action: string
  subject: string | null
  accountId: string | null
  reason: string | null
  requestId: string
}

/**
 * Appends an entry to the chain. It waits for the transactions that append before it, and its time is that of the end of
 * the wait: months are dropped by time, and the entry after a later one would otherwise be dropped before it.
 */
export async function appendAudit<Tables extends AuditTables> (
  db: Kysely<Tables>,
  { operator, action, subject, accountId, reason, requestId }: AuditEntry
) {
  const account = accountId !== null && isUuid(accountId) ? accountId : null
  await sql`
    with head as materialized (select from audit_head for update)
    insert into audit_entries (staff_id, role, action, subject, account_id, reason, request_id, created_at)
    select ${operator.id}::uuid, ${operator.role}, ${action}, ${subject}, ${account}::uuid, ${reason}, ${requestId},
      clock_timestamp()
    from head`.execute(db)
}

/** The latest entries, newest first. The cursor is the number of the last one. */
export async function listAudit (
  db: Kysely<AuditTables>,
  { before, limit }: Pick<Page, 'limit'> & { before?: number }
) {
  return await db.selectFrom('audit_entries')
    .$if(before !== undefined, (entries) => entries.where('number', '<', before!))
    .select([
      'number',
      'staff_id as staffId',
      'role',
      'action',
      'subject',
      'account_id as accountId',
      'reason',
      'request_id as requestId',
      'created_at as createdAt'
    ])
    .orderBy('number', 'desc').limit(limit + 1).execute()
}

const BATCH_SIZE = 5_000

/** The end of the chain at one time, as it is stored elsewhere. */
export interface AuditHead {
  number: number
  /** Hexadecimal. */
  hash: string
}

export const readAuditHead = async (db: Kysely<AuditTables>): Promise<AuditHead> => {
  const { number, hash } = await db.selectFrom('audit_head').select(['number', 'hash']).executeTakeFirstOrThrow()
  return { number, hash: hash.toString('hex') }
}

/**
 * Recomputes the chain. @param heads stored earlier; the chain must contain them
 * @returns what is wrong first; undefined if nothing is
 */
export async function findAuditFault (db: Kysely<AuditTables>, heads: AuditHead[] = []): Promise<string | undefined> {
  let last: AuditHead | undefined
  for (;;) {
    const { rows } = await sql<{ number: number, hash: string, previous: string, computed: string }>`
      select number, encode(hash, 'hex') as hash, encode(previous_hash, 'hex') as previous,
        encode(audit_hash(previous_hash, number, staff_id, role, action, subject, account_id, reason, request_id,
          created_at), 'hex') as computed
      from audit_entries where number > ${last?.number ?? 0} order by number limit ${sql.lit(BATCH_SIZE)}`.execute(db)
    for (const { number, hash, previous, computed } of rows) {
      // Entries older than the first one were dropped with their month.
      if (last && (number !== last.number + 1 || previous !== last.hash)) {
        return `entry ${number} does not follow entry ${last.number}`
      }
      if (hash !== computed) return `entry ${number} was changed`
      if (heads.some((head) => head.number === number && head.hash !== hash)) {
        return `entry ${number} differs from the head that was stored for it`
      }
      last = { number, hash }
    }
    if (rows.length < BATCH_SIZE) break
  }
  const newest = Math.max(0, ...heads.map(({ number }) => number))
  const { number, hash } = await readAuditHead(db)
  const isComplete = last ? number === last.number && hash === last.hash : number === 0
  if (!isComplete || newest > number) return `entries after ${last?.number ?? 0} are missing`
}

const KEPT_MONTHS = 24
const PARTITIONS_AHEAD = 3

/** Creates the partitions of the coming months, and drops those that are older than 24 months. */
export async function maintainAudit (db: Kysely<AuditTables>) {
  await sql`
    select create_audit_partition(((now() at time zone 'UTC')::date + make_interval(months => later))::date)
    from generate_series(0, ${sql.lit(PARTITIONS_AHEAD)}) as later`.execute(db)
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'audit_entries'::regclass
      and relname < 'audit_entries_' || to_char(now() at time zone 'UTC' - make_interval(months => ${KEPT_MONTHS}), 'YYYY_MM')`
    .execute(db)
  for (const { name } of rows) await sql`drop table ${sql.table(name)}`.execute(db)
}
