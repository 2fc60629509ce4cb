import type { Secrets } from '../secrets.ts'
import type { SignInMethod } from '../tables.ts'

const LIFETIME_MS = 15 * 60 * 1_000
const CONTEXT = 'restore token'

interface Restorable {
  accountId: string
  erasureId: string
  /** How the owner signed in. */
  method: SignInMethod
  /** Of the password at the sign-in: a new password ends the token. Undefined for the token of a mail. */
  passwordDigest?: string
}

export const digestOfPassword = (secrets: Secrets, passwordHash: string | null) =>
  secrets.digest('restore token', passwordHash ?? '').toString('base64url')

/** A token that cancels one deletion, for 15 minutes by default. It is encrypted, so it needs no row. */
export const createRestoreToken = (
  secrets: Secrets,
  restorable: Restorable,
  expiresAt = new Date(Date.now() + LIFETIME_MS)
) => secrets.encrypt(JSON.stringify({ ...restorable, expiresAt: expiresAt.getTime() }), CONTEXT).toString('base64url')

/** The deletion that a token cancels; undefined if the token is invalid or has expired. */
export function readRestoreToken (secrets: Secrets, token: string): Restorable | undefined {
  try {
    const { expiresAt, ...restorable } = JSON.parse(secrets.decrypt(Buffer.from(token, 'base64url'), CONTEXT)) as
      & Restorable
      & { expiresAt: number }
    return expiresAt > Date.now() ? restorable : undefined
  } catch {
    return undefined
  }
}
