import { sql } from 'kysely'
import type { CallRpc } from '@tandem/bus-kit'
import { Person } from '@tandem/contracts'
import { DEFAULT_ZONE } from '../calendar.ts'
import type { Db } from '../tables.ts'
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
export async function askPerson (callRpc: CallRpc, accountId: string) {
  return await callRpc(Person, { accountId }).catch(() => undefined)
}

/** Keeps the weight that somebody told in their profile, unless a later one is kept. */
export async function upsertProfileWeight (db: Db, { accountId, kg, weighedAt }: { accountId: string, kg: number, weighedAt: string }) {
  const at = sql<Date>`${weighedAt}::timestamptz`
  await db.insertInto('profile_weights').values({ account_id: accountId, kg, weighed_at: at })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ kg, weighed_at: at }).where('profile_weights.weighed_at', '<=', at))
    .execute()
}

type Kept = Awaited<ReturnType<typeof findPerson>>
type Asked = NonNullable<Awaited<ReturnType<typeof askPerson>>>

/** Completes the copy by what profile says, where the two differ. Returns whether the weight does. */
export async function keepAnswer (db: Db, accountId: string, { kept, person, asked }: { kept: Kept, person: Asked, asked: Date }) {
  const { name, image, changedAt, weighedAt, profile: { timezone, weight } } = person
  if (timezone !== kept?.timezone) await upsertPerson(db, { accountId, name, image, timezone, ...changedAt && { changedAt } }, asked)
  if (!weighedAt || weight === null || weight === kept?.profileKg) return false
  await upsertProfileWeight(db, { accountId, kg: weight, weighedAt })
  return true
}

/** The time zone somebody lives in: as profile says now, else as it last said, else Jakarta's. Keeps what else it says. */
export async function zoneOf ({ db, callRpc, now }: { db: Db, callRpc: CallRpc, now: () => Date }, accountId: string): Promise<string> {
  const asked = now()
  const [person, kept] = await Promise.all([askPerson(callRpc, accountId), findPerson(db, accountId)])
  if (!person) return kept?.timezone ?? DEFAULT_ZONE
  await keepAnswer(db, accountId, { kept, person, asked })
  return person.profile.timezone
}
