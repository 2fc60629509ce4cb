import type { Purpose } from '../schema.ts'

/**
 * Under which budget a mail is counted: of each kind apart, and requests from a network that the account was signed in to from apart from
 * all others. So nobody elsewhere can use up the mails that its owner needs.
 */
export const budgetOf = (kind: Purpose | 'RESET', isKnownNetwork: boolean) => (isKnownNetwork ? `${kind} KNOWN_NETWORK` : kind)

/** Of each kind only the newest code or link of an account is good. Their mails are queued under the lock of the account. */
export const topicOf = (kind: Purpose | 'RESET', accountId: string) => `${kind} ${accountId}`
