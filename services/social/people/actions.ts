import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import type { Db } from '../schema.ts'
import { askPeople, askPeopleNamed, findFresh, type PersonCopy } from './asking.ts'
import { fold } from './names.ts'
import { isNamed } from './queries.ts'

/** Keeps the copy of people. News that come late do not undo newer ones; without `at` they only fill what is missing. */
export async function keepPeople (db: Db, people: PersonCopy[], at?: Date) {
  if (people.length === 0) return
  // In one order, so that two crowds that are heard of at once cannot deadlock.
  const sorted = people.toSorted((one, other) => one.accountId < other.accountId ? -1 : 1)
  await db.insertInto('people')
    .values(sorted.map(({ accountId, name, username, image, bio, locale, timezone }) => ({
      account_id: accountId, name, username: username.toLowerCase(), image, bio, locale, timezone, folded: fold(name), changed_at: at ?? new Date(0)
    })))
    .onConflict((conflict) => conflict.column('account_id')
      .doUpdateSet((row) => ({
        name: row.ref('excluded.name'),
        username: row.ref('excluded.username'),
        image: row.ref('excluded.image'),
        bio: row.ref('excluded.bio'),
        locale: row.ref('excluded.locale'),
        timezone: row.ref('excluded.timezone'),
        folded: row.ref('excluded.folded'),
        changed_at: row.ref('excluded.changed_at')
      }))
      .whereRef('people.changed_at', '<', 'excluded.changed_at'))
    .execute()
}

/** Makes sure that there is such a person, and a copy of him. @throws PersonNotFound */
export async function meetPerson ({ db, ask }: Deps, accountId: string) {
  const known = await db.selectFrom('people').where('account_id', '=', accountId).select('account_id').executeTakeFirst()
  if (known) return
  const people = await askPeople(ask, [accountId])
  if (people.length === 0) throw new PersonNotFound()
  await keepPeople(db, people)
}

/** Keeps a copy of those who have these usernames, as far as the profile service knows and tells them. Never fails for its sake. */
export async function meetPeopleNamed ({ db, ask }: Pick<Deps, 'db' | 'ask'>, usernames: string[]) {
  if (usernames.length === 0) return
  const known = await db.selectFrom('people').where(isNamed(usernames)).select('username').execute()
  const unknown = usernames.filter((username) => !known.some((person) => person.username === username))
  if (unknown.length > 0) await keepPeople(db, await askPeopleNamed(ask, unknown))
}

// What the profile service begins every profile with.
const FIRST_TIMEZONE = 'Asia/Jakarta'

/** The time zone of the caller as he has it now, or had it when the profile service was last heard. */
export async function findTimezone ({ db, ask }: Deps, accountId: string) {
  const fresh = await findFresh(ask, accountId)
  if (fresh) return fresh.timezone
  const copy = await db.selectFrom('people').where('account_id', '=', accountId).select('timezone').executeTakeFirst()
  return copy?.timezone ?? FIRST_TIMEZONE
}
