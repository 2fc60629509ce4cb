import { isDeepStrictEqual } from 'node:util'
import { sql, type UpdateObject } from 'kysely'
import { generateUsername, hasTombstone } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { FactsChanged, PersonChanged } from '@tandem/contracts'
import { workLocked } from '@tandem/database-kit'
import { RateLimited } from '@tandem/http-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import { settleEach } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound, UsernameTaken } from '../errors.ts'
import type { Db, Tables, Trx } from '../tables.ts'
import { describeCopy, factsOf, toPersonCopy } from './describe.ts'
import { findPerson, isReservedUsername, lockPerson, personColumns, type Person } from './queries.ts'

const MAX_KEPT_USERNAMES = 10

interface NewPerson {
  accountId: string
  name: string
  locale: string
  image?: string | null | undefined
}

/** Creates a person and publishes it; does nothing if the person already exists. */
export async function addPerson (db: Db, { accountId, name, locale, image = null }: NewPerson) {
  await db.transaction().execute(async (trx) => {
    // A late registration event must not bring an erased account back.
    if (await hasTombstone(trx, accountId)) return
    for (let digits = 4; digits <= 8; digits++) {
      const username = generateUsername(digits)
      if (await isReservedUsername(trx, username, accountId)) continue
      const added = await trx.insertInto('people').values({ account_id: accountId, name, username, locale, image })
        .onConflict((conflict) => conflict.doNothing())
        .returning('account_id')
        .executeTakeFirst()
      if (added) {
        const person = await lockPerson(trx, accountId)
        return await publish(trx, PersonChanged, accountId, { ...toPersonCopy(person), changedAt: person.changedAt })
      }
      // Either the person already exists, or the username is taken.
      if (await findPerson(trx, accountId)) return
    }
    throw new UsernameTaken()
  })
}

/**
 * Creates people whose registration event has not arrived yet; unknown accounts are skipped.
 * @throws Unavailable if identity is unavailable
 */
export async function addMissingPeople ({ db, findAccounts }: Pick<Deps, 'db' | 'findAccounts'>, accountIds: string[]) {
  await settleEach(await findAccounts(accountIds), async (account) => await addPerson(db, account))
}

/** A person, created if it does not exist yet; undefined if identity does not know the account. @throws Unavailable */
export async function findOrAddPerson (deps: Pick<Deps, 'db' | 'findAccounts'>, accountId: string) {
  const existing = await findPerson(deps.db, accountId)
  if (existing) return existing
  await addMissingPeople(deps, [accountId])
  return await findPerson(deps.db, accountId)
}

/** The caller's own person, created if it does not exist yet. @throws PersonNotFound, Unavailable */
export async function ensurePerson (deps: Pick<Deps, 'db' | 'findAccounts'>, accountId: string): Promise<Person> {
  const person = await findOrAddPerson(deps, accountId)
  if (!person) throw new PersonNotFound()
  return person
}

// `updated_at` is the version of a person: under the lock of the row it strictly increases, whatever the clock does.
const nextUpdatedAt = sql<Date>`greatest(clock_timestamp(), people.updated_at + interval '1 microsecond')`

/**
 * Applies the result of `changes` to a person, under the lock of the row, and publishes what has changed for other
 * services.
 * @throws UsernameTaken, RateLimited
 */
export async function changePerson (
  { db, media }: Pick<Deps, 'db' | 'media'>,
  accountId: string,
  changes: (trx: Trx, person: Person) => Promise<UpdateObject<Tables, 'people'>>
) {
  return await db.transaction().execute(async (trx) => {
    const before = await lockPerson(trx, accountId)
    const set = await changes(trx, before)
    const after = await trx.updateTable('people')
      .set({ ...set, updated_at: nextUpdatedAt, published_media_base: media.baseUrl })
      .where('account_id', '=', accountId)
      .returning(personColumns)
      .executeTakeFirstOrThrow()
      .catch((error: unknown) => {
        throw isUsernameConflict(error) ? new UsernameTaken() : error
      })

    // After the update, which has waited for a person who was giving up this username at the same moment.
    if (after.username !== before.username && await isReservedUsername(trx, after.username, accountId)) {
      throw new UsernameTaken()
    }
    if (after.username.toLowerCase() !== before.username.toLowerCase()) {
      await reserveUsername(trx, accountId, { givenUp: before.username, taken: after.username })
    }

    const copy = toPersonCopy(after)
    const facts = factsOf(after)
    const isPictureMoved = isMediaKey(after.image ?? '') && before.published_media_base !== media.baseUrl
    if (isPictureMoved || !isDeepStrictEqual(copy, toPersonCopy(before))) {
      await publish(trx, PersonChanged, accountId, describeCopy(media, after))
    }
    if (!isDeepStrictEqual(facts, factsOf(before))) {
      await publish(trx, FactsChanged, accountId, { accountId, changedAt: after.changedAt, ...facts })
    }
    return after
  })
}

interface LoggedWeight {
  accountId: string
  /** The newest of the logged weights; null if none is left. */
  newest: { kg: number, at: Date } | null
  /** Of the event: it decides which of two is newer. */
  sequence: number
}

/** Takes over the newest logged weight, unless the person entered a later one here. Without any, the entered one counts. */
export async function adoptLoggedWeight (
  deps: Pick<Deps, 'db' | 'media' | 'findAccounts'>,
  { accountId, newest, sequence }: LoggedWeight
) {
  if (!await findOrAddPerson(deps, accountId)) return
  await changePerson(deps, accountId, async (_, person) => {
    if (sequence < person.weight_sequence) return {}
    const { entered_weight: enteredWeight, entered_at: enteredAt } = person
    if (newest && (enteredAt === null || newest.at > enteredAt)) {
      return { weight: newest.kg, weighed_at: newest.at, weight_sequence: sequence }
    }
    return { weight: enteredWeight, weighed_at: enteredAt, weight_sequence: sequence }
  })
}

/**
 * Keeps a username that its owner gave up, so that for 30 days nobody else gets what is meant for them. Nobody keeps many.
 * @throws RateLimited
 */
async function reserveUsername (
  trx: Trx,
  accountId: string,
  { givenUp, taken }: { givenUp: string, taken: string }
) {
  const kept = await trx.selectFrom('reserved_usernames').where('account_id', '=', accountId)
    .where('until', '>', sql<Date>`now()`)
    .where('username', 'not in', [givenUp.toLowerCase(), taken.toLowerCase()])
    .select(sql<number>`ceil(extract(epoch from until - now()))::int`.as('remainingSeconds'))
    .orderBy('until', 'desc').limit(MAX_KEPT_USERNAMES)
    .execute()
  const oldest = kept[MAX_KEPT_USERNAMES - 1]
  if (oldest) throw new RateLimited(oldest.remainingSeconds)
  const reserved = { account_id: accountId, until: sql<Date>`now() + interval '30 days'` }
  await trx.insertInto('reserved_usernames').values({ username: givenUp.toLowerCase(), ...reserved })
    .onConflict((conflict) => conflict.column('username').doUpdateSet(reserved))
    .execute()
}

const BATCH_SIZE = 200

/** Publishes the people again whose picture was published with another base URL than the current one. */
export async function republishPictures ({ db, media }: Pick<Deps, 'db' | 'media'>) {
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('people').where('image', 'like', 'public/%')
        .where('published_media_base', 'is distinct from', media.baseUrl)
        .where('account_id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select('account_id as id').limit(BATCH_SIZE).forUpdate().skipLocked()
        .execute(),
    async work (trx, people) {
      const moved = await trx.updateTable('people')
        .set({ published_media_base: media.baseUrl, updated_at: nextUpdatedAt })
        .where('account_id', 'in', people.map(({ id }) => id))
        .returning(personColumns).execute()
      for (const person of moved) await publish(trx, PersonChanged, person.account_id, describeCopy(media, person))
    }
  })
}

const isUsernameConflict = (error: unknown) =>
  error instanceof Error && 'constraint' in error && error.constraint === 'people_by_username'
