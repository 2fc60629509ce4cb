import { sql, type RawBuilder } from 'kysely'
import { bitsOfSports } from '../profiles/sports.ts'
import type { Db, Trx } from '../tables.ts'

interface Person { accountId: string, name: string, timezone: string, changedAt?: string }
interface Facts { accountId: string, weight: number | null, favoriteSports: string[], experience: string, changedAt?: string }
interface Subscription { accountId: string, status: string, currentPeriodEnd: string }

/** Makes sure there is a row for the account, and holds it until the end of the transaction. */
export async function lockMember (trx: Trx, accountId: string) {
  await trx.insertInto('members').values({ account_id: accountId }).onConflict((conflict) => conflict.doNothing()).execute()
  return await trx.selectFrom('members').selectAll().where('account_id', '=', accountId).forUpdate().executeTakeFirstOrThrow()
}

/** A moment of which a Date would hold the milliseconds only. */
export const toMoment = (changedAt: string | Date) => sql<Date>`${changedAt}::timestamptz`

/** Whether what is known is older than what has been so since `moment`. */
export const isBefore = (heardAt: 'person_heard_at' | 'facts_heard_at', moment: RawBuilder<Date>) =>
  sql<boolean>`coalesce(${sql.ref(`members.${heardAt}`)} < ${moment}, true)`

/** Keeps a person's name and time zone. News that come late do not undo newer ones. */
export async function upsertPerson (db: Db, { accountId, name, timezone, changedAt }: Person, at: Date) {
  const heardAt = toMoment(changedAt ?? at)
  await db.transaction().execute(async (trx) => {
    await lockMember(trx, accountId)
    const { numUpdatedRows } = await trx.updateTable('members').set({ timezone, person_heard_at: heardAt })
      .where('account_id', '=', accountId).where(isBefore('person_heard_at', heardAt))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    await trx.updateTable('profiles').set({ display_name: name })
      .where('account_id', '=', accountId).where('has_own_name', '=', false)
      .execute()
  })
}

/** Keeps what a person is compared by, under the same rule. */
export async function upsertFacts (db: Db, { accountId, weight, favoriteSports, experience, changedAt }: Facts, at: Date) {
  const heardAt = toMoment(changedAt ?? at)
  await db.transaction().execute(async (trx) => {
    await lockMember(trx, accountId)
    const { numUpdatedRows } = await trx.updateTable('members')
      .set({ weight, favorite_sports: favoriteSports, experience, facts_heard_at: heardAt })
      .where('account_id', '=', accountId).where(isBefore('facts_heard_at', heardAt))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    const sports = await bitsOfSports(trx, favoriteSports)
    await trx.updateTable('profiles').set({ sports: sql`${sports}::bit(128)` }).where('account_id', '=', accountId).execute()
  })
}

/** Keeps until when somebody is subscribed. Two changes may be of one millisecond, so their sequence tells which is the later. */
export async function upsertSubscription (db: Db, { accountId, status, currentPeriodEnd }: Subscription, sequence: number) {
  const until = status === 'ACTIVE' ? new Date(currentPeriodEnd) : null
  await db.insertInto('members').values({ account_id: accountId, subscribed_until: until, subscription_sequence: sequence })
    .onConflict((conflict) => conflict.column('account_id')
      .doUpdateSet({ subscribed_until: until, subscription_sequence: sequence })
      .where((member) => member.or([member('members.subscription_sequence', 'is', null), member('members.subscription_sequence', '<=', sequence)])))
    .execute()
}
