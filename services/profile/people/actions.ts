import { isDeepStrictEqual } from 'node:util'
import { sql, type UpdateObject } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { FactsChanged, PersonChanged } from '@tandem/contracts'
import { generateUsername } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound, UsernameTaken } from '../errors.ts'
import type { Db, Tables, Trx } from '../tables.ts'
import { toPersonCopy, factsOf } from './describe.ts'
import { birthDay, changedAt, findPerson, lockPerson, type Person } from './queries.ts'

interface NewPerson { accountId: string, name: string, locale: string, image?: string | null | undefined }

/** Makes a person and says so; does nothing when there is one. */
export async function addPerson (db: Db, { accountId, name, locale, image = null }: NewPerson) {
  await db.transaction().execute(async (trx) => {
    for (let digits = 4; digits <= 8; digits++) {
      const username = generateUsername(digits)
      const added = await trx.insertInto('people').values({ account_id: accountId, name, username, locale, image })
        .onConflict((conflict) => conflict.doNothing())
        .returning('account_id')
        .executeTakeFirst()
      if (added) {
        const person = await lockPerson(trx, accountId)
        return await publish(trx, PersonChanged, accountId, { ...toPersonCopy(person), changedAt: person.changedAt })
      }
      // Either the person is there, or somebody else has this username.
      if (await findPerson(trx, accountId)) return
    }
    throw new UsernameTaken()
  })
}

/** Adds people of whose registration nothing was heard yet; accounts that do not exist are left out. @throws Unavailable when identity is away */
export async function addUnknownPeople ({ db, findAccounts }: Pick<Deps, 'db' | 'findAccounts'>, accountIds: string[]) {
  for (const account of await findAccounts(accountIds)) await addPerson(db, account)
}

/** The caller's own person, made now if need be. @throws PersonNotFound, Unavailable */
export async function ensurePerson (deps: Pick<Deps, 'db' | 'findAccounts'>, accountId: string): Promise<Person> {
  const known = await findPerson(deps.db, accountId)
  if (known) return known
  await addUnknownPeople(deps, [accountId])
  const made = await findPerson(deps.db, accountId)
  if (!made) throw new PersonNotFound()
  return made
}

// Two changes of a person are never of the same moment, whatever the clock does: his row is locked.
const nextMoment = sql<Date>`greatest(clock_timestamp(), people.updated_at + interval '1 microsecond')`

/**
 * Changes a person by what `changes` makes of him under his lock, and says what others need to know of it, if that is different now.
 * @throws UsernameTaken
 */
export async function changePerson ({ db, media }: Pick<Deps, 'db' | 'media'>, accountId: string, changes: (trx: Trx, person: Person) => Promise<UpdateObject<Tables, 'people'>>) {
  return await db.transaction().execute(async (trx) => {
    const before = await lockPerson(trx, accountId)
    const set = await changes(trx, before)
    // A phone often sends back what it was given: only another weight is a new one.
    const weighed = set.weight !== undefined && set.weight !== before.weight && { weighed_at: sql<Date>`now()` }
    const after = await trx.updateTable('people')
      .set({ ...set, ...weighed, updated_at: nextMoment, announced_base: media.baseUrl })
      .where('account_id', '=', accountId)
      .returningAll().returning([birthDay, changedAt])
      .executeTakeFirstOrThrow()
      .catch((error: unknown) => { throw isTaken(error) ? new UsernameTaken() : error })

    const appearance = toPersonCopy(after)
    const facts = factsOf(after)
    if (!isDeepStrictEqual(appearance, toPersonCopy(before))) await publish(trx, PersonChanged, accountId, announcementOf(media, after))
    if (!isDeepStrictEqual(facts, factsOf(before))) await publish(trx, FactsChanged, accountId, { accountId, changedAt: after.changedAt, ...facts })
    return after
  })
}

const announcementOf = (media: Deps['media'], person: Person) => ({ ...toPersonCopy(person), image: media.urlOf(person.image), changedAt: person.changedAt })

const BATCH = 200

/** Tells the other services where pictures are now: of those that were announced under another address than today's. */
export async function announceMovedPictures ({ db, media }: Pick<Deps, 'db' | 'media'>) {
  for (let announced = BATCH; announced === BATCH;) {
    announced = await db.transaction().execute(async (trx) => {
      const people = await trx.selectFrom('people').where('image', 'like', 'public/%').where('announced_base', 'is distinct from', media.baseUrl)
        .select('account_id').limit(BATCH).forUpdate().skipLocked().execute()
      if (people.length === 0) return 0
      const moved = await trx.updateTable('people').set({ announced_base: media.baseUrl, updated_at: nextMoment })
        .where('account_id', 'in', people.map((person) => person.account_id))
        .returningAll().returning([birthDay, changedAt]).execute()
      for (const person of moved) await publish(trx, PersonChanged, person.account_id, announcementOf(media, person))
      return people.length
    })
  }
}

const isTaken = (error: unknown) => error instanceof Error && 'constraint' in error && error.constraint === 'people_by_username'
