import { sql } from 'kysely'
import { findNameError } from '@tandem/service-kit'
import type { Db, Trx } from '../tables.ts'

/** The birth date as the day it is: the driver would make a moment of it. */
export const birthDay = sql<string | null>`birth_date::text`.as('birth_date')

/** Since when a person is as he is: a string, since a Date would lose the microseconds. */
export const changedAt = sql<string>`to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('changedAt')

/** Everything that is known of a person. */
export async function findPerson (db: Db, accountId: string) {
  return await db.selectFrom('people').selectAll().select([birthDay, changedAt])
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

export type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>

/** Takes the row of a person, to change it. */
export async function lockPerson (trx: Trx, accountId: string) {
  return await trx.selectFrom('people').selectAll().select([birthDay, changedAt])
    .where('account_id', '=', accountId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

const selectAppearances = (db: Db) => db.selectFrom('people')
  .select(['account_id as accountId', 'name', 'username', 'image', 'bio', 'locale', 'timezone', changedAt])

/** How people appear to others; who is unknown is left out. */
export async function listPeople (db: Db, accountIds: string[]) {
  return accountIds.length === 0 ? [] : await selectAppearances(db).where('account_id', 'in', accountIds).execute()
}

/** The same by their usernames, in whatever case. */
export async function listPeopleNamed (db: Db, usernames: string[]) {
  return await selectAppearances(db).where(sql`lower(username)`, '=', sql`any(${usernames.map((name) => name.toLowerCase())}::text[])`).execute()
}

/** Whether `accountId` may have this username: it has it already, or nobody has it in whatever case and it is not reserved. */
export async function isUsernameFree (db: Db, username: string, accountId: string) {
  const holder = await db.selectFrom('people').select('account_id')
    .where(sql`lower(username)`, '=', username.toLowerCase())
    .executeTakeFirst()
  return holder === undefined ? findNameError(username) === undefined : holder.account_id === accountId
}
