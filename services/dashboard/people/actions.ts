import { sql } from 'kysely'
import type { Ask } from '@tandem/bus-kit'
import { Person } from '@tandem/contracts'
import { DEFAULT_ZONE } from '../calendar.ts'
import type { Db } from '../schema.ts'
import { findPerson } from './queries.ts'

interface PersonCopy { accountId: string, name: string, image: string | null, timezone: string, changedAt?: string }

/** Writes the copy of a person unless it holds a newer one. `at` says since when they are so, of profile services that do not. */
export async function upsertPerson (db: Db, { accountId, name, image, timezone, changedAt }: PersonCopy, at: Date) {
  const asOf = sql<Date>`${changedAt ?? at}::timestamptz`
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
  const { name, image, changedAt, profile: { timezone } } = person
  if (timezone !== kept?.timezone) await upsertPerson(db, { accountId, name, image, timezone, ...changedAt && { changedAt } }, asked)
  return timezone
}
