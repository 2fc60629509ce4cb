import { sql } from 'kysely'
import type { Db, Trx } from '../schema.ts'

/** Everything that is known of a person; `birth_date` as the day it is. */
export async function findPerson (db: Db, accountId: string) {
  return await db.selectFrom('people').selectAll().select(sql<string | null>`birth_date::text`.as('birth_date'))
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

export type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>

/** Takes the row of a person, to change it. */
export async function lockPerson (trx: Trx, accountId: string) {
  return await trx.selectFrom('people').selectAll().select(sql<string | null>`birth_date::text`.as('birth_date'))
    .where('account_id', '=', accountId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/** How people appear to others; who is unknown is left out. */
export async function listPeople (db: Db, accountIds: string[]) {
  if (accountIds.length === 0) return []
  return await db.selectFrom('people')
    .select(['account_id as accountId', 'name', 'username', 'image', 'bio', 'locale', 'timezone'])
    .where('account_id', 'in', accountIds)
    .execute()
}

/** Whether nobody but `accountId` has this username, in whatever case. */
export async function isUsernameFree (db: Db, username: string, accountId: string) {
  const holder = await db.selectFrom('people').select('account_id')
    .where(sql`lower(username)`, '=', username.toLowerCase())
    .executeTakeFirst()
  return holder === undefined || holder.account_id === accountId
}
