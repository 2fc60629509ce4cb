import { sql } from 'kysely'
import { lockAccount, type LockedAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { scheduleErasure } from '../erasures/actions.ts'
import { findErasure, findLiveErasure } from '../erasures/queries.ts'
import { DeletionPending, EmailChangedRecently, InvalidResetToken, ProofTooWeak } from '../errors.ts'
import { redeemLink } from '../mailed-links.ts'
import { claimProof, hasProof } from '../proofs/actions.ts'
import { digestOfToken } from '../random-tokens.ts'
import { canAddressBeReverted } from '../reserved-addresses.ts'
import { exchangeCode, planRevocation } from '../revocations/actions.ts'
import type { Grant } from '../revocations/provider-client.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import type { Trx } from '../tables.ts'
import { createDeletionMail } from './mails.ts'

type DeletionDeps = Pick<Deps, 'db' | 'secrets' | 'mailer' | 'publicUrl' | 'graceDays' | 'providerClient'>

interface Request {
  proof?: string
  /**
   * Without the grace period. It needs the mailbox: somebody who stole a phone can start the grace, and not end it. Nor
   * can they by changing the address first: that can be taken back for seven days.
   */
  immediately?: boolean
  /** From provider B, so that the connection is ended there too. */
  authorizationCode?: string
}

/**
 * Schedules the deletion of the caller's account: the sessions end, and nobody else sees the person any more.
 * @throws InvalidAccessToken, ProofRequired, ProofTooWeak, EmailChangedRecently
 */
export async function requestDeletion (
  deps: DeletionDeps,
  caller: Caller,
  { proof, immediately = false, authorizationCode }: Request
) {
  // A code can be exchanged once, and nobody makes us ask the provider without a proof.
  const isProved = await hasProof(deps.db, caller, { purpose: 'DELETE', proof })
  const grant = isProved ? await exchangeCode(deps, authorizationCode) : undefined
  return await schedule(deps, async (trx) => {
    const account = await lockCaller(trx, caller)
    const method = await claimProof(trx, caller, { purpose: 'DELETE', proof })
    if (immediately && method !== 'CODE') throw new ProofTooWeak()
    return { account, cause: 'OWNER', immediately, grant }
  })
}

/**
 * Schedules the deletion of the account that a mailed link belongs to, also of a banned one.
 * @throws InvalidResetToken, DeletionPending, EmailChangedRecently
 */
export async function confirmDeletion (
  deps: DeletionDeps,
  { token, immediately = false }: { token: string, immediately?: boolean }
) {
  return await schedule(deps, async (trx) => {
    const accountId = await findLinkedAccount(trx, token)
    const account = accountId === undefined ? undefined : await lockAccount(trx, { id: accountId })
    if (!account) throw new InvalidResetToken()
    if (await findLiveErasure(trx, account.id)) throw new DeletionPending()
    // Checked again under the lock of the account, so that a link works once.
    if (!await redeemLink(trx, 'DELETION', { accountId: account.id, token })) throw new InvalidResetToken()
    return { account, cause: 'LINK', immediately }
  })
}

async function findLinkedAccount (trx: Trx, token: string) {
  const link = await trx.selectFrom('deletion_links')
    .where('digest', '=', digestOfToken(token)).where('expires_at', '>', sql<Date>`now()`)
    .select('account_id').executeTakeFirst()
  return link?.account_id
}

interface Approved {
  account: LockedAccount
  cause: 'OWNER' | 'LINK'
  immediately: boolean
  grant?: Grant | undefined
}

async function schedule (deps: DeletionDeps, approve: (trx: Trx) => Promise<Approved>) {
  const { erasure, mail } = await deps.db.transaction().execute(async (trx) => {
    const { account, cause, immediately, grant } = await approve(trx)
    if (immediately && await canAddressBeReverted(trx, account.id)) throw new EmailChangedRecently()
    const { id } = await scheduleErasure(trx, account, {
      cause,
      ...(!immediately && { graceDays: deps.graceDays })
    })
    if (grant) await planRevocation(trx, deps.secrets, { accountId: account.id, erasureId: id, grant })
    await logSecurityEvent(trx, {
      kind: 'DELETION_REQUESTED',
      accountId: account.id,
      detail: { by: cause, immediately }
    })
    const erasure = (await findErasure(trx, id))!
    return { erasure, mail: await createDeletionMail(trx, deps, { account, erasure, kind: 'SCHEDULED' }) }
  })
  void deps.mailer.enqueue([mail])
  return erasure
}
