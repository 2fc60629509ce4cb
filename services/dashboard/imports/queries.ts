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

/** Imports that wait, or whose process has died. */
const selectUnfinished = (db: Db) =>
  db.selectFrom('imports').where('status', 'in', ['PENDING', 'RUNNING', 'UNDOING'])
    .where((row) => row.or([row('claimed_until', 'is', null), row('claimed_until', '<', sql<Date>`now()`)]))
    .select('id')

/** In the order of their ids, after `after`. */
export async function listUnfinished (db: Db, { after, limit }: { after: string | undefined, limit: number }) {
  return await selectUnfinished(db)
    .$if(after !== undefined, (imports) => imports.where('id', '>', after ?? ''))
    .orderBy('id').limit(limit).execute()
}

/** The import whose turn it is: the oldest of the accounts that had the fewest slow ones in a day. */
export async function findNextTurn (db: Db) {
  const next = await selectUnfinished(db)
    .orderBy(sql`(select count(*) from imports slow where slow.account_id = imports.account_id and slow.is_slow
      and slow.created_at > now() - interval '1 day')`)
    .orderBy('id').limit(1).executeTakeFirst()
  return next?.id
}
