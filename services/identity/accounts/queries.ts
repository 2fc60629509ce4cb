import { sql } from 'kysely'
import { UserNotFound } from '../errors.ts'
import { toEmail } from '../schemas.ts'
import type { Db, Role, Trx } from '../tables.ts'

/** The public fields of an account. */
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
  'id',
  'name',
  'email',
  'image',
  'role',
  'created_at as createdAt',
  sql<boolean>`email_verified_at is not null`.as('emailVerified')
] as const

/** The caller's own account, with everything this service owns of it. */
export async function findOwnAccount (db: Db, id: string, now: Date) {
  const account = await db.selectFrom('accounts').where('id', '=', id).where('banned_at', 'is', null)
    .select([...accountColumns, 'updated_at as updatedAt', 'referral_code as referralCode'])
    .executeTakeFirst()
  if (!account) return
  const subscription = await findSubscription(db, id, now)
  return { ...account, subscription: subscription ?? null }
}

/** The row of an account's subscription. What is past its end is expired, also before housekeeping says so. */
export async function findSubscription (db: Db, accountId: string, now: Date) {
  const row = await db.selectFrom('subscriptions').where('account_id', '=', accountId)
    .select([
      'id',
      'plan_id as planId',
      'status',
      'current_period_start as currentPeriodStart',
      'current_period_end as currentPeriodEnd'
    ])
    .executeTakeFirst()
  return row && { ...row, status: row.status === 'ACTIVE' && row.currentPeriodEnd <= now ? 'EXPIRED' : row.status }
}

export type OwnAccount = NonNullable<Awaited<ReturnType<typeof findOwnAccount>>>

/**
 * Locks the row of an account. Everything that changes access to the account takes this lock. Expired accounts are not
 * found.
 */
export async function lockAccount (trx: Trx, by: { id: string } | { email: string }) {
  const query = trx.selectFrom('accounts')
    .select([
      ...accountColumns,
      'locale',
      'password_hash as passwordHash',
      'registered_network as registeredNetwork',
      sql<boolean>`banned_at is not null`.as('isBanned')
    ])
    .where('expired_at', 'is', null)
    // A full lock would block new sessions, whose foreign key takes a key-share lock on this row.
    .forNoKeyUpdate()
  return 'id' in by
    ? await query.where('id', '=', by.id).executeTakeFirst()
    : await query.where('email', '=', by.email).executeTakeFirst()
}

export type LockedAccount = NonNullable<Awaited<ReturnType<typeof lockAccount>>>

/**
 * Locks accounts in the order of their ids, so that two transactions that lock the same ones cannot deadlock. Expired
 * ones are missing.
 */
export async function lockAccounts (trx: Trx, ids: (string | null)[]) {
  const accounts = new Map<string, LockedAccount>()
  for (const id of [...new Set(ids)].filter((each) => each !== null).toSorted()) {
    const account = await lockAccount(trx, { id })
    if (account) accounts.set(id, account)
  }
  return accounts
}

/** The id of an account that has not expired. @throws UserNotFound */
export async function readAccountId (db: Db, by: { id: string } | { email: string }) {
  const account = await db.selectFrom('accounts').where('expired_at', 'is', null)
    .where((row) => 'id' in by ? row('id', '=', by.id) : row('email', '=', toEmail(by.email)))
    .select('id').executeTakeFirst()
  if (!account) throw new UserNotFound()
  return account.id
}

/** How to contact the owner of an account. */
export async function findContact (db: Db, id: string) {
  return await db.selectFrom('accounts').where('id', '=', id).where('expired_at', 'is', null)
    .select(['email', 'name', 'locale', sql<boolean>`email_verified_at is not null`.as('emailVerified')])
    .executeTakeFirst()
}

/** The accounts with these random names, which stores know too. Erased accounts have none. */
export async function listAccountsByToken (db: Db, accountTokens: string[]) {
  const found = await db.selectFrom('accounts').where('account_token', 'in', accountTokens).where(
    'expired_at',
    'is',
    null
  )
    .select(['id', 'account_token']).execute()
  return found.flatMap(({ id, account_token: accountToken }) => accountToken ? [{ accountToken, accountId: id }] : [])
}

/** Whose verified address it is. An address that nobody has verified says nothing about who reads its mails. */
export async function findAddressOwner (db: Db, email: string) {
  return await db.selectFrom('accounts').where('email', '=', toEmail(email))
    .where('email_verified_at', 'is not', null).where('expired_at', 'is', null)
    .select([
      'id as accountId',
      sql<boolean>`banned_at is not null or leaving_at is not null`.as('isBannedOrLeaving')
    ])
    .executeTakeFirst()
}

/** The initial profile data of the accounts that exist. */
export async function listAccounts (db: Db, ids: string[]) {
  return await db.selectFrom('accounts').where('id', '=', sql<string>`any(${ids}::uuid[])`).where(
    'expired_at',
    'is',
    null
  )
    .select(['id as accountId', 'name', 'image', 'locale'])
    .execute()
}

const MAX_COUNTED_MEMBERS = 100_000

/**
 * The registration date and member number of an account. Ids are in time order. Beyond 100,000 the number is only a
 * lower bound.
 */
export async function findMembership (db: Db, id: string) {
  const account = await db.selectFrom('accounts').where('id', '=', id).select('created_at').executeTakeFirst()
  if (!account) return
  const { rows } = await sql<{ number: number }>`
    select count(*) as number from (select from accounts where id <= ${id}
      limit ${sql.lit(MAX_COUNTED_MEMBERS)}) earlier`.execute(db)
  return { since: account.created_at, number: rows[0]?.number ?? 1 }
}
