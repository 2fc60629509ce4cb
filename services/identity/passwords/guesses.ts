import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'

const FREE = 5
const LONGEST_WAIT = '60 seconds'

/**
 * Whose password is tried, and from where. Guesses from a network that the account was signed in to from are counted by network,
 * all others together: so nobody elsewhere can make the owner wait, and many networks have no more tries than one.
 */
interface Source { email: string, knownNetwork: string | undefined }

interface Guess { password: string, hash: string | null | undefined }

/**
 * Compares a password, and counts a wrong one: after 5 in a row its source waits 1 second, doubled by every further one up to a
 * minute. Whatever comes out, the work is the same, so that time does not tell a known address from another. A right one is yet to
 * be accepted.
 * @throws TooBusy
 */
export async function isRightPassword ({ db, secrets, hashing }: Deps, source: Source, { password, hash }: Guess) {
  const right = await hashing.matches(password, hash, source.email)
  if (right) return true

  await sql`
    insert into wrong_passwords as known (email_digest, times, wait_until) values (${digestOf(secrets, source)}, 1, now())
    on conflict (email_digest) do update set
      times = known.times + 1,
      wait_until = clock_timestamp() + case when known.times + 1 < ${FREE}::int then interval '0'
        else least(interval '1 second' * 2 ^ least(known.times + 1 - ${FREE}::int, 10), ${LONGEST_WAIT}::interval) end
      where known.wait_until <= clock_timestamp()`.execute(db)
  return false
}

/**
 * Accepts a right password in the transaction that acts on it: within a wait none is. That is asked only now, so of a thousand
 * guesses at once those count that end before the fifth wrong one.
 * @returns whether it is accepted
 */
export async function acceptPassword (trx: Trx, deps: Deps, source: Source) {
  const waited = await forgetWrongPasswords(trx, deps, source)
  return !waited
}

/** Ends what wrong passwords brought about; returns whether that was a wait. */
export async function forgetWrongPasswords (trx: Trx, { secrets }: Deps, source: Source) {
  const forgotten = await trx.deleteFrom('wrong_passwords').where('email_digest', '=', digestOf(secrets, source))
    .returning(sql<boolean>`wait_until > clock_timestamp()`.as('waited'))
    .executeTakeFirst()
  return forgotten?.waited ?? false
}

const digestOf = (secrets: Deps['secrets'], { email, knownNetwork }: Source) =>
  secrets.digest('wrong-passwords', email, ...(knownNetwork === undefined ? [] : [knownNetwork]))
