import { sql, type Kysely, type Transaction } from 'kysely'
import type { NotPersonal, Personal, PersonalData } from './personal-data.ts'

const BATCH_SIZE = 1_000

type Table = [name: string, entry: Personal<never>]

/** The tables with personal data, in the order in which they are erased. */
export const personalTables = (personalData: object): Table[] =>
  Object.entries(personalData as Record<string, Personal<never> | NotPersonal>)
    .flatMap(([name, entry]) => entry.isPersonal ? [[name, entry] as Table] : [])

/**
 * Erases at most 1,000 rows of an account. @returns how many of each table; fewer than 1,000 in all means that no more
 * are left
 */
export async function eraseRows (trx: Transaction<never>, tables: Table[], accountId: string) {
  const rows: Record<string, number> = {}
  let left = BATCH_SIZE
  for (const [name, entry] of tables) {
    await entry.before?.(trx, accountId)
    const erased = entry.erase
      ? await entry.erase(trx, accountId, left)
      : await deleteRows(trx, name, entry, accountId, left)
    if (erased > 0) rows[name] = erased
    left -= erased
    if (left <= 0) break
  }
  return { rows, isComplete: left > 0 }
}

/** Deletes at most `limit` rows of an account that do not stay, and notes their files for deletion. @returns how many */
async function deleteRows (
  trx: Transaction<never>,
  table: string,
  { rowsOf, keeps, files = sql<string[]>`'{}'::text[]` }: Personal<never>,
  accountId: string,
  limit: number
) {
  const condition = keeps ? sql`${rowsOf(accountId)} and not ${keeps.rows(accountId)}` : rowsOf(accountId)
  const { rows: [deleted] } = await sql<{ count: number }>`
    with batch as (
      select ctid from ${sql.table(table)} where ${condition} limit ${sql.lit(limit)}
    ), deleted as (
      delete from ${sql.table(table)} where ctid in (select ctid from batch) returning ${files} as files
    ), noted as (
      insert into files_to_erase (account_id, key)
      select distinct ${accountId}::uuid, key from deleted, unnest(files) as key where key is not null
      on conflict do nothing
    )
    select count(*) as count from deleted`.execute(trx)
  return deleted?.count ?? 0
}

/** Counts what a service holds of an account, without the service: for its operators. */
export const countPersonalData = async <Tables>(
  db: Kysely<Tables>,
  personalData: PersonalData<Tables>,
  accountId: string
) => await countRows(db as unknown as Kysely<never>, personalTables(personalData), accountId)

/** How many rows of an account each table still has, and how many of them stay on purpose. */
export async function countRows (db: Kysely<never>, tables: Table[], accountId: string) {
  const left: Record<string, number> = {}
  let kept = 0
  for (const [name, entry] of tables) {
    const { rows: [counts] } = await sql<{ left: number, kept: number }>`
      select count(*) filter (where not ${entry.keeps?.rows(accountId) ?? sql`false`}) as left,
        count(*) filter (where ${entry.keeps?.rows(accountId) ?? sql`false`}) as kept
      from ${sql.table(name)} where ${entry.rowsOf(accountId)}`.execute(db)
    if (counts!.left > 0) left[name] = counts!.left
    kept += counts!.kept
  }
  return { left, kept }
}
