import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import { findFresh } from './lookup.ts'
import { isNamed } from './queries.ts'

/** Makes sure that there is such a person, and a copy of them. @throws PersonNotFound, Unavailable */
export async function ensurePerson ({ db, people }: Deps, accountId: string) {
  const known = await db.selectFrom('people').where('account_id', '=', accountId).select('account_id').executeTakeFirst()
  if (known) return
  const [person] = await people.findById([accountId])
  if (!person) throw new PersonNotFound()
}

/** Makes sure that there is a copy of the people who have these usernames now, as far as the profile service tells in time. */
export async function ensurePeopleByUsername ({ db, people }: Pick<Deps, 'db' | 'people'>, usernames: string[]) {
  if (usernames.length === 0) return
  const known = await db.selectFrom('people').where(isNamed(usernames)).select('username').execute()
  const unknown = usernames.filter((username) => !known.some((person) => person.username === username))
  // A post is worth more than a mention: it does not fail for it.
  if (unknown.length > 0) await people.findByUsername(unknown).catch(() => [])
}

// What the profile service begins every profile with.
const FIRST_TIMEZONE = 'Asia/Jakarta'

/** The time zone of the caller as he has it now, or had it when the profile service was last heard. */
export async function findTimezone ({ db, callRpc }: Deps, accountId: string) {
  const fresh = await findFresh(callRpc, accountId)
  if (fresh) return fresh.timezone
  const copy = await db.selectFrom('people').where('account_id', '=', accountId).select('timezone').executeTakeFirst()
  return copy?.timezone ?? FIRST_TIMEZONE
}
