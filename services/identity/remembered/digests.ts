import type { Secrets } from '../secrets.ts'
import type { Provider } from '../tables.ts'

/** Keyed digests of an address, and of it without a tag: `ana+2@example.com` is the mailbox of `ana@example.com`. */
export function digestsOfEmail (secrets: Secrets, email: string) {
  const untagged = email.replace(/\+[^@]*(?=@[^@]*$)/, '')
  return [...new Set([email, untagged])].map((address) => secrets.digest('remembered', 'email', address))
}

export const digestOfProvider = (secrets: Secrets, provider: Provider, subject: string) =>
  secrets.digest('remembered', provider, subject)
