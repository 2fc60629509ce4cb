import { sql } from 'kysely'
import type { Trx } from '../tables.ts'

/** Deletes the person, and reserves their username for 90 days. */
export async function erasePerson (trx: Trx, accountId: string) {
  const { rows: [deleted] } = await sql<{ count: number }>`
    with deleted as (
      delete from people where account_id = ${accountId} returning lower(username) as username
    ), reserved as (
      insert into reserved_usernames (username, until) select username, now() + interval '90 days' from deleted
      on conflict (username) do update set until = excluded.until, account_id = null
    )
    select count(*) as count from deleted`.execute(trx)
  return deleted?.count ?? 0
}

/** Keeps the usernames that a person gave up reserved, without the person. */
export async function forgetReservations (trx: Trx, accountId: string) {
  const { numUpdatedRows } = await trx.updateTable('reserved_usernames').where('account_id', '=', accountId)
    .set({ account_id: null })
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
