import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { ReferralCounted } from '@tandem/contracts'
import { settleEach } from '@tandem/process-kit'
import { lockAccounts } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { mailboxOf } from '../mailboxes.ts'
import type { DeriveDeps } from '../subscriptions/derive.ts'
import { grantPremium } from '../subscriptions/grants.ts'
import type { Db, Trx } from '../tables.ts'

const MAX_COUNTED = 50
const MAX_DAYS_PER_YEAR = 90

/** Ignores an unknown code: it must not prevent a registration. */
export async function addReferral (trx: Trx, accountId: string, referralCode: string) {
  await trx.insertInto('referrals')
    .columns(['account_id', 'referrer_id'])
    .expression((from) =>
      from.selectFrom('accounts')
        .where('referral_code', '=', referralCode)
        .select([sql<string>`${accountId}::uuid`.as('account_id'), 'id as referrer_id'])
    )
    .execute()
}

/** Of a request. */
interface RequestLog {
  warn: (fields: { err: unknown }, message: string) => void
}

type ReferralDeps = Pick<Deps, 'db' | 'referralRewardDays'> & DeriveDeps

/**
 * Decides whether the referral of an account counts, once its address is verified, and rewards both people. Each
 * referral is decided once. Call it after the commit of the verification: it locks the older account first.
 */
export async function decideReferral (deps: ReferralDeps, accountId: string) {
  const referral = await findUndecided(deps.db, accountId)
  if (!referral) return
  const { referrerId } = referral
  await deps.db.transaction().execute(async (trx) => {
    const accounts = await lockAccounts(trx, [accountId, referrerId])
    const [referred, referrer] = [accounts.get(accountId), accounts.get(referrerId)]
    if (!referred || !await findUndecided(trx, accountId)) return
    const isCounted = referrer !== undefined && !referrer.isBanned && !referred.isBanned &&
      await countReferrals(trx, referrerId) < MAX_COUNTED &&
      !await isSamePerson(trx, referred, referrer)
    await trx.updateTable('referrals').set({ decided_at: sql`now()`, is_counted: isCounted })
      .where('account_id', '=', accountId).execute()
    if (isCounted) await reward(trx, deps, { referrerId, referredId: accountId })
  })
}

/** The same for a request that has verified an address. If it fails, housekeeping decides it. */
export async function tryToDecideReferral (
  deps: ReferralDeps,
  log: RequestLog,
  accountId: string
) {
  await decideReferral(deps, accountId).catch((error: unknown) =>
    log.warn({ err: error }, 'could not decide a referral; housekeeping will retry')
  )
}

/** Decides the referrals that were left undecided. */
export async function decideForgottenReferrals (deps: ReferralDeps) {
  const forgotten = await selectUndecided(deps.db).select('referrals.account_id as id').limit(100).execute()
  await settleEach(forgotten, async ({ id }) => await decideReferral(deps, id))
}

const selectUndecided = (db: Db) =>
  db.selectFrom('referrals').innerJoin('accounts', 'accounts.id', 'referrals.account_id')
    .where('decided_at', 'is', null).where('email_verified_at', 'is not', null)

const findUndecided = async (db: Db, accountId: string) =>
  await selectUndecided(db).where('referrals.account_id', '=', accountId)
    .select('referrer_id as referrerId').executeTakeFirst()

/** How many referrals of a person have counted, also of accounts that were erased since. */
async function countReferrals (trx: Trx, referrerId: string) {
  const { counted } = await trx.selectFrom('referral_rewards').where('account_id', '=', referrerId)
    .where('is_referrer', '=', true)
    .select((row) => row.fn.countAll<number>().as('counted'))
    .executeTakeFirstOrThrow()
  return counted
}

/**
 * Whether the new account shares its mailbox or a device with the referrer, or with another account that counted for
 * them. An address on the network proves nothing: friends and flatmates share it.
 */
async function isSamePerson (
  trx: Trx,
  referred: { id: string, email: string },
  referrer: { id: string, email: string }
) {
  const counted = await trx.selectFrom('referrals').innerJoin('accounts', 'accounts.id', 'referrals.account_id')
    .where('referrer_id', '=', referrer.id).where('is_counted', '=', true)
    .select(['accounts.id', 'email']).execute()
  const others = [referrer, ...counted]
  if (others.some(({ email }) => mailboxOf(email) === mailboxOf(referred.email))) return true
  const shared = await trx.selectFrom('sessions')
    .innerJoin('sessions as other', 'other.device_digest', 'sessions.device_digest')
    .where('sessions.account_id', '=', referred.id)
    .where('other.account_id', '=', sql<string>`any(${others.map(({ id }) => id)}::uuid[])`)
    .select('sessions.id').limit(1).executeTakeFirst()
  return shared !== undefined
}

async function reward (
  trx: Trx,
  deps: ReferralDeps,
  { referrerId, referredId }: { referrerId: string, referredId: string }
) {
  const give = async (accountId: string, isReferrer: boolean) => {
    const days = Math.min(deps.referralRewardDays, MAX_DAYS_PER_YEAR - await readDaysOfYear(trx, accountId))
    await trx.insertInto('referral_rewards').values({ account_id: accountId, is_referrer: isReferrer, days }).execute()
    if (days > 0) await grantPremium(trx, deps, { accountId, reason: 'REFERRAL', days })
    return days
  }
  await publish(trx, ReferralCounted, referrerId, {
    referrerId,
    referredId,
    referrerDays: await give(referrerId, true),
    referredDays: await give(referredId, false)
  })
}

async function readDaysOfYear (trx: Trx, accountId: string) {
  const { days } = await trx.selectFrom('referral_rewards').where('account_id', '=', accountId)
    .where('granted_at', '>', sql<Date>`now() - interval '1 year'`)
    .select(sql<number>`coalesce(sum(days), 0)::integer`.as('days'))
    .executeTakeFirstOrThrow()
  return days
}
