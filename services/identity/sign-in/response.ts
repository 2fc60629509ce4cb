import Type from 'typebox'
import { ACCESS_TOKEN } from '@tandem/http-kit'
import type { Account } from '../accounts/queries.ts'
import { describeNewUser, describeUser, User } from '../accounts/user.ts'
import type { RouteDeps } from '../deps.ts'
import { tokens } from '../sessions/schemas.ts'

/** The response of every sign-in route: the tokens and their user. */
export const signedIn = { success: Type.Literal(true), ...tokens, user: User }

export interface SignedIn {
  account: Account
  sessionId: string
  refreshToken: string
  isNewUser?: boolean
}

/** The response for a session that has just started. */
export async function describeSignIn (
  { callRpc, mediaUrls, issueToken }: RouteDeps,
  { account, sessionId, refreshToken, isNewUser }: SignedIn
) {
  const [token, user] = await Promise.all([
    issueToken({ accountId: account.id, sessionId, role: account.role }),
    isNewUser ? describeNewUser(account) : describeUser({ callRpc, mediaUrls }, account)
  ])
  return { success: true as const, accessToken: token, refreshToken, expiresIn: ACCESS_TOKEN.lifetimeSeconds, user }
}
