import { sql, type RawBuilder } from 'kysely'
import { sportBitsOf } from './sports.ts'
import type { Db, Trx } from '../tables.ts'

/**
 * The columns that actions need of a locked row. Named, because `*` breaks prepared statements as soon as a migration
 * adds a column.
 */
const memberColumns = ['account_id', 'timezone', 'suspended_at'] as const

interface Person {
  accountId: string
  name: string
  timezone: string
  changedAt?: string
}
interface Facts {
  accountId: string
  weight: number | null
  favoriteSports: string[]
  experience: string
  changedAt?: string
}
interface Subscription {
  accountId: string
  status: string
  currentPeriodEnd: string
}

/** Creates the account's row if it is missing, and locks it until the end of the transaction. */
export async function lockMember (trx: Trx, accountId: string) {
  await trx.insertInto('members').values({ account_id: accountId }).onConflict((conflict) => conflict.doNothing())
    .execute()
  return await trx.selectFrom('members').select(memberColumns).where('account_id', '=', accountId).forUpdate()
    .executeTakeFirstOrThrow()
}

/** A timestamp with microseconds, which a Date would cut to milliseconds. */
export const toTimestamp = (changedAt: string | Date) => sql<Date>`${changedAt}::timestamptz`

/** Whether a change made at `changedAt` is newer than the last one applied to the row. */
export const isNewer = (column: 'person_changed_at' | 'facts_changed_at', changedAt: RawBuilder<Date>) =>
  sql<boolean>`coalesce(${sql.ref(`members.${column}`)} < ${changedAt}, true)`

/** Stores a person's name and time zone. A late event does not overwrite a newer one. */
export async function upsertPerson (db: Db, { accountId, name, timezone, changedAt }: Person, at: Date) {
  const changeTime = toTimestamp(changedAt ?? at)
  await db.transaction().execute(async (trx) => {
    await lockMember(trx, accountId)
    const { numUpdatedRows } = await trx.updateTable('members').set({ timezone, person_changed_at: changeTime })
      .where('account_id', '=', accountId).where(isNewer('person_changed_at', changeTime))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    await trx.updateTable('profiles').set({ display_name: name })
      .where('account_id', '=', accountId).where('has_custom_name', '=', false)
      .execute()
  })
}

/** Stores weight, sports and experience, under the same rule. */
export async function upsertFacts (
  db: Db,
  { accountId, weight, favoriteSports, experience, changedAt }: Facts,
  at: Date
) {
  const changeTime = toTimestamp(changedAt ?? at)
  await db.transaction().execute(async (trx) => {
    await lockMember(trx, accountId)
    const { numUpdatedRows } = await trx.updateTable('members')
      .set({ weight, favorite_sports: favoriteSports, experience, facts_changed_at: changeTime })
      .where('account_id', '=', accountId).where(isNewer('facts_changed_at', changeTime))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    const sports = await sportBitsOf(trx, favoriteSports)
    await trx.updateTable('profiles').set({ sport_bits: sql`${sports}::bit(128)` }).where('account_id', '=', accountId)
      .execute()
  })
}

/** Stores the end of a subscription. Two changes can share a millisecond, so the sequence decides which is newer. */
export async function upsertSubscription (
  db: Db,
  { accountId, status, currentPeriodEnd }: Subscription,
  sequence: number
) {
  const until = status === 'ACTIVE' ? new Date(currentPeriodEnd) : null
  await db.insertInto('members').values({
    account_id: accountId,
    subscribed_until: until,
    subscription_sequence: sequence
  })
    .onConflict((conflict) =>
      conflict.column('account_id')
        .doUpdateSet({ subscribed_until: until, subscription_sequence: sequence })
        .where((member) =>
          member.or([
            member('members.subscription_sequence', 'is', null),
            member('members.subscription_sequence', '<=', sequence)
          ])
        )
    )
    .execute()
}
