import type { MailRequestKind, Purpose } from './tables.ts'

/** How long a mailed code or link is valid. */
export const LIFETIMES: Record<Purpose | MailRequestKind, string> = {
  VERIFY: '24 hours',
  SIGN_IN: '10 minutes',
  DELETE: '10 minutes',
  EXPORT: '10 minutes',
  CHANGE_EMAIL: '10 minutes',
  REMOVE_PROVIDER: '10 minutes',
  NEW_EMAIL: '10 minutes',
  RESET: '1 hour',
  DELETION: '1 hour'
}
