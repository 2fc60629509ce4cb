import { publish } from '@tandem/bus-kit'
import { BadgeEarned, BadgeRevoked, Membership, TrainingProgress } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { planNextCheck } from './check-times.ts'
import { badges, endOfFirstYear, measureProgress, type Badge } from './rules.ts'

// Verification grants its badge by itself, and a member number never changes.
const selfEarned: Badge[] = ['CONSISTENT', 'PR_ACHIEVER', 'VETERAN']

/** Grants a badge. Publishes nothing if the account already has it. */
export async function grantBadge (trx: Trx, accountId: string, badge: Badge) {
  const earned = await trx.insertInto('badges').values({ account_id: accountId, badge })
    .onConflict((conflict) => conflict.doNothing())
    .returning('badge')
    .executeTakeFirst()
  if (earned) await publish(trx, BadgeEarned, accountId, { accountId, badge })
}

/** Revokes a badge that describes a current state rather than an achievement. */
export async function revokeBadge (trx: Trx, accountId: string, badge: Badge) {
  const { numDeletedRows } = await trx.deleteFrom('badges').where('account_id', '=', accountId)
    .where('badge', '=', badge).executeTakeFirst()
  if (numDeletedRows > 0n) await publish(trx, BadgeRevoked, accountId, { accountId, badge })
  await trx.updateTable('badge_progress').set({ progress: 0 }).where('account_id', '=', accountId).where(
    'badge',
    '=',
    badge
  ).execute()
}

/**
 * Fetches the account's training progress and membership, and grants the badges they have earned.
 * @throws Unavailable
 */
export async function recalculateBadges ({ db, callRpc }: Deps, accountId: string) {
  const [{ weekStreak, personalRecords }, membership] = await Promise.all([
    callRpc(TrainingProgress, { accountId }),
    callRpc(Membership, { accountId })
  ])
  await db.transaction().execute(async (trx) => {
    // Locked, so that revoking the approval at this moment removes the badge after it is granted here, and not before.
    const approved = await trx.selectFrom('verifications').where('account_id', '=', accountId).where(
      'status',
      '=',
      'APPROVED'
    ).where('revoked_at', 'is', null)
      .select('id').limit(1).forShare().executeTakeFirst()
    const progress = measureProgress({ isVerified: approved !== undefined, weekStreak, personalRecords, membership })
    await trx.insertInto('badge_progress')
      .values(badges.map((badge) => ({ account_id: accountId, badge, progress: progress[badge] })))
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'badge']).doUpdateSet((eb) => ({ progress: eb.ref('excluded.progress') }))
      )
      .execute()
    for (const badge of badges) if (progress[badge] === 100) await grantBadge(trx, accountId, badge)
    await planNextCheck(trx, accountId, {
      isComplete: selfEarned.every((badge) => progress[badge] === 100),
      yearEndsAt: membership ? endOfFirstYear(membership.since) : undefined
    })
  })
}
