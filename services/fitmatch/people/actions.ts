import { sql } from 'kysely'
import { ENTITLEMENTS } from '@tandem/contracts'
import { upsertVersioned } from '@tandem/database-kit'
import { sportBitsOf } from './sports.ts'
import type { Db, Trx } from '../tables.ts'

/**
 * The columns that actions need of a locked row. Named, because `*` breaks prepared statements as soon as a migration
 * adds a column.
 */
const memberColumns = ['account_id', 'timezone', 'suspended_at', 'suspended_until'] as const

interface Person {
  accountId: string
  name: string
  timezone: string
  changedAt: string | Date
}
interface Facts {
  accountId: string
  weight: number | null
  favoriteSports: string[]
  experience: string
  birthDate: string | null
  changedAt: string | Date
}
interface Subscription {
  accountId: string
  status: string
  currentPeriodEnd: string
  entitlements?: string[]
}

/** Creates the account's row if it is missing, and locks it until the end of the transaction. */
export async function lockMember (trx: Trx, accountId: string) {
  await trx.insertInto('members').values({ account_id: accountId }).onConflict((conflict) => conflict.doNothing())
    .execute()
  return await trx.selectFrom('members').select(memberColumns).where('account_id', '=', accountId).forUpdate()
    .executeTakeFirstOrThrow()
}

/** Stores a person's name and time zone. A late event does not overwrite a newer one. */
export async function upsertPerson (db: Db, { accountId, name, timezone, changedAt }: Person) {
  await db.transaction().execute(async (trx) => {
    if (!await upsertTimezone(trx, { accountId, timezone, changedAt })) return
    await trx.updateTable('profiles').set({ display_name: name })
      .where('account_id', '=', accountId).where('has_custom_name', '=', false)
      .execute()
  })
}

/**
 * Stores weight, sports, experience and birth date, under the same rule. A profile follows the birth date until its owner
 * sets another one there: without any, they can meet nobody.
 */
export async function upsertFacts (db: Db, facts: Facts) {
  await db.transaction().execute(async (trx) => {
    if (!await upsertMemberFacts(trx, facts)) return
    const sports = await sportBitsOf(trx, facts.favoriteSports)
    await trx.updateTable('profiles')
      .set({
        sport_bits: sql`${sports}::bit(128)`,
        birth_date: sql`case when has_custom_birth_date and birth_date is not null then birth_date
          else coalesce(${facts.birthDate}::date, birth_date) end`
      })
      .where('account_id', '=', facts.accountId)
      .execute()
  })
}

/** Stores what a profile does not hold. @returns false if a newer change is stored */
export async function upsertTimezone (trx: Trx, { accountId, timezone, changedAt }: Omit<Person, 'name'>) {
  const member = { account_id: accountId, timezone, person_changed_at: changedAt }
  const written = await upsertVersioned(trx, 'members', [member], { key: 'account_id', version: 'person_changed_at' })
  return written.length > 0
}

/** The same for weight, sports, experience and birth date. */
export async function upsertMemberFacts (
  trx: Trx,
  { accountId, weight, favoriteSports, experience, birthDate, changedAt }: Facts
) {
  const member = {
    account_id: accountId,
    weight,
    favorite_sports: favoriteSports,
    experience,
    birth_date: birthDate,
    facts_changed_at: changedAt
  }
  const written = await upsertVersioned(trx, 'members', [member], { key: 'account_id', version: 'facts_changed_at' })
  return written.length > 0
}

/** Stores the end of a subscription, and what it unlocks until then. Two changes can share a millisecond, so the sequence decides which is newer. */
export async function upsertSubscription (
  db: Db,
  { accountId, status, currentPeriodEnd, entitlements = [...ENTITLEMENTS] }: Subscription,
  sequence: number
) {
  const member = {
    account_id: accountId,
    entitlements,
    subscribed_until: status === 'ACTIVE' ? new Date(currentPeriodEnd) : null,
    subscription_sequence: sequence
  }
  await upsertVersioned(db, 'members', [member], { key: 'account_id', version: 'subscription_sequence' })
}
