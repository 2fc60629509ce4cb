import { sql } from 'kysely'
import { accountColumns } from '../accounts/queries.ts'
import { AccountNotVerified, InvalidProviderAToken, InvalidProviderBToken, ProviderAEmailNotVerified, ProviderBEmailRequired } from '../errors.ts'
import { addAccount } from '../registration/actions.ts'
import type { Db, Provider, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { startSession, type Client } from '../sessions/actions.ts'
import type { Identity } from './tokens.ts'

interface SignIn {
  provider: Provider
  identity: Identity
  /** What a new account is called; it never finds one. */
  name: string | undefined
  locale: string
  client: Client
}

/**
 * Signs in whoever a provider vouches for: known by his id there, else by an address verified on both sides, else as a new account.
 * @throws AccountNotVerified when the address has an account that nobody has verified
 * @throws ProviderAEmailNotVerified, ProviderBEmailRequired when he is not known and no address is vouched for
 * @throws InvalidProviderAToken, InvalidProviderBToken when he is kept out, or the token was good once and is used
 */
export async function signInByProvider (db: Db, { provider, identity, name, locale, client }: SignIn) {
  return await db.transaction().execute(async (trx) => {
    if (identity.spends && !await spend(trx, identity.spends)) throw new refusals[provider].Invalid()
    const { account, isNewUser } = await findByLink(trx) ?? await findByEmail(trx) ?? await add(trx)
    if (account.isBarred) throw new refusals[provider].Invalid()
    return { account, isNewUser, ...await startSession(trx, { accountId: account.id, method: provider, client }) }
  })

  async function findByLink (trx: Trx) {
    const account = await selectAccount(trx)
      .where('id', '=', (from) => from.selectFrom('provider_links').select('account_id')
        .where('provider', '=', provider)
        .where('subject', '=', identity.subject))
      .executeTakeFirst()
    return account && { account, isNewUser: false }
  }

  async function findByEmail (trx: Trx) {
    const account = await selectAccount(trx).where('email', '=', vouchedEmail()).executeTakeFirst()
    if (!account) return
    if (!account.emailVerified) throw new AccountNotVerified()
    await link(trx, account.id)
    return { account, isNewUser: false }
  }

  async function add (trx: Trx) {
    const added = await addAccount(trx, {
      email: vouchedEmail(), name, image: identity.picture ?? null, passwordHash: null, locale, address: client.address, verified: true
    })
    if (added) {
      await link(trx, added.id)
      return { account: { ...added, isBarred: false }, isNewUser: true }
    }
    // Somebody with the same address was a moment faster, and by now his account can be found.
    const found = await findByEmail(trx)
    if (!found) throw new refusals[provider].Invalid()
    return found
  }

  function vouchedEmail () {
    if (identity.email) return identity.email
    throw identity.unverifiedEmail ? new refusals[provider].EmailUnverified() : new refusals[provider].EmailMissing()
  }

  async function link (trx: Trx, accountId: string) {
    const linked = await trx.insertInto('provider_links').values({ provider, subject: identity.subject, account_id: accountId })
      .onConflict((conflict) => conflict.doNothing())
      .returning('account_id')
      .executeTakeFirst()
    if (linked) await logSecurityEvent(trx, { kind: 'PROVIDER_LINKED', accountId, detail: { provider } })
  }
}

const selectAccount = (trx: Trx) => trx.selectFrom('accounts')
  .select([...accountColumns, sql<boolean>`barred_at is not null`.as('isBarred')])
  .forNoKeyUpdate()

/** Whether a token had not been used before. Of uses at once the others wait for the first, and if that signs nobody in, for the next. */
async function spend (trx: Trx, digest: Buffer) {
  const spent = await trx.insertInto('used_provider_tokens').values({ digest })
    .onConflict((conflict) => conflict.doNothing())
    .returning('digest')
    .executeTakeFirst()
  return spent !== undefined
}

/** Forgets the tokens that are too old by now to be taken, were they shown again; with some minutes for clocks that differ. */
export async function forgetUsedTokens (db: Db) {
  await sql`delete from used_provider_tokens where used_at < now() - interval '15 minutes'`.execute(db)
}

/** What each provider's tokens are refused with. */
export const refusals = {
  PROVIDER_A: { Invalid: InvalidProviderAToken, EmailUnverified: ProviderAEmailNotVerified, EmailMissing: InvalidProviderAToken },
  PROVIDER_B: { Invalid: InvalidProviderBToken, EmailUnverified: InvalidProviderBToken, EmailMissing: ProviderBEmailRequired }
}
