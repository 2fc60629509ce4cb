import type { Purpose } from '../tables.ts'

/**
 * Under which budget a mail is counted: of each kind apart, and requests from where a verified account was signed in to apart from all
 * others. So nobody elsewhere can use up the mails that its owner needs, and whoever registers another person's address has one budget.
 */
export const budgetOf = (kind: Purpose | 'RESET', isOwnersNetwork: boolean) => (isOwnersNetwork ? `${kind} KNOWN_NETWORK` : kind)

/** Of each kind only the newest code or link of an account is good. Their mails are queued under the lock of the account. */
export const topicOf = (kind: Purpose | 'RESET', accountId: string) => `${kind} ${accountId}`
