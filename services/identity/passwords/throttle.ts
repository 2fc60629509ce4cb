import { sql } from 'kysely'
import { lockAccount, type LockedAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { AccountBanned } from '../errors.ts'
import type { Trx } from '../tables.ts'

const FREE_ATTEMPTS = 5
const MAX_WAIT = '60 seconds'

/**
 * The account and origin of a password attempt. Attempts from a network that the account has signed in from are counted
 * per network, all others together. Nobody elsewhere can block the owner, and many networks have no more attempts than
 * one.
 */
interface AttemptSource {
  email: string
  knownNetwork: string | undefined
}

interface PasswordAttempt {
  password: string
  hash: string | null | undefined
}

interface PasswordCheck {
  email: string
  password: string
  network: string
  /** Undefined if the address has no account; the work is the same. */
  known: { id: string, passwordHash: string | null, hasKnownNetwork: boolean } | undefined
  createError: () => Error
}

interface VerifiedWork<NewHash, Result> {
  /** Computes a hash to store, after the comparison and before the transaction, because hashing takes long. */
  hashNew: (currentHash: string) => Promise<NewHash>
  /** Runs in a transaction that holds the lock of the account. */
  work: (trx: Trx, account: LockedAccount, newHash: NewHash) => Promise<Result>
}

/**
 * Runs `work` if a password is correct. After 5 wrong ones in a row the source is blocked for 1 second, doubled with
 * each further one up to a minute, and its correct password is rejected too.
 * @throws the error of `createError`, AccountBanned, TooBusy
 */
export async function withVerifiedPassword<NewHash extends string | undefined, Result> (
  deps: Deps,
  check: PasswordCheck,
  verified: VerifiedWork<NewHash, Result>
): Promise<Awaited<Result>> {
  const { email, password, network, known, createError } = check
  const source = { email, knownNetwork: known?.hasKnownNetwork ? network : undefined }
  const isCorrect = await checkPassword(deps, source, { password, hash: known?.passwordHash })
  if (!isCorrect || !known?.passwordHash) throw createError()
  const newHash = await verified.hashNew(known.passwordHash)

  const outcome = await deps.db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: known.id })
    if (!account) throw createError()
    const { passwordHash } = account
    if (passwordHash !== known.passwordHash) return { isChanged: true as const, passwordHash }
    // Checked this late, so that of a thousand concurrent guesses only those count that finish before the fifth wrong
    // one.
    const wasBlocked = await clearFailedAttempts(trx, deps, source)
    if (wasBlocked) throw createError()
    // Only the owner of the password learns of the ban. The failed attempts stay cleared.
    return account.isBanned
      ? undefined
      : { isChanged: false as const, result: await verified.work(trx, account, newHash) }
  })
  if (!outcome) throw new AccountBanned()
  if (!outcome.isChanged) return outcome.result
  // While it was compared, the password was changed or removed, or hashed with newer settings by another sign-in.
  return await withVerifiedPassword(
    deps,
    { ...check, known: { ...known, passwordHash: outcome.passwordHash } },
    verified
  )
}

/**
 * Compares a password and counts a wrong one. The work is the same in every case, so that the response time does not
 * reveal a known address.
 */
async function checkPassword (
  { db, secrets, hashing }: Deps,
  source: AttemptSource,
  { password, hash }: PasswordAttempt
) {
  const isCorrect = await hashing.matches(password, hash, source.email)
  if (isCorrect) return true

  await sql`
    insert into failed_password_attempts as known (source_digest, failures, blocked_until) values (
      ${digestOf(secrets, source)}, 1, now())
    on conflict (source_digest) do update set
      failures = known.failures + 1,
      blocked_until = clock_timestamp() + case when known.failures + 1 < ${FREE_ATTEMPTS}::int then interval '0'
        else least(interval '1 second' * 2 ^ least(known.failures + 1 - ${FREE_ATTEMPTS}::int, 10),
          ${MAX_WAIT}::interval) end
      where known.blocked_until <= clock_timestamp()`.execute(db)
  return false
}

/** Clears the failed attempts of a source. @returns whether it was blocked */
export async function clearFailedAttempts (trx: Trx, { secrets }: Deps, source: AttemptSource) {
  const cleared = await trx.deleteFrom('failed_password_attempts').where(
    'source_digest',
    '=',
    digestOf(secrets, source)
  )
    .returning(sql<boolean>`blocked_until > clock_timestamp()`.as('wasBlocked'))
    .executeTakeFirst()
  return cleared?.wasBlocked ?? false
}

const digestOf = (secrets: Deps['secrets'], { email, knownNetwork }: AttemptSource) =>
  secrets.digest('failed-password-attempts', email, ...(knownNetwork === undefined ? [] : [knownNetwork]))
