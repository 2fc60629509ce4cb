import { LIFETIMES } from './lifetimes.ts'
import type { MailRequestKind, Purpose } from './tables.ts'

/**
 * The limit that a mail counts towards. Each kind has its own, and so do requests from networks that a verified
 * account has signed in from. Nobody elsewhere can use up the mails that the owner needs, and somebody who registers
 * another person's address has one limit.
 */
export const rateLimitKeyOf = (
  kind: MailRequestKind,
  isKnownNetwork: boolean
) => (isKnownNetwork ? `${kind} KNOWN_NETWORK` : kind)

/**
 * Of each kind only the newest code or link of an account is valid, until it expires: other mails are not sent. Mails
 * with one are created under the lock of the account.
 */
export const validityOf = (kind: Purpose | MailRequestKind, accountId: string) => ({
  collapseKey: `${kind} ${accountId}`,
  lifetime: LIFETIMES[kind]
})

/** The mails that say when an account will be erased: only the newest is valid, and after a cancel none. */
export const deletionMailsOf = (accountId: string) => `deletion ${accountId}`
