import { sql } from 'kysely'
import { AddressOwner } from '@tandem/contracts'
import { Unavailable } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { hasBlockBetween } from '../notifications/recipients.ts'
import { findContact } from './queries.ts'

/**
 * Whether an address can be the contact of a person. It cannot if it is the verified address of an account that is banned
 * or leaving, of one in a block with the person, or of the person. Most contacts have no account.
 * @throws Unavailable
 */
export async function isEligible ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>, accountId: string, email: string) {
  const owner = await callRpc(AddressOwner, { email })
  if (!owner) return true
  if (owner.isBannedOrLeaving || owner.accountId === accountId) return false
  const { rows } = await sql<{ isBlocked: boolean }>`
    select ${hasBlockBetween(sql`${accountId}::uuid`, sql`${owner.accountId}::uuid`)} as "isBlocked"`.execute(db)
  return !rows[0]!.isBlocked
}

/** Whether somebody still is, who was. While identity is unavailable they are, because an alarm does not wait. */
export async function isStillEligible (deps: Pick<Deps, 'db' | 'callRpc'>, accountId: string, email: string) {
  return await isEligible(deps, accountId, email).catch((error: unknown) => {
    if (error instanceof Unavailable) return true
    throw error
  })
}

/** The status of a person's contact, and NONE if they are not eligible any more: their end as a contact can be late. */
export async function findContactStatus (deps: Pick<Deps, 'db' | 'callRpc'>, accountId: string) {
  const contact = await findContact(deps.db, accountId)
  if (contact?.status !== 'CONFIRMED') return contact?.status ?? 'NONE'
  return await isStillEligible(deps, accountId, contact.email) ? 'CONFIRMED' : 'NONE'
}
