import { sql } from 'kysely'
import { bitsOfSports } from '../profiles/sports.ts'
import type { Db, Trx } from '../schema.ts'

interface Person { accountId: string, name: string, timezone: string, changedAt?: string }
interface Facts { accountId: string, weight: number | null, favoriteSports: string[], experience: string }
interface Subscription { accountId: string, status: string, currentPeriodEnd: string }

/** Makes sure there is a row for the account, and holds it until the end of the transaction. */
export async function lockMember (trx: Trx, accountId: string) {
  await trx.insertInto('members').values({ account_id: accountId }).onConflict((conflict) => conflict.doNothing()).execute()
  return await trx.selectFrom('members').selectAll().where('account_id', '=', accountId).forUpdate().executeTakeFirstOrThrow()
}

/** Whether what is so at `at` is newer than what was heard. */
export const isNews = (heardAt: Date | null, at: Date) => !heardAt || heardAt < at

/** Keeps a person's name and time zone. News that come late do not undo newer ones. */
export async function keepPerson (db: Db, { accountId, name, timezone, changedAt }: Person, at: Date) {
  // Two changes may be of one millisecond, which is all that a Date holds.
  const heardAt = sql<Date>`${changedAt ?? at}::timestamptz`
  await db.transaction().execute(async (trx) => {
    await lockMember(trx, accountId)
    const { numUpdatedRows } = await trx.updateTable('members').set({ timezone, person_heard_at: heardAt })
      .where('account_id', '=', accountId)
      .where((member) => member.or([member('person_heard_at', 'is', null), member('person_heard_at', '<', heardAt)]))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    await trx.updateTable('profiles').set({ display_name: name })
      .where('account_id', '=', accountId).where('has_own_name', '=', false)
      .execute()
  })
}

export async function keepFacts (db: Db, { accountId, weight, favoriteSports, experience }: Facts, at: Date) {
  await db.transaction().execute(async (trx) => {
    const member = await lockMember(trx, accountId)
    if (!isNews(member.facts_heard_at, at)) return
    await trx.updateTable('members')
      .set({ weight, favorite_sports: favoriteSports, experience, facts_heard_at: at })
      .where('account_id', '=', accountId)
      .execute()
    const sports = await bitsOfSports(trx, favoriteSports)
    await trx.updateTable('profiles').set({ sports: sql`${sports}::bit(128)` }).where('account_id', '=', accountId).execute()
  })
}

export async function keepSubscription (db: Db, { accountId, status, currentPeriodEnd }: Subscription, at: Date) {
  await db.transaction().execute(async (trx) => {
    const member = await lockMember(trx, accountId)
    if (!isNews(member.subscription_heard_at, at)) return
    await trx.updateTable('members')
      .set({ subscribed_until: status === 'ACTIVE' ? new Date(currentPeriodEnd) : null, subscription_heard_at: at })
      .where('account_id', '=', accountId)
      .execute()
  })
}
