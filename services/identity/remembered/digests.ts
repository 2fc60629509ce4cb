import { mailboxOf } from '../mailboxes.ts'
import type { Secrets } from '../secrets.ts'
import type { Provider } from '../tables.ts'

/** Keyed digests of an address and of its mailbox. */
export function digestsOfEmail (secrets: Secrets, email: string) {
  const untagged = email.replace(/\+[^@]*(?=@[^@]*$)/, '')
  // Remembered addresses of Google from before have no digest of the mailbox, but this one.
  return [...new Set([email, untagged, mailboxOf(email)])].map((address) =>
    secrets.digest('remembered', 'email', address)
  )
}

export const digestOfProvider = (secrets: Secrets, provider: Provider, subject: string) =>
  secrets.digest('remembered', provider, subject)
