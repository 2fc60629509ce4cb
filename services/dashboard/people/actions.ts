import type { CallRpc } from '@tandem/bus-kit'
import { DEFAULT_TIMEZONE, Person, type Appearance } from '@tandem/contracts'
import { upsertVersioned } from '@tandem/database-kit'
import { readTimezone } from '@tandem/account-kit'
import type { Deps } from '../deps.ts'
import type { Db } from '../tables.ts'
import { findPerson } from './queries.ts'

type CopyDeps = Pick<Deps, 'db' | 'mediaUrls'>

/**
 * Writes a person to the local copy, except over newer data.
 * @param at when the data changed, for a person without `changedAt`
 */
export async function upsertPerson (
  { db, mediaUrls }: CopyDeps,
  { accountId, name, image, timezone, changedAt }: Pick<Appearance,
    'accountId' | 'name' | 'image' | 'timezone' | 'changedAt'>,
  at: Date
) {
  const stored = mediaUrls.toStoredValue(image)
  const copy = { account_id: accountId, name, image: stored, timezone, changed_at: changedAt ?? at }
  await upsertVersioned(db, 'people', [copy], { key: 'account_id' })
}

/**
 * Fetches a person from profile, because their own change must take effect here at once.
 * @returns undefined while profile is unavailable, null if it does not know the account
 */
export async function fetchPerson (callRpc: CallRpc, accountId: string) {
  return await callRpc(Person, { accountId }).catch(() => undefined)
}

interface ProfileWeight {
  accountId: string
  kg: number | null
  weighedAt: string | null
  changedAt: string | Date
}

/** Stores the weight that a person entered in their profile, unless a later change is stored. */
export async function upsertProfileWeight (
  db: Db,
  { accountId, kg, weighedAt, changedAt }: ProfileWeight
) {
  const copy = { account_id: accountId, kg, weighed_at: weighedAt, changed_at: changedAt }
  await upsertVersioned(db, 'profile_weights', [copy], { key: 'account_id' })
}

/** Stores the facts from a person's profile, unless later ones are stored. */
export async function upsertProfileFacts (
  db: Db,
  { accountId, workoutFrequency, changedAt }: { accountId: string, workoutFrequency: number | null, changedAt: string }
) {
  const copy = { account_id: accountId, workout_frequency: workoutFrequency, changed_at: changedAt }
  await upsertVersioned(db, 'profile_facts', [copy], { key: 'account_id' })
}

type PersonCopyRow = Awaited<ReturnType<typeof findPerson>>
type FetchedPerson = NonNullable<Awaited<ReturnType<typeof fetchPerson>>>

/** Updates the local copy where it differs from a fetched person. Returns whether the weight differs. */
export async function updateCopy (
  deps: CopyDeps,
  accountId: string,
  { copy, person, fetchedAt }: { copy: PersonCopyRow, person: FetchedPerson, fetchedAt: Date }
) {
  const { name, image, changedAt, profile: { timezone, workoutFrequency = null } } = person
  // A profile of an earlier version does not tell them apart.
  const { enteredWeight = person.profile.weight, enteredAt = person.weighedAt ?? null } = person
  if (timezone !== copy?.timezone) {
    await upsertPerson(deps, { accountId, name, image, timezone, changedAt }, fetchedAt)
  }
  if (changedAt && workoutFrequency !== (copy?.workoutFrequency ?? null)) {
    await upsertProfileFacts(deps.db, { accountId, workoutFrequency, changedAt })
  }
  if (enteredAt === (copy?.weighedAt?.toISOString() ?? null)) return false
  const weight = { kg: enteredWeight, weighedAt: enteredAt, changedAt: changedAt ?? fetchedAt }
  await upsertProfileWeight(deps.db, { accountId, ...weight })
  return true
}

/**
 * A person's time zone: the current one from profile, else the one in the local copy, else Jakarta's. Updates the local
 * copy.
 */
export async function findTimezone (
  { db, callRpc, mediaUrls, now }: CopyDeps & Pick<Deps, 'callRpc' | 'now'>,
  accountId: string
): Promise<string> {
  const fetchedAt = now()
  const [person, copy] = await Promise.all([fetchPerson(callRpc, accountId), findPerson(db, accountId)])
  if (!person) return readTimezone(copy?.timezone ?? DEFAULT_TIMEZONE)
  await updateCopy({ db, mediaUrls }, accountId, { copy, person, fetchedAt })
  return readTimezone(person.profile.timezone)
}
