import { dayAround } from '@tandem/account-kit'
import { useDailyQuota } from '@tandem/database-kit'
import { Unavailable, withTimeout } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { InvalidPurchase, PurchaseInUse, PurchaseLimitExceeded } from '../errors.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import { STORE_TIMEOUT_MS, type Reading } from '../stores/reading.ts'
import { recordReading } from './actions.ts'

/** What the app got from its store. */
export type SentPurchase =
  & ({ store: 'APPLE', signedTransaction: string } | { store: 'GOOGLE', purchaseToken: string })
  & { transfer: boolean }

const MAX_REFUSED_PER_DAY = 30
const QUOTA = 'refused purchases'

/**
 * Gives a purchase to who sends it. @returns whether its payment is still on its way
 * @throws InvalidPurchase, PurchaseInUse, PurchaseLimitExceeded, Unavailable, InvalidAccessToken
 */
export async function claimPurchase (deps: Deps, caller: Caller, sent: SentPurchase) {
  const { db, mailer } = deps
  // Counted before it is checked, and given back if it is accepted: many at once cannot pass the limit.
  await countAttempt(deps, caller)
  let isRefused = false
  try {
    const reading = await readPurchase(deps, sent)
    if (!reading || !await countsFor(deps, caller.accountId, reading)) throw new InvalidPurchase()
    const { outcome, purchase, mails } = await db.transaction().execute(async (trx) =>
      await recordReading(trx, deps, reading, { claim: { caller, transfer: sent.transfer } })
    )
    await mailer.enqueue(mails)
    if (outcome === 'REFUSED') throw new InvalidPurchase()
    if (outcome === 'IN_USE') throw new PurchaseInUse()
    if (outcome === 'TOO_MANY_MOVES') throw new PurchaseLimitExceeded()
    return purchase.state === 'PENDING'
  } catch (error) {
    isRefused = error instanceof InvalidPurchase || error instanceof PurchaseInUse
    throw error
  } finally {
    if (!isRefused) await giveBackAttempt(deps, caller)
  }
}

/** @throws PurchaseLimitExceeded after too many refused ones, InvalidAccessToken */
async function countAttempt ({ db, clock }: Pick<Deps, 'db' | 'clock'>, caller: Caller) {
  const used = await db.transaction().execute(async (trx) => {
    await lockCaller(trx, caller)
    return await useDailyQuota(trx, {
      name: QUOTA,
      accountId: caller.accountId,
      day: dayAround('UTC', clock()),
      limit: MAX_REFUSED_PER_DAY
    })
  })
  if (used === undefined) throw new PurchaseLimitExceeded()
}

async function giveBackAttempt ({ db }: Pick<Deps, 'db'>, { accountId }: Caller) {
  await db.updateTable('daily_quotas').set(({ eb }) => ({ used: eb('used', '-', 1) }))
    .where('account_id', '=', accountId).where('name', '=', QUOTA).where('used', '>', 0).execute()
}

/** What the store says of it; undefined for a store that is not set up. @throws Unavailable */
async function readPurchase ({ stores }: Pick<Deps, 'stores'>, sent: SentPurchase): Promise<Reading | undefined> {
  if (sent.store === 'APPLE') return await stores.apple?.readTransaction(sent.signedTransaction)
  if (!stores.google) return
  // A purchase that upgraded others takes several calls.
  return await withTimeout(STORE_TIMEOUT_MS, stores.google.ask(sent.purchaseToken)).catch(() => {
    throw new Unavailable()
  })
}

/** Whether the purchase is not of a sandbox, or the sandbox counts for the account. */
async function countsFor (
  { db, subscriptions: { sandbox } }: Pick<Deps, 'db' | 'subscriptions'>,
  accountId: string,
  { environment }: Reading
) {
  if (environment === 'PRODUCTION' || sandbox === 'all') return true
  const account = await db.selectFrom('accounts').where('id', '=', accountId).select('uses_sandbox').executeTakeFirst()
  return sandbox === 'marked' && account?.uses_sandbox === true
}
