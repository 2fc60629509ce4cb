import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { InvalidCredentials } from '../errors.ts'
import type { Trx } from '../schema.ts'

const FREE = 5
const LONGEST_WAIT = '60 seconds'

interface Guess { email: string, password: string, hash: string | null | undefined }

/**
 * Compares a password. After 5 wrong ones in a row an address waits 1 second, doubled by every further one up to a minute, and
 * within the wait none is right. Whatever comes out, the work is the same, so that time does not tell a known address from another.
 * @throws TooBusy
 */
export async function isRightPassword ({ db, secrets, hashing }: Deps, { email, password, hash }: Guess) {
  const address = digestOf(secrets, email)
  const waiting = await db.selectFrom('wrong_passwords')
    .where('email_digest', '=', address)
    .where('wait_until', '>', sql<Date>`clock_timestamp()`)
    .select('times')
    .executeTakeFirst()
  const right = await hashing.matches(password, hash)
  if (waiting) return false
  if (right) return true

  await sql`
    insert into wrong_passwords as known (email_digest, times, wait_until) values (${address}, 1, now())
    on conflict (email_digest) do update set
      times = known.times + 1,
      wait_until = clock_timestamp() + case when known.times + 1 < ${FREE}::int then interval '0'
        else least(interval '1 second' * 2 ^ least(known.times + 1 - ${FREE}::int, 10), ${LONGEST_WAIT}::interval) end
      where known.wait_until <= clock_timestamp()`.execute(db)
  return false
}

/**
 * Takes a right password for good, in the transaction that acts on it. It is wrong after all if others were guessed at the same
 * time and began a wait: of a thousand guesses at once, those that end before the fifth wrong one count.
 * @throws InvalidCredentials
 */
export async function acceptPassword (trx: Trx, deps: Deps, email: string) {
  const waited = await forgetWrongPasswords(trx, deps, email)
  if (waited) throw new InvalidCredentials()
}

/** Ends what wrong passwords brought about; returns whether that was a wait. */
export async function forgetWrongPasswords (trx: Trx, { secrets }: Deps, email: string) {
  const forgotten = await trx.deleteFrom('wrong_passwords').where('email_digest', '=', digestOf(secrets, email))
    .returning(sql<boolean>`wait_until > clock_timestamp()`.as('waited'))
    .executeTakeFirst()
  return forgotten?.waited ?? false
}

const digestOf = (secrets: Deps['secrets'], email: string) => secrets.digest('wrong-passwords', email)
