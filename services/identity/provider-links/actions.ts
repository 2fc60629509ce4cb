import type { LockedAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { LastSignInMethod, ProviderNotLinked } from '../errors.ts'
import { claimProof } from '../proofs/actions.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import type { Provider, Trx } from '../tables.ts'

/**
 * Removes a provider from the sign-in of the caller. All other sessions end, because the provider may have started them.
 * @throws InvalidAccessToken, ProofRequired, ProviderNotLinked, LastSignInMethod
 */
export async function removeProvider (
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  { provider, proof }: { provider: Provider, proof: string }
) {
  await db.transaction().execute(async (trx) => {
    const account = await lockCaller(trx, caller)
    await claimProof(trx, caller, { purpose: 'REMOVE_PROVIDER', proof })
    await removeLinks(trx, account, { provider, by: 'OWNER' })
    await endSessions(trx, { accountId: account.id, except: caller.sessionId })
  })
}

/**
 * Removes every link to a provider, of which somebody else can have made one. Without a password, another provider has to
 * stay: the documented API has no other way to sign in. @throws ProviderNotLinked, LastSignInMethod
 */
export async function removeLinks (
  trx: Trx,
  { id: accountId, passwordHash }: LockedAccount,
  { provider, by }: { provider: Provider, by: 'OWNER' | 'OPERATOR' }
) {
  const links = await trx.selectFrom('provider_links').where('account_id', '=', accountId).select('provider').execute()
  if (!links.some((link) => link.provider === provider)) throw new ProviderNotLinked()
  if (!passwordHash && links.every((link) => link.provider === provider)) throw new LastSignInMethod()
  await trx.deleteFrom('provider_links').where('account_id', '=', accountId).where('provider', '=', provider).execute()
  await logSecurityEvent(trx, { kind: 'PROVIDER_REMOVED', accountId, detail: { provider, by } })
}
