import type { Ask } from '@tandem/bus-kit'
import { Person } from '@tandem/contracts'
import { DEFAULT_ZONE } from '../calendar.ts'
import type { Db } from '../schema.ts'
import { findPerson } from './queries.ts'

interface PersonCopy { accountId: string, name: string, image: string | null, timezone: string }

/** Keeps a copy of a person. News that come late do not undo newer ones. */
export async function keepPerson (db: Db, { accountId, name, image, timezone }: PersonCopy, asOf: Date) {
  await db.insertInto('people')
    .values({ account_id: accountId, name, image, timezone, as_of: asOf })
    .onConflict((conflict) => conflict.column('account_id')
      .doUpdateSet({ name, image, timezone, as_of: asOf })
      .where('people.as_of', '<=', asOf))
    .execute()
}

/**
 * Asks profile for a person, because what he changed there a moment ago must count here at once.
 * @returns undefined while profile is away, null when it knows no such account
 */
export async function askPerson (ask: Ask, accountId: string) {
  return await ask(Person, { accountId }).catch(() => undefined)
}

/** The time zone somebody lives in: as profile says now, else as it last said, else Jakarta's. */
export async function zoneOf ({ db, ask, now }: { db: Db, ask: Ask, now: () => Date }, accountId: string): Promise<string> {
  const asked = now()
  const [person, kept] = await Promise.all([askPerson(ask, accountId), findPerson(db, accountId)])
  if (!person) return kept?.timezone ?? DEFAULT_ZONE
  const { name, image, profile: { timezone } } = person
  if (timezone !== kept?.timezone) await keepPerson(db, { accountId, name, image, timezone }, asked)
  return timezone
}
