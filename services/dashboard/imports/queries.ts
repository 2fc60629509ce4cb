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

const selectImports = (db: Db, accountId: string) =>
  db.selectFrom('imports').where('account_id', '=', accountId).select(columns)

/** The newest imports of an account. */
export async function listImports (db: Db, accountId: string) {
  return (await selectImports(db, accountId).orderBy('id', 'desc').limit(50).execute()).map(describe)
}

export async function findImport (db: Db, accountId: string, id: string) {
  const row = await selectImports(db, accountId).where('id', '=', id).executeTakeFirst()
  return row && describe(row)
}

type Row = Awaited<ReturnType<ReturnType<typeof selectImports>['executeTakeFirstOrThrow']>>

const describe = ({ found, created, merged, refused, refusedCount, ...row }: Row) => ({
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
