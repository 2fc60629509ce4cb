import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AccountRegistered, AccountVerified } from '@tandem/contracts'
import { findNameError, generateName, networkOf } from '@tandem/account-kit'
import { accountColumns, lockAccount, type Account, type LockedAccount } from '../accounts/queries.ts'
import { deleteCode, redeemPublicCode } from '../codes/actions.ts'
import { redeemCodeLink } from '../codes/links.ts'
import { mailPublicCode } from '../codes/mails.ts'
import type { Deps } from '../deps.ts'
import { EmailExists, InvalidCode, InvalidResetToken, UserNotFound } from '../errors.ts'
import { rateLimitKeyOf } from '../mail-keys.ts'
import type { Db, Provider, Trx } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { continueSuspension } from '../remembered/actions.ts'
import { isEmailBanned } from '../remembered/queries.ts'
import { addReferral } from '../referrals/actions.ts'
import { isAddressReserved } from '../reserved-addresses.ts'
import { digestOfToken } from '../random-tokens.ts'
import { insertSession, type Client } from '../sessions/actions.ts'
import type { Caller } from '../sessions/caller.ts'
import { isActiveSession } from '../sessions/queries.ts'
import { verifyAccount } from '../sign-in/verify-account.ts'
import { findVerification } from './queries.ts'

export interface Registration {
  email: string
  password?: string
  name?: string
  referralCode?: string
  locale: string
  client: Client
  /** With it, a client that lost the response can repeat the registration. */
  idempotencyKey?: string | undefined
}

/** How long a registration can be repeated with its idempotency key. */
const REPEAT_WINDOW = '10 minutes'

/**
 * Creates an account with its first session, and mails a verification code. The same address, password, name and
 * referral code with the same idempotency key get the session of the first registration for ten minutes, until its
 * refresh token is used.
 * @throws CommonPassword, EmailExists, TooBusy, HookDenied
 */
export async function register (deps: Deps, { idempotencyKey, ...registration }: Registration) {
  const { email, password = '', name = '', referralCode = '' } = registration
  // Derived, not stored, as that of a refresh: docs/decisions/0007-a-repeatable-refresh.md.
  const refreshToken = idempotencyKey === undefined
    ? undefined
    : deps.secrets.digest('registration', email, password, name, referralCode, idempotencyKey).toString('base64url')
  try {
    return await createRegistered(deps, registration, refreshToken)
  } catch (error) {
    const repeated = error instanceof EmailExists && refreshToken && await findRegistered(deps.db, email, refreshToken)
    if (!repeated) throw error
    return repeated
  }
}

async function createRegistered (
  deps: Deps,
  { email, password, name, referralCode, locale, client }: Omit<Registration, 'idempotencyKey'>,
  refreshToken: string | undefined
) {
  const { db, secrets, hashing, blocklist, mailer } = deps
  if (password !== undefined) await blocklist.assertUncommon(password)
  const taken = await db.selectFrom('accounts').where('email', '=', email).select('id').executeTakeFirst()
  const isUnavailable = await isEmailBanned(db, secrets, email) || await isAddressReserved(db, email)
  if (taken || isUnavailable) throw new EmailExists()
  const asked = await askBeforeRegistration(deps, { email, name, locale, provider: null })
  const passwordHash = password === undefined ? null : await hashing.hash(password, email)

  const { mail, ...registered } = await db.transaction().execute(async (trx) => {
    const account = await addAccount(trx, {
      email,
      name: asked.name,
      image: null,
      passwordHash,
      locale: asked.locale,
      address: client.address,
      verified: false
    })
    if (!account) throw new EmailExists()
    await continueSuspension(trx, secrets, account.id, { email })
    if (referralCode) await addReferral(trx, account.id, referralCode)
    const session = await insertSession(trx, secrets, {
      accountId: account.id,
      method: 'REGISTRATION',
      client,
      refreshToken
    })
    const mail = await mailPublicCode(trx, deps, {
      accountId: account.id,
      purpose: 'VERIFY',
      recipient: email,
      dedupeKey: `registration:${account.id}`,
      rateLimitKey: rateLimitKeyOf('VERIFY', false),
      network: networkOf(client.address),
      locale: asked.locale
    })
    return { account, ...session, mail }
  })
  void mailer.enqueue([mail])
  return registered
}

/**
 * Asks the hook of the operator whether there may be a new account.
 * @returns its name and language, which the hook can set @throws HookDenied
 */
export async function askBeforeRegistration (
  { hooks }: Pick<Deps, 'hooks'>,
  { email, name, locale, provider }: {
    email: string,
    name: string | undefined,
    locale: string,
    provider: Provider | null
  }
) {
  const set = await hooks.ask('before-registration', { email, name: name ?? null, locale, provider })
  // A name that nobody could choose is not taken from a hook either.
  const isUsable = set.name !== undefined && findNameError(set.name) === undefined
  return { name: isUsable ? set.name : name, locale: set.locale ?? locale }
}

/** The session of a registration of `email` that got `refreshToken`, if it can be repeated. */
async function findRegistered (db: Db, email: string, refreshToken: string) {
  const session = await db.selectFrom('refresh_tokens').innerJoin('sessions', 'sessions.id', 'session_id')
    .where('digest', '=', digestOfToken(refreshToken)).where('used_at', 'is', null).where('ended_at', 'is', null)
    .where('sessions.created_at', '>', sql<Date>`now() - ${REPEAT_WINDOW}::interval`)
    .select(['session_id as id', 'account_id as accountId']).executeTakeFirst()
  const account = session && await db.selectFrom('accounts').where('id', '=', session.accountId)
    .where('email', '=', email).where('banned_at', 'is', null).where('expired_at', 'is', null)
    .select(accountColumns).executeTakeFirst()
  return account && { account, sessionId: session.id, refreshToken }
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

/** Creates an account and publishes it; undefined if the address already has one. */
export async function addAccount (
  trx: Trx,
  { email, name, image, passwordHash, locale, address, verified }: NewAccount
): Promise<Account | undefined> {
  const account = await trx.insertInto('accounts')
    .values({
      email,
      name: name ?? nameFromEmail(email),
      image,
      locale,
      password_hash: passwordHash,
      email_verified_at: verified ? sql<Date>`now()` : null,
      registered_network: networkOf(address),
      referral_code: generateReferralCode()
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(accountColumns)
    .executeTakeFirst()
  if (!account) return
  // After the insert, which has waited for an account that was giving up this address at the same moment.
  if (await isAddressReserved(trx, email)) throw new EmailExists()

  await publish(trx, AccountRegistered, account.id, {
    accountId: account.id,
    name: account.name,
    usernameSeed: 'user',
    locale,
    image
  })
  if (verified) await publish(trx, AccountVerified, account.id, { accountId: account.id })
  return account
}

const MAX_NAME_LENGTH = 100

/** What stands before the at sign, or a generated name if that is reserved or misleading. */
function nameFromEmail (email: string) {
  const prefix = email.slice(0, email.lastIndexOf('@')).slice(0, MAX_NAME_LENGTH)
  return findNameError(prefix) === undefined ? prefix : generateName()
}

// Without letters and digits that look alike. With 10^12 codes, a collision among a million accounts is unlikely.
const REFERRAL_ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const generateReferralCode = () =>
  Array.from({ length: 8 }, () => REFERRAL_ALPHABET[randomInt(REFERRAL_ALPHABET.length)]).join('')

/** Who verifies an address. `caller` is the owner of the access token in the request, if it has one. */
interface Verifier {
  network: string
  caller: Caller | undefined
}

/**
 * Verifies an address with the code that was mailed to it. The registrant keeps password and sessions only if the
 * request proves to come from them: by an access token of the account, or by the network of the registration.
 * @returns true if this call verified it; false if it was already verified
 * @throws UserNotFound, InvalidCode
 */
export async function verifyEmail (
  db: Db,
  secrets: Secrets,
  { userId, code, network, caller }: Verifier & { userId: string, code: string }
) {
  const known = await findVerification(db, userId, network)
  if (!known) throw new UserNotFound()
  if (known.emailVerified) return false
  // A flood of wrong codes is rejected here, without waiting for the lock of the account.
  if (!known.hasCode) throw new InvalidCode()

  const outcome = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: userId })
    if (!account) throw new UserNotFound()
    if (account.emailVerified) return 'ALREADY_VERIFIED'
    if (!await redeemPublicCode(trx, secrets, { accountId: userId, purpose: 'VERIFY', code, network })) {
      return 'WRONG_CODE'
    }
    await verifyFor(trx, account, { network, caller })
    return 'VERIFIED'
  })
  // Thrown after the commit, because the attempt must be counted.
  if (outcome === 'WRONG_CODE') throw new InvalidCode()
  return outcome === 'VERIFIED'
}

/**
 * Verifies an address with the link that was mailed with the code, once.
 * @returns whose it is @throws InvalidResetToken
 */
export async function verifyEmailByLink (db: Db, { token, network, caller }: Verifier & { token: string }) {
  return await db.transaction().execute(async (trx) => {
    const account = await redeemCodeLink(trx, { purpose: 'VERIFY', token })
    if (!account || account.emailVerified) throw new InvalidResetToken()
    await deleteCode(trx, { accountId: account.id, purpose: 'VERIFY' })
    await verifyFor(trx, account, { network, caller })
    return account.id
  })
}

async function verifyFor (trx: Trx, account: LockedAccount, { network, caller }: Verifier) {
  const isRegistrant = network === account.registeredNetwork ||
    (caller?.accountId === account.id && await isActiveSession(trx, caller))
  await verifyAccount(trx, account, isRegistrant ? 'REGISTRANT' : 'SOMEBODY_ELSE')
}
