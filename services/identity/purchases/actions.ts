import { sql } from 'kysely'
import { isActiveSession } from '../sessions/queries.ts'
import { InvalidAccessToken, isUuid } from '@tandem/http-kit'
import { lockAccounts, type LockedAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../sessions/caller.ts'
import type { Reading } from '../stores/reading.ts'
import { deriveSubscription } from '../subscriptions/derive.ts'
import type { Trx } from '../tables.ts'
import { notifyOfChange } from '../subscriptions/notify.ts'
import { isLive, nextCheck, purchaseColumns, type Purchase } from '../subscriptions/purchase-state.ts'

export type RecordDeps = Pick<Deps, 'subscriptions' | 'clock' | 'secrets' | 'stores'>

/** Somebody who sends a purchase from their app. */
export interface Claim {
  caller: Caller
  /** Whether it should move here from the account that has it. */
  transfer: boolean
}

/** What made us read a purchase. */
interface Cause {
  claim?: Claim
  /** The digest of an order that the store says it refunded. */
  voidedOrder?: Buffer | null
}

export interface Recorded {
  outcome: 'RECORDED' | 'IN_USE' | 'TOO_MANY_MOVES' | 'REFUSED'
  purchase: Purchase
  /** The mails to enqueue after the commit. */
  mails: (string | undefined)[]
}

const HOUR_MS = 60 * 60 * 1_000
const MAX_MOVES = 2
const MOVES_MS = 30 * 24 * HOUR_MS
const OVERTAKEN_PAUSE_MS = 10_000

/**
 * Records what a store knows of a purchase, and derives the subscriptions of all accounts that it concerns. Purchases are
 * locked first, then accounts in the order of their ids, so that no two recordings wait for each other.
 * @throws InvalidAccessToken if the session of the claim has ended
 */
export async function recordReading (
  trx: Trx,
  deps: RecordDeps,
  reading: Reading,
  { claim, voidedOrder }: Cause = {}
): Promise<Recorded> {
  const now = deps.clock()
  const { before, isNew, upgraded } = await lockPurchases(trx, deps, reading)
  const owner = before.account_id ?? await findOwner(trx, deps, { reading, upgraded, claim })
  const accounts = await lockAccounts(trx, [
    before.account_id,
    owner,
    claim?.caller.accountId ?? null,
    ...upgraded.map(({ account_id }) => account_id)
  ])
  if (claim && !await canClaim(trx, accounts, claim)) throw new InvalidAccessToken()

  const current = await updateKnowledge(trx, deps, { before, isNew, reading, voidedOrder })
  const { outcome, accountId, isMove } = decideOwner({
    deps,
    current,
    reading,
    claim,
    now,
    owner: owner && accounts.has(owner) ? owner : null
  })
  const purchase = await assignOwner(trx, current, { accountId, movedAt: isMove ? now : undefined })
  if (upgraded.length > 0) {
    await trx.updateTable('purchases').set({ is_replaced: true, account_id: accountId })
      .where('id', 'in', upgraded.map(({ id }) => id)).execute()
  }
  for (const each of accounts.keys()) await deriveSubscription(trx, deps, each)
  const mails = await notifyOfChange(trx, deps, { before: isNew ? undefined : before, purchase, accounts, isMove })
  return { outcome, purchase, mails }
}

/** Inserts the purchase if it is new, and locks it with those that it upgraded, in the order of their ids. */
async function lockPurchases (trx: Trx, { secrets, clock }: RecordDeps, reading: Reading) {
  const { store, environment, key, replaces } = reading
  const inserted = await trx.insertInto('purchases')
    .values({
      store,
      environment,
      store_key: key,
      account_id: null,
      ...toColumns(reading, { secrets }),
      is_replaced: sql<boolean>`exists (select from purchases where store = ${store} and replaces @> array[${key}])`,
      check_at: null,
      checked_at: null,
      bought_at: clock()
    })
    .onConflict((conflict) => conflict.columns(['store', 'environment', 'store_key']).doNothing())
    .returning('id').executeTakeFirst()
  const locked = await trx.selectFrom('purchases').where('store', '=', store).where('environment', '=', environment)
    .where('store_key', 'in', [key, ...replaces])
    .select(purchaseColumns).orderBy('id').forUpdate().execute()
  const [before] = locked.filter(({ store_key }) => store_key === key)
  if (!before) throw new Error('the purchase that was just inserted is missing')
  return { before, isNew: inserted !== undefined, upgraded: locked.filter((each) => each !== before) }
}

/** What the columns of a purchase hold of a reading. */
const toColumns = (reading: Reading, { secrets }: Pick<RecordDeps, 'secrets'>) => ({
  encrypted_token: reading.token === undefined ? null : secrets.encrypt(reading.token, 'purchase', reading.key),
  plan_id: reading.planId,
  product_id: reading.productId,
  state: reading.state,
  will_renew: reading.willRenew,
  is_trial: reading.isTrial,
  is_family_shared: reading.isFamilyShared,
  period_start: reading.periodStart,
  period_end: reading.periodEnd,
  grace_end: reading.graceEnd,
  revoked_at: reading.revokedAt,
  order_digest: reading.orderId === null ? null : orderDigest({ secrets }, reading.orderId),
  manage_url: reading.manageUrl,
  replaces: reading.replaces,
  known_at: reading.knownAt,
  needs_acknowledgement: reading.needsAcknowledgement
})

/** Finds a purchase by the id in the mails of its store, of which only this is kept. */
export const orderDigest = ({ secrets }: Pick<RecordDeps, 'secrets'>, orderId: string) =>
  secrets.digest('order', orderId.trim())

/** Like `lockCaller`: the accounts are locked already. */
async function canClaim (trx: Trx, accounts: Map<string, LockedAccount>, { caller }: Claim) {
  const account = accounts.get(caller.accountId)
  return account !== undefined && !account.isBanned && await isActiveSession(trx, caller)
}

/** The account that the purchase names, else the one of what it upgraded, else who sends it first. */
async function findOwner (
  trx: Trx,
  { subscriptions: { familySharing } }: RecordDeps,
  { reading, upgraded, claim }: { reading: Reading, upgraded: Purchase[], claim: Claim | undefined }
) {
  if (reading.isFamilyShared && !familySharing) return null
  const named = await findAccountOfToken(trx, reading.accountToken)
  const inherited = upgraded.find(({ account_id }) => account_id !== null)?.account_id
  return named ?? inherited ?? claim?.caller.accountId ?? null
}

async function findAccountOfToken (trx: Trx, token: string | null) {
  if (token === null || !isUuid(token)) return
  const account = await trx.selectFrom('accounts').where('account_token', '=', token).where('expired_at', 'is', null)
    .select('id').executeTakeFirst()
  return account?.id
}

/** Newer knowledge replaces what is known. Older knowledge only says that the store answered. */
async function updateKnowledge (
  trx: Trx,
  deps: RecordDeps,
  { before, isNew, reading, voidedOrder }: Pick<Cause, 'voidedOrder'> & {
    before: Purchase,
    isNew: boolean,
    reading: Reading
  }
): Promise<Purchase> {
  const now = deps.clock()
  const isCounted = isNew || isNewer(before, reading)
  const voided_order = voidedOrder ?? before.voided_order
  const read = isCounted ? { ...toColumns(reading, deps), ...(isNew ? {} : keepPeriod(before, reading)) } : {}
  // The push says of an order that it was refunded, however old the answer is that it made us read.
  const known = { ...read, ...revokeVoided({ ...before, ...read }, { before, voided_order }) }
  const { state, period_end } = { ...before, ...known }
  const isKnown = reading.isComplete && !reading.needsAcknowledgement
  // What Apple's transaction alone does not say is asked at once, and what Google wants acknowledged is acknowledged.
  const nextAt = isKnown ? nextCheck({ state, period_end }, now) : now
  // Another process, whose clock may be ahead, has recorded a newer answer. Whether it is, the store says, once the time
  // of that answer has come: until then, every answer would be overtaken.
  const isOvertaken = !isCounted && reading.store !== 'APPLE'
  const askedAgainAt = new Date(Math.max(now.getTime(), before.known_at.getTime()) + OVERTAKEN_PAUSE_MS)
  return await trx.updateTable('purchases')
    .set({
      ...known,
      voided_order,
      check_at: isOvertaken ? askedAgainAt : nextAt,
      attempts: 0,
      ...(reading.isComplete && isCounted && { checked_at: now })
    })
    .where('id', '=', before.id).returning(purchaseColumns).executeTakeFirstOrThrow()
}

/**
 * Apple signs what it says, and it can arrive in any order: of two periods the later one counts, of one period what was
 * signed last. So a transaction that is sent again after its refund changes nothing, and the refund of an earlier period
 * neither. What was read from the others is as old as the moment at which the reading began.
 */
function isNewer (before: Purchase, reading: Reading) {
  if (reading.store !== 'APPLE') return reading.knownAt >= before.known_at
  const period = reading.periodStart.getTime() - before.period_start.getTime()
  return period > 0 || (period === 0 && reading.knownAt > before.known_at)
}

/** Google only says when the first period began, and when this one ends, which it moves to the end of the grace period. */
function keepPeriod (before: Purchase, { store, state, periodEnd }: Reading) {
  if (store !== 'GOOGLE') return {}
  if (state === 'GRACE' || state === 'HOLD') {
    return {
      period_start: before.period_start,
      period_end: periodEnd < before.period_end ? periodEnd : before.period_end
    }
  }
  return { period_start: periodEnd > before.period_end ? before.period_end : before.period_start }
}

/**
 * Google does not say of a purchase that it was refunded, only in a push. It counts for the period that was refunded, and
 * only once the purchase does not renew any more.
 */
function revokeVoided (
  { order_digest, state, will_renew, known_at }: Pick<Purchase, 'order_digest' | 'state' | 'will_renew' | 'known_at'>,
  { before, voided_order }: { before: Purchase, voided_order: Buffer | null }
) {
  const isVoided = voided_order !== null && order_digest !== null && voided_order.equals(order_digest)
  if (!isVoided || will_renew || !['ACTIVE', 'EXPIRED'].includes(state)) return {}
  return { state: 'REVOKED' as const, revoked_at: before.revoked_at ?? known_at }
}

interface OwnerQuestion {
  deps: RecordDeps
  current: Purchase
  reading: Reading
  claim: Claim | undefined
  owner: string | null
  now: Date
}

/** Whose the purchase is from now on. */
function decideOwner (
  { deps, current, reading, claim, owner, now }: OwnerQuestion
): { outcome: Recorded['outcome'], accountId: string | null, isMove: boolean } {
  const stays = { accountId: owner, isMove: false }
  if (!claim || owner === claim.caller.accountId) return { outcome: 'RECORDED', ...stays }
  if (owner === null) return { outcome: 'REFUSED', ...stays }
  const isFresh = reading.signedAt === undefined || reading.signedAt.getTime() > now.getTime() - HOUR_MS
  if (!claim.transfer || !isFresh || !isLive(current, deps.subscriptions.slackMs, now)) {
    return { outcome: 'IN_USE', ...stays }
  }
  const moves = current.moved_at.filter((at) => at.getTime() > now.getTime() - MOVES_MS)
  if (moves.length >= MAX_MOVES) return { outcome: 'TOO_MANY_MOVES', ...stays }
  return { outcome: 'RECORDED', accountId: claim.caller.accountId, isMove: true }
}

async function assignOwner (
  trx: Trx,
  purchase: Purchase,
  { accountId, movedAt }: { accountId: string | null, movedAt: Date | undefined }
): Promise<Purchase> {
  if (purchase.account_id === accountId) return purchase
  return await trx.updateTable('purchases')
    .set({
      account_id: accountId,
      ...(movedAt && { moved_at: [...purchase.moved_at, movedAt].slice(-MAX_MOVES) })
    })
    .where('id', '=', purchase.id).returning(purchaseColumns).executeTakeFirstOrThrow()
}
