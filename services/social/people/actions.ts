import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { dayAround, readTimezone } from '@tandem/account-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import { fetchCurrentPerson } from './lookup.ts'
import { hasUsernameIn } from './queries.ts'

/** Makes sure that a person exists and is in the local copy. @throws PersonNotFound, Unavailable */
export async function ensurePerson ({ db, people }: Deps, accountId: string) {
  const known = await db.selectFrom('people').where('account_id', '=', accountId).select('account_id')
    .executeTakeFirst()
  if (known) return
  const [person] = await people.findById([accountId])
  if (!person) throw new PersonNotFound()
}

/**
 * Loads the current holders of these usernames into the local copy. Never fails: while profile is unavailable it loads
 * nobody.
 */
export async function ensurePeopleByUsername ({ db, people }: Pick<Deps, 'db' | 'people'>, usernames: string[]) {
  if (usernames.length === 0) return
  const known = await db.selectFrom('people').where(hasUsernameIn(usernames)).select('username').execute()
  const unknown = usernames.filter((username) => !known.some((person) => person.username === username))
  // A post must not fail because of a mention.
  if (unknown.length > 0) await people.findByUsername(unknown).catch(() => [])
}

/** The account that has this username now. @throws PersonNotFound, Unavailable */
export async function findAccountByUsername ({ db, people }: Pick<Deps, 'db' | 'people'>, username: string) {
  const name = username.replace(/^[@＠]/, '').toLowerCase()
  const known = await db.selectFrom('people').where(hasUsernameIn([name])).select('account_id')
    // Two copies can have it while the event of a change of username is on its way.
    .orderBy('changed_at', 'desc').executeTakeFirst()
  if (known) return known.account_id
  const [person] = await people.findByUsername([name])
  if (!person) throw new PersonNotFound()
  return person.accountId
}

/** The current time zone of the caller, or the one in the local copy while profile is unavailable. */
export async function findTimezone ({ db, callRpc }: Deps, accountId: string) {
  const current = await fetchCurrentPerson(callRpc, accountId)
  if (current) return readTimezone(current.timezone)
  const copy = await db.selectFrom('people').where('account_id', '=', accountId).select('timezone').executeTakeFirst()
  return readTimezone(copy?.timezone ?? DEFAULT_TIMEZONE)
}

/** When the current calendar day of the caller starts and ends: their daily limits are counted for it. */
export const findToday = async (deps: Deps, accountId: string) =>
  dayAround(await findTimezone(deps, accountId), new Date())

export type Today = Awaited<ReturnType<typeof findToday>>
