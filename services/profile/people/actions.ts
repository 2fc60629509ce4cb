import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { sql, type UpdateObject } from 'kysely'
import { record, type Ask } from '@tandem/bus-kit'
import { Contact, FactsChanged, PersonChanged } from '@tandem/contracts'
import { PersonNotFound, UsernameTaken } from '../errors.ts'
import type { Db, Tables, Trx } from '../schema.ts'
import { appearanceOf, factsOf } from './describe.ts'
import { birthDay, findPerson, lockPerson, type Person } from './queries.ts'

interface NewPerson { accountId: string, name: string, usernameSeed: string, locale: string, image?: string | null | undefined }

/** Makes a person and says so; does nothing when there is one. */
export async function addPerson (db: Db, { accountId, name, usernameSeed, locale, image = null }: NewPerson) {
  await db.transaction().execute(async (trx) => {
    for (const username of usernamesFrom(usernameSeed)) {
      const added = await trx.insertInto('people').values({ account_id: accountId, name, username, locale, image })
        .onConflict((conflict) => conflict.doNothing())
        .returning('account_id')
        .executeTakeFirst()
      if (added) return await record(trx, PersonChanged, accountId, appearanceOf(await lockPerson(trx, accountId)))
      // Either the person is there, or somebody else has this username.
      if (await findPerson(trx, accountId)) return
    }
    throw new UsernameTaken()
  })
}

/** A seed fit for a username, then the same with more and more random digits. */
function * usernamesFrom (seed: string) {
  const plain = seed.normalize('NFKD').toLowerCase().replace(/[^a-z0-9_.]/g, '').slice(0, 22)
  const base = plain.length >= 3 ? plain : `${plain}user`
  yield base
  for (let digits = 2; digits <= 8; digits++) yield `${base}${randomInt(10 ** (digits - 1), 10 ** digits)}`
}

/** The caller's own person, made now if the news of his registration has not come yet. @throws PersonNotFound */
export async function touchPerson (db: Db, ask: Ask, accountId: string): Promise<Person> {
  const known = await findPerson(db, accountId)
  if (known) return known
  const contact = await ask(Contact, { accountId })
  if (!contact) throw new PersonNotFound()
  await addPerson(db, { accountId, name: contact.name, usernameSeed: contact.email.slice(0, contact.email.indexOf('@')), locale: contact.locale })
  const made = await findPerson(db, accountId)
  if (!made) throw new PersonNotFound()
  return made
}

/**
 * Changes a person by what `changes` makes of him under his lock, and says what others need to know of it, if that is different now.
 * @throws UsernameTaken
 */
export async function changePerson (db: Db, accountId: string, changes: (trx: Trx, person: Person) => Promise<UpdateObject<Tables, 'people'>>) {
  return await db.transaction().execute(async (trx) => {
    const before = await lockPerson(trx, accountId)
    const set = await changes(trx, before)
    const after = await trx.updateTable('people').set({ ...set, updated_at: sql`now()` }).where('account_id', '=', accountId)
      .returningAll().returning(birthDay)
      .executeTakeFirstOrThrow()
      .catch((error: unknown) => { throw isTaken(error) ? new UsernameTaken() : error })

    const appearance = appearanceOf(after)
    const facts = factsOf(after)
    if (!isDeepStrictEqual(appearance, appearanceOf(before))) await record(trx, PersonChanged, accountId, appearance)
    if (!isDeepStrictEqual(facts, factsOf(before))) await record(trx, FactsChanged, accountId, { accountId, ...facts })
    return after
  })
}

const isTaken = (error: unknown) => error instanceof Error && 'constraint' in error && error.constraint === 'people_by_username'
