import { sql } from 'kysely'
import { verifyAccount } from '../accounts/actions.ts'
import { accountColumns, lockAccount } from '../accounts/queries.ts'
import { takeCode } from '../codes/actions.ts'
import type { Deps } from '../deps.ts'
import { EmailNotVerified, InvalidCode, InvalidCredentials, ProviderAAccount } from '../errors.ts'
import type { Db, Trx } from '../schema.ts'
import { startSession, type Device } from '../sessions/actions.ts'

const FREE_TRIES = 5
const LONGEST_WAIT = '60 seconds'

interface Where { address: string, device: Device }

/**
 * Signs in by password. Whatever refuses it, the work before is the same: a try counted, a hash compared, in this order, so that
 * neither time nor many requests at once tell a known address from an unknown one or get around the wait.
 * @throws InvalidCredentials, ProviderAAccount, EmailNotVerified, TooBusy
 */
export async function signIn ({ db, secrets, hashing }: Deps, { email, password, address, device }: Where & { email: string, password: string }) {
  const emailDigest = secrets.digest('sign-in', email)
  const account = await db.selectFrom('accounts').where('email', '=', email)
    .select([
      ...accountColumns, 'password_hash as passwordHash', 'barred_at as barredAt',
      sql<string[]>`array(select provider from provider_links where account_id = accounts.id)`.as('providers')
    ])
    .executeTakeFirst()

  const mayTry = await countTry(db, emailDigest)
  const right = await hashing.matches(password, account?.passwordHash)
  if (!mayTry || !account || account.barredAt) throw new InvalidCredentials()
  if (!account.passwordHash && account.providers.length === 1 && account.providers[0] === 'PROVIDER_A') throw new ProviderAAccount()
  if (!right || !account.passwordHash) throw new InvalidCredentials()

  const outdated = hashing.isOutdated(account.passwordHash) ? await hashing.hash(password) : undefined
  const session = await db.transaction().execute(async (trx) => {
    await forgetTries(trx, emailDigest)
    if (!account.emailVerified) return
    // A password that was changed or taken away while it was compared is no longer the right one.
    const current = await trx.updateTable('accounts').set({ password_hash: outdated ?? account.passwordHash })
      .where('id', '=', account.id)
      .where('password_hash', '=', account.passwordHash)
      .returning('id')
      .executeTakeFirst()
    if (!current) throw new InvalidCredentials()
    return await startSession(trx, { accountId: account.id, method: 'PASSWORD', device, address })
  })
  if (!session) throw new EmailNotVerified()
  return { account, ...session }
}

/**
 * Counts a try before it is made, in one statement, and refuses it within the wait: after 5 tries without success
 * 1 second, doubled at every further one.
 */
async function countTry (db: Db, emailDigest: Buffer) {
  const { rows } = await sql`
    insert into sign_in_tries as known (email_digest, tries, wait_until) values (${emailDigest}, 1, now())
    on conflict (email_digest) do update set
      tries = known.tries + 1,
      wait_until = case when known.tries + 1 < ${FREE_TRIES}::int then now()
        else now() + least(interval '1 second' * 2 ^ least(known.tries + 1 - ${FREE_TRIES}::int, 10), ${LONGEST_WAIT}::interval) end
      where known.wait_until <= now()
    returning tries`.execute(db)
  return rows.length > 0
}

async function forgetTries (trx: Trx, emailDigest: Buffer) {
  await trx.deleteFrom('sign_in_tries').where('email_digest', '=', emailDigest).execute()
}

/** Signs in by a code that was mailed, which also verifies the address. @throws InvalidCode */
export async function signInByCode ({ db, secrets }: Deps, { email, code, address, device }: Where & { email: string, code: string }) {
  const signedIn = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { email })
    if (!account) return
    const taken = await takeCode(trx, secrets, { accountId: account.id, purpose: 'SIGN_IN', code })
    if (!taken) return
    // Until now nobody had proved to own this address, so nobody keeps what he set up with it.
    if (!account.emailVerified) await verifyAccount(trx, account, 'SOMEBODY_ELSE')
    const session = await startSession(trx, { accountId: account.id, method: 'CODE', device, address })
    return { account: { ...account, emailVerified: true }, ...session }
  })
  // Thrown only now, because the try had to be counted.
  if (!signedIn) throw new InvalidCode()
  return signedIn
}
