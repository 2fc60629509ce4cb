import { publish } from '@tandem/bus-kit'
import { ProviderLinked } from '@tandem/contracts'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import {
  AccountBanned,
  AccountNotVerified,
  InvalidProviderAToken,
  InvalidProviderBToken,
  ProviderAEmailNotVerified,
  ProviderBEmailRequired
} from '../errors.ts'
import { continueSuspension } from '../remembered/actions.ts'
import { isEmailBanned, isProviderBanned } from '../remembered/queries.ts'
import { isAddressReserved } from '../reserved-addresses.ts'
import { addReferral } from '../referrals/actions.ts'
import { addAccount, askBeforeRegistration } from '../registration/actions.ts'
import type { Db, Provider, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { startSession, type Client } from '../sessions/actions.ts'
import type { ProviderIdentity } from './tokens.ts'

interface SignIn {
  provider: Provider
  identity: ProviderIdentity
  /** The name of a new account; never used to find an account. */
  name: string | undefined
  locale: string
  /** It counts for a new account only. */
  referralCode?: string | undefined
  client: Client
}

/**
 * Signs in a person by their identity at a provider: by an existing link, else by an address verified on both sides,
 * else as a new account.
 * @throws AccountNotVerified if the address has an account that nobody has verified
 * @throws ProviderAEmailNotVerified, ProviderBEmailRequired if there is no link and the provider vouches for no address
 * @throws HookDenied; AccountBanned; InvalidProviderAToken, InvalidProviderBToken if a single-use token was already used
 */
export async function signInByProvider (
  { db, secrets, hooks }: Pick<Deps, 'db' | 'secrets' | 'hooks'>,
  { provider, identity, name, locale, referralCode, client }: SignIn
) {
  const { email } = identity
  const isAsked = hooks.isOn('before-registration') && email !== undefined && !await hasAccount(email)
  const asked = isAsked ? await askBeforeRegistration({ hooks }, { email, name, locale, provider }) : { name, locale }
  return await db.transaction().execute(async (trx) => {
    if (identity.singleUseDigest && !await claimToken(trx, identity.singleUseDigest)) {
      throw new providerErrors[provider].Invalid()
    }
    const { account, isNewUser } = await findByLink(trx) ?? await findByEmail(trx) ?? await createAccount(trx)
    if (account.isBanned) throw new AccountBanned()
    return {
      account,
      isNewUser,
      ...await startSession(trx, secrets, { accountId: account.id, method: provider, client })
    }
  })

  async function hasAccount (email: string) {
    const account = await db.selectFrom('accounts').where('email', '=', email).select('id').executeTakeFirst()
    return account !== undefined || await findLink(db) !== undefined
  }

  async function findByLink (trx: Trx) {
    const link = await findLink(trx)
    const account = link && await lockAccount(trx, { id: link.accountId })
    // Read again under the lock: it may have been removed meanwhile.
    return account && (await findLink(trx))?.accountId === account.id ? { account, isNewUser: false } : undefined
  }

  async function findLink (db: Db) {
    return await db.selectFrom('provider_links').where('provider', '=', provider)
      .where('subject', '=', identity.subject).select('account_id as accountId').executeTakeFirst()
  }

  async function findByEmail (trx: Trx) {
    const account = await lockAccount(trx, { email: requireVerifiedEmail() })
    if (!account) return
    if (!account.emailVerified) throw new AccountNotVerified()
    const isLinked = await link(trx, account.id)
    // The owner is notified: it is a new way into the account.
    if (isLinked) await publish(trx, ProviderLinked, account.id, { accountId: account.id, provider })
    return { account, isNewUser: false }
  }

  async function createAccount (trx: Trx) {
    const email = requireVerifiedEmail()
    const isRefused = await isProviderBanned(trx, secrets, provider, identity.subject) ||
      await isEmailBanned(trx, secrets, email) || await isAddressReserved(trx, email)
    if (isRefused) throw new providerErrors[provider].Invalid()
    const added = await addAccount(trx, {
      email,
      ...asked,
      image: identity.picture ?? null,
      passwordHash: null,
      address: client.address,
      verified: true
    })
    if (added) {
      await link(trx, added.id)
      if (referralCode) await addReferral(trx, added.id, referralCode)
      await continueSuspension(trx, secrets, added.id, { email, link: { provider, subject: identity.subject } })
      return { account: { ...added, isBanned: false }, isNewUser: true }
    }
    // A concurrent request created an account with the same address, which can now be found.
    const found = await findByEmail(trx)
    if (!found) throw new providerErrors[provider].Invalid()
    return found
  }

  function requireVerifiedEmail () {
    if (identity.email) return identity.email
    throw identity.unverifiedEmail
      ? new providerErrors[provider].EmailUnverified()
      : new providerErrors[provider].EmailMissing()
  }

  async function link (trx: Trx, accountId: string) {
    const linked = await trx.insertInto('provider_links').values({
      provider,
      subject: identity.subject,
      account_id: accountId
    })
      .onConflict((conflict) => conflict.doNothing())
      .returning('account_id')
      .executeTakeFirst()
    if (linked) await logSecurityEvent(trx, { kind: 'PROVIDER_LINKED', accountId, detail: { provider } })
    return linked !== undefined
  }
}

/**
 * Whether the token is used for the first time. Concurrent uses wait for the first; if it rolls back, the next one may
 * claim the token.
 */
export async function claimToken (trx: Trx, digest: Buffer) {
  const claimed = await trx.insertInto('used_provider_tokens').values({ digest })
    .onConflict((conflict) => conflict.doNothing())
    .returning('digest')
    .executeTakeFirst()
  return claimed !== undefined
}

/** The errors of each provider. */
export const providerErrors = {
  PROVIDER_A: {
    Invalid: InvalidProviderAToken,
    EmailUnverified: ProviderAEmailNotVerified,
    EmailMissing: InvalidProviderAToken
  },
  PROVIDER_B: {
    Invalid: InvalidProviderBToken,
    EmailUnverified: InvalidProviderBToken,
    EmailMissing: ProviderBEmailRequired
  }
}
