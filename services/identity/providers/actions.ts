import { addAccount } from '../registration/actions.ts'
import { accountColumns, type Account } from '../accounts/queries.ts'
import { AccountNotVerified } from '../errors.ts'
import type { Db, Provider, Trx } from '../schema.ts'
import { startSession, type Device } from '../sessions/actions.ts'
import type { Identity } from './tokens.ts'

interface SignIn {
  provider: Provider
  identity: Identity
  /** What a new account is called and shows; it never finds an account. */
  name: string | undefined
  image: string | null
  locale: string
  address: string
  device: Device
  /** What to refuse with when the provider vouches for no address and knows nobody here. */
  withoutEmail: () => Error
}

/**
 * Signs in whoever a provider vouches for: known by his id there, else by an address verified on both sides, else as a new account.
 * @throws AccountNotVerified when the address has an account that nobody has verified
 */
export async function signInByProvider (db: Db, { provider, identity, name, image, locale, address, device, withoutEmail }: SignIn) {
  return await db.transaction().execute(async (trx) => {
    const { account, isNewUser } = await findLinked() ?? await linkByEmail() ?? await create()
    return { account, isNewUser, ...await startSession(trx, { accountId: account.id, method: provider, device, address }) }

    async function findLinked () {
      const account = await trx.selectFrom('accounts')
        .where('id', '=', (from) => from.selectFrom('provider_links').select('account_id')
          .where('provider', '=', provider)
          .where('subject', '=', identity.subject))
        .where('barred_at', 'is', null)
        .select(accountColumns)
        .executeTakeFirst()
      return account && { account, isNewUser: false }
    }

    async function linkByEmail () {
      if (!identity.email) throw withoutEmail()
      const account = await trx.selectFrom('accounts').where('email', '=', identity.email).where('barred_at', 'is', null)
        .select(accountColumns)
        .forUpdate()
        .executeTakeFirst()
      if (!account) return
      if (!account.emailVerified) throw new AccountNotVerified()
      await link(trx, account)
      return { account, isNewUser: false }
    }

    async function create () {
      if (!identity.email) throw withoutEmail()
      const account = await addAccount(trx, { email: identity.email, name, image, passwordHash: null, locale, address, verified: true })
      // Somebody with the same address was a moment faster; by now his account can be found.
      const raced = account ? undefined : await linkByEmail()
      if (raced) return raced
      if (!account) throw withoutEmail()
      await link(trx, account)
      return { account, isNewUser: true }
    }
  })

  async function link (trx: Trx, account: Account) {
    await trx.insertInto('provider_links').values({ provider, subject: identity.subject, account_id: account.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}
