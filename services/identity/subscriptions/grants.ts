import { lockAccount } from '../accounts/queries.ts'
import { UserNotFound } from '../errors.ts'
import type { GrantReason, Trx } from '../tables.ts'
import { deriveSubscription, type DeriveDeps } from './derive.ts'

interface Grant {
  accountId: string
  reason: GrantReason
  /** Default: the first plan of the configuration. */
  planId?: string
  days: number
  /** An operator or an account; nobody if it was given in the shell. */
  givenBy?: string
}

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Gives an account a plan without a store. Rewards and gifts add to the end of what was granted before; what an operator
 * grants starts now, and replaces what operators granted before. What waits for its turn follows it. None of them changes
 * what a store bills.
 * @throws UserNotFound
 */
export async function grantPremium (trx: Trx, deps: DeriveDeps, grant: Grant) {
  const { accountId, reason, planId = deps.subscriptions.plans[0]!.planId, days, givenBy = null } = grant
  if (!await lockAccount(trx, { id: accountId })) throw new UserNotFound()
  const now = deps.clock()
  if (reason === 'OPERATOR') await endGrants(trx, { accountId, now, reason })
  const startsAt = reason === 'OPERATOR' ? now : await findEndOfGrants(trx, accountId, now) ?? now
  const endsAt = new Date(startsAt.getTime() + days * DAY_MS)
  await trx.insertInto('grants')
    .values({ account_id: accountId, plan_id: planId, reason, given_by: givenBy, starts_at: startsAt, ends_at: endsAt })
    .execute()
  if (reason === 'OPERATOR') await moveWaiting(trx, accountId, now)
  await deriveSubscription(trx, deps, accountId)
}

/** Ends what was granted, never what a store sold. The caller holds the lock. @returns whether there was a grant */
export async function takeGrants (trx: Trx, deps: DeriveDeps, accountId: string) {
  const ended = await endGrants(trx, { accountId, now: deps.clock() })
  if (ended) await deriveSubscription(trx, deps, accountId)
  return ended
}

async function findEndOfGrants (trx: Trx, accountId: string, now: Date) {
  const last = await trx.selectFrom('grants').where('account_id', '=', accountId).where('ended_at', 'is', null)
    .where('ends_at', '>', now).select('ends_at').orderBy('ends_at', 'desc').executeTakeFirst()
  return last?.ends_at
}

/**
 * Moves the grants that have not begun to the end of the one that lasts longest now. After a gap, nobody would begin
 * them, and what an operator grants would use them up.
 */
async function moveWaiting (trx: Trx, accountId: string, now: Date) {
  const grants = await trx.selectFrom('grants').where('account_id', '=', accountId).where('ended_at', 'is', null)
    .where('ends_at', '>', now).select(['id', 'starts_at', 'ends_at']).orderBy('starts_at').execute()
  const running = grants.filter(({ starts_at }) => starts_at <= now)
  let end = Math.max(...running.map(({ ends_at }) => ends_at.getTime()))
  for (const { id, starts_at, ends_at } of grants.slice(running.length)) {
    const startsAt = new Date(end)
    end += ends_at.getTime() - starts_at.getTime()
    await trx.updateTable('grants').set({ starts_at: startsAt, ends_at: new Date(end) }).where('id', '=', id).execute()
  }
}

async function endGrants (
  trx: Trx,
  { accountId, now, reason }: { accountId: string, now: Date, reason?: GrantReason }
) {
  const ended = await trx.updateTable('grants').set({ ended_at: now })
    .where('account_id', '=', accountId).where('ended_at', 'is', null).where('ends_at', '>', now)
    .$if(reason !== undefined, (query) => query.where('reason', '=', reason!))
    .returning('id').execute()
  return ended.length > 0
}
