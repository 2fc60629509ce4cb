import { Unavailable, type Ask } from '@tandem/bus-kit'
import { Contact, People } from '@tandem/contracts'
import type { PersonCopy } from './actions.ts'

const AT_ONCE = 100
const DEFAULT_TIMEZONE = 'Asia/Jakarta'

/**
 * Asks how people appear and are spoken to: the profile service, and identity of those whom it has not met. Accounts that do not exist are left out.
 * @throws Unavailable when one of the two is away
 */
export async function askPeople (ask: Ask, accountIds: string[]): Promise<PersonCopy[]> {
  const people: PersonCopy[] = []
  for (let from = 0; from < accountIds.length; from += AT_ONCE) {
    people.push(...await ask(People, { accountIds: accountIds.slice(from, from + AT_ONCE) }))
  }
  const met = new Set(people.map((person) => person.accountId))
  for (const accountId of accountIds) {
    if (met.has(accountId)) continue
    const contact = await ask(Contact, { accountId })
    if (contact) people.push({ accountId, name: contact.name, locale: contact.locale, image: null, timezone: DEFAULT_TIMEZONE })
  }
  return people
}

/** The same, or nothing while one of them is away. */
export async function askPeopleIfThere (ask: Ask, accountIds: string[]): Promise<PersonCopy[]> {
  return await askPeople(ask, accountIds).catch((error: unknown) => {
    if (error instanceof Unavailable) return []
    throw error
  })
}
