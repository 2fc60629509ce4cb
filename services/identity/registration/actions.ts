import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AccountRegistered, AccountVerified } from '@tandem/contracts'
import { createMail } from '@tandem/mail-kit'
import { generateName, networkOf } from '@tandem/service-kit'
import { verifyAccount } from '../accounts/actions.ts'
import { accountColumns, lockAccount, type Account } from '../accounts/queries.ts'
import { makeCode, storeCode, takeCode } from '../codes/actions.ts'
import type { Deps } from '../deps.ts'
import { EmailExists, InvalidCode, UserNotFound } from '../errors.ts'
import { budgetOf, topicOf } from '../mails/budgets.ts'
import { lettersIn } from '../mails/letters.ts'
import type { Db, Trx } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { startSession, type Caller, type Client } from '../sessions/actions.ts'
import { isLiveSession } from '../sessions/queries.ts'
import { findVerification } from './queries.ts'

export interface Registration {
  email: string
  password?: string
  name?: string
  referralCode?: string
  locale: string
  client: Client
}

/** Makes an account with its first session, and mails the code that verifies it. @throws CommonPassword, EmailExists, TooBusy */
export async function register (deps: Deps, { email, password, name, referralCode, locale, client }: Registration) {
  const { db, secrets, hashing, blocklist, mailer } = deps
  if (password !== undefined) await blocklist.refuse(password)
  const taken = await db.selectFrom('accounts').where('email', '=', email).select('id').executeTakeFirst()
  if (taken) throw new EmailExists()
  const passwordHash = password === undefined ? null : await hashing.hash(password, email)

  const { mail, ...registered } = await db.transaction().execute(async (trx) => {
    const account = await addAccount(trx, { email, name, image: null, passwordHash, locale, address: client.address, verified: false })
    if (!account) throw new EmailExists()
    if (referralCode) await redeem(trx, account.id, referralCode)
    const session = await startSession(trx, { accountId: account.id, method: 'REGISTRATION', client })

    const code = makeCode()
    await storeCode(trx, secrets, { accountId: account.id, purpose: 'VERIFY', code })
    const mail = await createMail(trx, { dedupeKey: `registration:${account.id}`, recipient: email, rateLimitKey: budgetOf('VERIFY', false), collapseKey: topicOf('VERIFY', account.id), ...lettersIn(locale).verification(code) })
    return { account, ...session, mail }
  })
  void mailer.enqueue([mail])
  return registered
}

interface NewAccount {
  email: string
  name: string | undefined
  image: string | null
  passwordHash: string | null
  locale: string
  address: string
  verified: boolean
}

/** Adds an account and says so; undefined when the address has one already. */
export async function addAccount (trx: Trx, { email, name, image, passwordHash, locale, address, verified }: NewAccount): Promise<Account | undefined> {
  const account = await trx.insertInto('accounts')
    .values({
      email,
      // Nothing of the address: a name is seen by everybody.
      name: name ?? generateName(),
      image,
      locale,
      password_hash: passwordHash,
      email_verified_at: verified ? sql<Date>`now()` : null,
      registered_network: networkOf(address),
      referral_code: makeReferralCode()
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(accountColumns)
    .executeTakeFirst()
  if (!account) return

  await publish(trx, AccountRegistered, account.id, { accountId: account.id, name: account.name, usernameSeed: 'user', locale, image })
  if (verified) await publish(trx, AccountVerified, account.id, { accountId: account.id })
  return account
}

/** An unknown code is no reason to turn somebody away. */
async function redeem (trx: Trx, accountId: string, referralCode: string) {
  await trx.insertInto('referrals')
    .columns(['account_id', 'referrer_id'])
    .expression((from) => from.selectFrom('accounts')
      .where('referral_code', '=', referralCode)
      .select([sql<string>`${accountId}::uuid`.as('account_id'), 'id as referrer_id']))
    .execute()
}

// No letters and digits that are taken for each other. Of 10^12 codes, two of a million accounts' are hardly ever the same.
const CODE_ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const makeReferralCode = () => Array.from({ length: 8 }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join('')

/** `caller` is whose token the request shows, if it shows any. */
interface Verification { userId: string, code: string, network: string, caller: Caller | undefined }

/**
 * Verifies an address by the code that was mailed to it. Whoever registered it keeps password and sessions only if they are the one who
 * verifies it: by a token of the account, or by the network of the registration.
 * @returns whether this call did it; false when it was verified before
 * @throws UserNotFound, InvalidCode
 */
export async function verifyEmail (db: Db, secrets: Secrets, { userId, code, network, caller }: Verification) {
  const known = await findVerification(db, userId)
  if (!known) throw new UserNotFound()
  if (known.emailVerified) return false
  // A flood of wrong codes ends here, without queueing for the account.
  if (!known.hasCode) throw new InvalidCode()

  const outcome = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: userId })
    if (!account) throw new UserNotFound()
    if (account.emailVerified) return 'BEFORE'
    if (!await takeCode(trx, secrets, { accountId: userId, purpose: 'VERIFY', code })) return 'WRONG'
    const isTheSame = network === account.registeredNetwork || (caller?.accountId === account.id && await isLiveSession(trx, caller))
    await verifyAccount(trx, account, isTheSame ? 'THE_SAME' : 'SOMEBODY_ELSE')
    return 'NOW'
  })
  // Thrown only now, because the try had to be counted.
  if (outcome === 'WRONG') throw new InvalidCode()
  return outcome === 'NOW'
}
