import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import type { ErasureTables } from './tables.ts'

/**
 * Whether everybody else can see a person. `person` is an account's id, or a column that holds one. The columns of the
 * subquery have names of their own, so that they never capture the caller's `account_id`.
 */
export const isNotHidden = (person: RawBuilder<unknown>) =>
  sql<SqlBool>`not exists (
  select from hidden_people hidden (hidden_id, is_hidden_now) where hidden_id = ${person} and is_hidden_now offset 0)`

/** Whether nobody else can see a person now. */
export async function isHidden<Tables extends ErasureTables> (db: Kysely<Tables>, accountId: string) {
  const { rows } = await sql`select from hidden_people where account_id = ${accountId} and is_hidden`.execute(db)
  return rows.length > 0
}

/** Stores whether a person is hidden, unless a later change is stored, or they are erased: then nothing may name them. */
export async function hide (db: Kysely<ErasureTables>, accountId: string, isHidden: boolean, changedAt: Date) {
  await sql`
    insert into hidden_people (account_id, is_hidden, changed_at)
    select ${accountId}::uuid, ${isHidden}::boolean, ${changedAt}::timestamptz
    where not exists (select from departures where account_id = ${accountId}::uuid)
    on conflict (account_id) do update set is_hidden = excluded.is_hidden, changed_at = excluded.changed_at
      where hidden_people.changed_at <= excluded.changed_at`.execute(db)
}

/** A page of the accounts that identity names: all that are hidden with ids above `from`, up to `to`. */
interface Page {
  from: string | null
  to: string | null
  /** When identity read it. */
  at: string
}

/** Makes the stored people of a page the same as identity's. */
export async function hideAll (
  db: Kysely<ErasureTables>,
  people: { accountId: string, isHidden: boolean }[],
  { from, to, at }: Page
) {
  const hidden = people.filter(({ isHidden }) => isHidden).map(({ accountId }) => accountId)
  await sql`
    insert into hidden_people (account_id, is_hidden, changed_at)
    select account_id, true, ${at}::timestamptz from unnest(${hidden}::uuid[]) as account_id order by account_id
    on conflict (account_id) do update set is_hidden = true, changed_at = excluded.changed_at
      where not hidden_people.is_hidden and hidden_people.changed_at < excluded.changed_at`.execute(db)
  await sql`
    update hidden_people set is_hidden = false, changed_at = ${at}::timestamptz
    where is_hidden and changed_at < ${at}::timestamptz and account_id <> all(${hidden}::uuid[])
      and (${from}::uuid is null or account_id > ${from}::uuid)
      and (${to}::uuid is null or account_id <= ${to}::uuid)`.execute(db)
}
