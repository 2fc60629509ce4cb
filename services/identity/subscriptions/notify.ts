import { publish } from '@tandem/bus-kit'
import { SubscriptionNotice } from '@tandem/contracts'
import { createMail, renderMail } from '@tandem/mail-kit'
import type { LockedAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { listCountedPurchases } from './derive.ts'
import type { Trx } from '../tables.ts'
import { isLive, type Purchase } from './purchase-state.ts'

type NotifyDeps = Pick<Deps, 'subscriptions' | 'clock'>

export type NotificationKind = 'BEGUN' | 'PAYMENT_FAILED' | 'ENDED' | 'REFUNDED' | 'MOVED' | 'RECEIVED' | 'BILLED_TWICE'

interface Change {
  /** Undefined for a purchase that was not known. */
  before: Purchase | undefined
  purchase: Purchase
  accounts: Map<string, LockedAccount>
  isMove: boolean
}

/** Tells people what has changed about a purchase of theirs. @returns the ids of the mails */
export async function notifyOfChange (trx: Trx, deps: NotifyDeps, { before, purchase, accounts, isMove }: Change) {
  const owner = purchase.account_id === null ? undefined : accounts.get(purchase.account_id)
  const former = isMove && before?.account_id ? accounts.get(before.account_id) : undefined
  const moves = String(purchase.moved_at.length > 0 ? purchase.moved_at.at(-1)!.getTime() : 0)
  const mails = [former && await notifyOwner(trx, former, { kind: 'MOVED', purchase, period: moves })]
  if (!owner || purchase.is_replaced) return mails
  if (isMove) mails.push(await notifyOwner(trx, owner, { kind: 'RECEIVED', purchase, period: moves }))
  const kind = isMove ? undefined : kindOf(deps, before, purchase)
  if (kind) mails.push(await notifyOwner(trx, owner, { kind, purchase }))
  if (kind === 'BEGUN' || isMove) mails.push(await notifyIfBilledTwice(trx, deps, owner, purchase))
  return mails
}

const lost = ['GRACE', 'HOLD']

function kindOf ({ subscriptions: { slackMs }, clock }: NotifyDeps, before: Purchase | undefined, purchase: Purchase) {
  const now = clock()
  const known = before?.account_id === purchase.account_id ? before : undefined
  if (isLive(purchase, slackMs, now) && purchase.state === 'ACTIVE') {
    return !known || ['PENDING', 'EXPIRED', 'REVOKED'].includes(known.state) ? 'BEGUN' : undefined
  }
  // Of what they never had, nothing is said.
  if (!known || known.state === purchase.state) return
  if (purchase.state === 'REVOKED') return 'REFUNDED'
  if (purchase.state === 'EXPIRED') return known.state === 'PENDING' ? undefined : 'ENDED'
  return lost.includes(purchase.state) && !lost.includes(known.state) ? 'PAYMENT_FAILED' : undefined
}

/** Two stores bill at the same time: only the person can end one of them. */
async function notifyIfBilledTwice (trx: Trx, deps: NotifyDeps, owner: LockedAccount, purchase: Purchase) {
  const { subscriptions: { slackMs }, clock } = deps
  const billed = (await listCountedPurchases(trx, deps, owner.id))
    .filter((each) => each.will_renew && isLive(each, slackMs, clock()))
  if (billed.length < 2) return
  return await notifyOwner(trx, owner, {
    kind: 'BILLED_TWICE',
    purchase,
    period: billed.map(({ id }) => id).toSorted().join()
  })
}

interface Notification {
  kind: NotificationKind
  purchase: Pick<Purchase, 'id' | 'plan_id' | 'period_end' | 'manage_url'>
  /** What makes it another one; by default the end of the period. */
  period?: string
}

/** Notifies the owner of a purchase in the app and writes its mail, once for its key. The caller holds the lock of the account. */
export async function notifyOwner (trx: Trx, account: LockedAccount, { kind, purchase, period }: Notification) {
  const key = `${kind}:${purchase.id}:${period ?? purchase.period_end.getTime()}:${account.id}`
  await publish(trx, SubscriptionNotice, account.id, { accountId: account.id, kind, planId: purchase.plan_id, key })
  // Nobody has shown that an address that is not verified is theirs.
  if (!account.emailVerified) return
  return await createMail(trx, {
    dedupeKey: `subscription:${key}`,
    recipient: account.email,
    accountId: account.id,
    // Only what the owner does at their store causes it.
    rateLimited: false,
    ...renderMail({ kind: `subscription.${kind}`, locale: account.locale, url: purchase.manage_url })
  })
}
