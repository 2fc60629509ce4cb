import { createHash, randomBytes } from 'node:crypto'
import type { Trx } from '../tables.ts'

const digestOf = (text: string) => createHash('sha256').update(text).digest()

/** What is stored of an address that outlives the contact. */
export const addressDigest = (email: string) => digestOf(email.toLowerCase())
/** An account and an address that it asked. Without both, it reveals neither. */
export const pairDigest = (accountId: string, email: string) => digestOf(`${accountId} ${email.toLowerCase()}`)
export const tokenDigest = digestOf

/**
 * The URL of the page on which a contact agrees, refuses or ends it. Its token is stored as a digest only. To somebody
 * who is no contact any more (null), the page says that they get no more mails.
 */
export async function createContactLink (trx: Trx, publicUrl: string, contactId: string | null) {
  const token = randomBytes(32).toString('base64url')
  if (contactId !== null) {
    await trx.insertInto('trusted_contact_links').values({ contact_id: contactId, token_digest: tokenDigest(token) })
      .execute()
  }
  // In the fragment, which browsers do not send to servers.
  return `${publicUrl}/trusted-contact#token=${token}`
}
