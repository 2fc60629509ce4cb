import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
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

/**
 * Compares a password and counts a wrong one. After 5 in a row the source is blocked for 1 second, doubled with each
 * further one up to a minute. The work is the same in every case, so that the response time does not reveal a known
 * address. A correct password must still be accepted by `acceptPassword`.
 * @throws TooBusy
 */
export async function checkPassword (
  { db, secrets, hashing }: Deps,
  source: AttemptSource,
  { password, hash }: PasswordAttempt
) {
  const isCorrect = await hashing.matches(password, hash, source.email)
  if (isCorrect) return true

  await sql`
    insert into failed_password_attempts as known (source_digest, failures, blocked_until) values (${
    digestOf(secrets, source)
  }, 1, now())
    on conflict (source_digest) do update set
      failures = known.failures + 1,
      blocked_until = clock_timestamp() + case when known.failures + 1 < ${FREE_ATTEMPTS}::int then interval '0'
        else least(interval '1 second' * 2 ^ least(known.failures + 1 - ${FREE_ATTEMPTS}::int, 10), ${MAX_WAIT}::interval) end
      where known.blocked_until <= clock_timestamp()`.execute(db)
  return false
}

/**
 * Accepts a correct password in the transaction that acts on it, unless the source is blocked. The check comes this
 * late so that of a thousand concurrent guesses only those count that finish before the fifth wrong one.
 * @returns whether it is accepted
 */
export async function acceptPassword (trx: Trx, deps: Deps, source: AttemptSource) {
  const wasBlocked = await clearFailedAttempts(trx, deps, source)
  return !wasBlocked
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
