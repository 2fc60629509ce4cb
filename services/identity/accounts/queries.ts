import { sql } from 'kysely'
import type { Db, Role, Trx } from '../tables.ts'

/** What is shown of an account. */
export interface Account {
  id: string
  name: string
  email: string
  image: string | null
  role: Role
  emailVerified: boolean
  createdAt: Date
}

/** The columns of an `Account`. */
export const accountColumns = [
  'id', 'name', 'email', 'image', 'role', 'created_at as createdAt',
  sql<boolean>`email_verified_at is not null`.as('emailVerified')
] as const

/** The caller's own account with all that this service owns of it. */
export async function findOwnAccount (db: Db, id: string) {
  const account = await db.selectFrom('accounts').where('id', '=', id).where('barred_at', 'is', null)
    .select([...accountColumns, 'updated_at as updatedAt', 'referral_code as referralCode'])
    .executeTakeFirst()
  if (!account) return
  const subscription = await db.selectFrom('subscriptions').where('account_id', '=', id)
    .select(['id', 'plan_id as planId', 'status', 'current_period_start as currentPeriodStart', 'current_period_end as currentPeriodEnd'])
    .executeTakeFirst()
  return { ...account, subscription: subscription ?? null }
}

export type OwnAccount = NonNullable<Awaited<ReturnType<typeof findOwnAccount>>>

/** Takes the row of an account: whatever changes how one gets into it waits here. One that has lapsed is not found. */
export async function lockAccount (trx: Trx, by: { id: string } | { email: string }) {
  const query = trx.selectFrom('accounts')
    .select([
      ...accountColumns, 'locale', 'password_hash as passwordHash', 'registered_network as registeredNetwork',
      sql<boolean>`barred_at is not null`.as('isBarred')
    ])
    .where('lapsed_at', 'is', null)
    // Not the key, which every new session refers to.
    .forNoKeyUpdate()
  return 'id' in by
    ? await query.where('id', '=', by.id).executeTakeFirst()
    : await query.where('email', '=', by.email).executeTakeFirst()
}

export type LockedAccount = NonNullable<Awaited<ReturnType<typeof lockAccount>>>

/** Where and how to write to a person. */
export async function findContact (db: Db, id: string) {
  return await db.selectFrom('accounts').where('id', '=', id).where('lapsed_at', 'is', null)
    .select(['email', 'name', 'locale', sql<boolean>`email_verified_at is not null`.as('emailVerified')])
    .executeTakeFirst()
}

/** What a profile begins with, of each that exists. */
export async function listAccounts (db: Db, ids: string[]) {
  return await db.selectFrom('accounts').where('id', '=', sql<string>`any(${ids}::uuid[])`).where('lapsed_at', 'is', null)
    .select(['id as accountId', 'name', 'image', 'locale'])
    .execute()
}

const COUNTED_MEMBERS = 100_000

/** Since when and as which number somebody is a member. Ids are made in time order; beyond 100,000 the number is only a lower bound. */
export async function findMembership (db: Db, id: string) {
  const account = await db.selectFrom('accounts').where('id', '=', id).select('created_at').executeTakeFirst()
  if (!account) return
  const { rows } = await sql<{ number: number }>`
    select count(*) as number from (select from accounts where id <= ${id} limit ${sql.lit(COUNTED_MEMBERS)}) earlier`.execute(db)
  return { since: account.created_at, number: rows[0]?.number ?? 1 }
}
