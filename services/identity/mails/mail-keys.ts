import type { MailRequestKind, Purpose } from '../tables.ts'

/**
 * The budget that a mail counts towards. Each kind has its own, and so do requests from networks that a verified
 * account has signed in from. Nobody elsewhere can use up the mails that the owner needs, and somebody who registers
 * another person's address has one budget.
 */
export const rateLimitKeyOf = (
  kind: MailRequestKind,
  isKnownNetwork: boolean
) => (isKnownNetwork ? `${kind} KNOWN_NETWORK` : kind)

/**
 * For each kind only the newest code or link of an account is valid. Their mails are queued under the lock of the
 * account.
 */
export const collapseKeyOf = (kind: Purpose | MailRequestKind, accountId: string) => `${kind} ${accountId}`
