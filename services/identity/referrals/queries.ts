import { sql } from 'kysely'
import { isShown } from '../hidden.ts'
import type { Db } from '../tables.ts'

const MAX_SHOWN = 100

/** The code of an account and who registered with it, newest first. */
export async function readReferrals (db: Db, accountId: string, publicUrl: string) {
  const [own, redemptions] = await Promise.all([
    db.selectFrom('accounts').where('id', '=', accountId)
      .select((account) => [
        'referral_code as code',
        account.selectFrom('referrals').where('referrer_id', '=', accountId)
          .select(({ fn }) => fn.countAll<number>().as('count')).as('count'),
        account.selectFrom('referrals').where('referrer_id', '=', accountId).where('is_counted', '=', true)
          .select(({ fn }) => fn.countAll<number>().as('count')).as('verifiedCount'),
        account.selectFrom('referral_rewards').where('account_id', '=', accountId).where('is_referrer', '=', true)
          .select(sql<number>`coalesce(sum(days), 0)::integer`.as('days')).as('rewardDays')
      ])
      .executeTakeFirstOrThrow(),
    db.selectFrom('referrals').innerJoin('accounts', 'accounts.id', 'referrals.account_id')
      .where('referrer_id', '=', accountId)
      .select([
        sql<string | null>`case when ${isShown} then name end`.as('name'),
        'referrals.created_at as joinedAt',
        sql<boolean>`email_verified_at is not null`.as('isVerified')
      ])
      .orderBy('referrals.created_at', 'desc').limit(MAX_SHOWN)
      .execute()
  ])
  const { code, count, verifiedCount, rewardDays } = own
  return {
    code,
    shareUrl: new URL(`/invite/${code}`, publicUrl).href,
    count: count ?? 0,
    verifiedCount: verifiedCount ?? 0,
    rewardDays: rewardDays ?? 0,
    redemptions
  }
}
