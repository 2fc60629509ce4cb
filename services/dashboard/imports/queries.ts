import { sql } from 'kysely'
import type { Db } from '../tables.ts'

const columns = [
  'id',
  'status',
  'format as type',
  'progress',
  'error',
  'found',
  'created',
  'merged',
  'refused',
  'refused_count as refusedCount',
  'created_at as createdAt',
  'finished_at as finishedAt'
] as const

/** The newest imports of an account. */
export async function listImports (db: Db, accountId: string) {
  const rows = await db.selectFrom('imports').where('account_id', '=', accountId).select(columns)
    .orderBy('id', 'desc').limit(50).execute()
  return rows.map(describe)
}

export async function findImport (db: Db, accountId: string, id: string) {
  const row = await db.selectFrom('imports').where('account_id', '=', accountId).where('id', '=', id).select(columns)
    .executeTakeFirst()
  return row && describe(row)
}

type Row = {
  found: number,
  created: number,
  merged: number,
  refused: { line: number, reason: string }[],
  refusedCount: number
}

const describe = <Found extends Row>({ found, created, merged, refused, refusedCount, ...row }: Found) => ({
  ...row,
  report: { found, new: created, merged, refused, refusedCount }
})

/** Imports that wait, or whose process has died. In the order of their ids, after `after`. */
export async function listUnfinished (db: Db, { after, limit }: { after: string | undefined, limit: number }) {
  return await db.selectFrom('imports').where('status', 'in', ['PENDING', 'RUNNING', 'UNDOING'])
    .where((row) => row.or([row('claimed_until', 'is', null), row('claimed_until', '<', sql<Date>`now()`)]))
    .$if(after !== undefined, (imports) => imports.where('id', '>', after ?? ''))
    .select('id').orderBy('id').limit(limit).execute()
}
