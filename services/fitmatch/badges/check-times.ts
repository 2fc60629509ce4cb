import type { Trx } from '../tables.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
// No event says that a streak has grown, or that a member's first year is over.
const INTERVAL_MS = 7 * DAY_MS

/** Recalculates the badges of a new profile soon. */
export async function planFirstCheck (trx: Trx, accountId: string) {
  await setDue(trx, accountId, new Date())
}

/** Plans the next check; none once there is nothing left to earn. */
export async function planNextCheck (
  trx: Trx,
  accountId: string,
  { isComplete, yearEndsAt }: { isComplete: boolean, yearEndsAt: Date | undefined }
) {
  if (isComplete) {
    await trx.deleteFrom('badge_checks').where('account_id', '=', accountId).execute()
    return
  }
  const next = Date.now() + INTERVAL_MS
  const isSooner = yearEndsAt && yearEndsAt.getTime() > Date.now() && yearEndsAt.getTime() < next
  await setDue(trx, accountId, isSooner ? yearEndsAt : new Date(next))
}

async function setDue (trx: Trx, accountId: string, dueAt: Date) {
  await trx.insertInto('badge_checks').values({ account_id: accountId, due_at: dueAt })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ due_at: dueAt }))
    .execute()
}
