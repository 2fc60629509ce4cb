import Type from 'typebox'
import {
  ACCESS_TOKEN,
  Body,
  Data,
  data,
  Enum,
  Instant,
  Message,
  message,
  Nullable,
  Text,
  Timestamp,
  ValidationError,
  named,
  type Routes
} from '@tandem/http-kit'
import type { RouteDeps } from '../deps.ts'
import { InvalidRefreshToken, RefreshFailed, SessionNotFound } from '../errors.ts'
import { RequiredId } from '../schemas.ts'
import { revokeOtherSessions, revokeSession, signOut } from './actions.ts'
import { callerOf } from './caller.ts'
import { listSessions, listRecentlyEnded } from './queries.ts'
import { refreshSession } from './refresh.ts'
import { tokens } from './schemas.ts'

// Longer than our tokens, so that a token of another server is rejected as INVALID_REFRESH_TOKEN, and the client signs
// in again.
const MAX_TOKEN_LENGTH = 8_192
const RefreshToken = Text({ max: MAX_TOKEN_LENGTH, examples: ['8Xh3c0yJ2m…'] })
const OptionalRefreshToken = Type.Optional(Text({ min: 0, max: MAX_TOKEN_LENGTH, examples: ['8Xh3c0yJ2m…'] }))

const Session = named(
  'Session',
  Type.Object({
    id: Type.String({ examples: ['019a9f3e-6a10-7b52-a1c4-90d3e6f7a8b9'] }),
    deviceInfo: Nullable(Type.String({ examples: ['Pixel 9, Android 16'] })),
    deviceName: Nullable(Type.String({ examples: ["Ana's phone"] })),
    platform: Nullable(Enum(['android', 'ios'])),
    appVersion: Nullable(Type.String({ examples: ['2.4.0'] })),
    ipAddress: Type.String({ description: 'Partly masked', examples: ['203.0.*.*', '2001:db8:*'] }),
    isCurrent: Type.Boolean({ description: 'Whether the token of this request belongs to it' }),
    lastUsedAt: Timestamp,
    createdAt: Timestamp
  })
)

const RefreshHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Chosen by the client for this exchange. If the response was lost, repeat the request with the same ' +
      'key: within 60 seconds, and until the new ' +
      'refresh token is used, the response is the same',
    examples: ['7f3b5c1e-0d52-4f6a-9a57-2f6f4f0f9d11']
  }))
})

export const sessionRoutes: Routes<RouteDeps> = async (app, deps) => {
  const { db } = deps

  app.post('/auth/refresh', {
    schema: {
      operationId: 'refreshTokens',
      summary: 'Exchange a refresh token for new tokens',
      description: 'A refresh token can be exchanged once. If it is sent again more than 10 seconds later, it was ' +
        'probably copied, and the session ends. ' +
        'With an Idempotency-Key an exchange can be repeated.',
      headers: RefreshHeaders,
      body: Body({ refreshToken: RefreshToken }),
      errors: [InvalidRefreshToken, RefreshFailed],
      response: { 200: Type.Object({ success: Type.Literal(true), ...tokens }) }
    },
    config: { public: true }
  }, async ({ headers, body }) => {
    const tokens = await refreshSession(deps, {
      refreshToken: body.refreshToken,
      idempotencyKey: headers['idempotency-key']
    })
    return { success: true as const, ...tokens, expiresIn: ACCESS_TOKEN.lifetimeSeconds }
  })

  app.post('/auth/logout', {
    schema: {
      operationId: 'signOut',
      summary: 'End this session, another session, or all sessions',
      description:
        'Without a body, this session ends; with a refresh token, the session of that token. Access tokens ' +
        'are rejected within a second.',
      body: Body({ refreshToken: OptionalRefreshToken, allDevices: Type.Optional(Type.Boolean()) }, {
        examples: [{ refreshToken: '8Xh3c0yJ2m…' }]
      }),
      response: { 200: Message }
    }
  }, async ({ body, account }) => {
    await signOut(db, callerOf(account), body)
    return message('Signed out')
  })

  app.get('/auth/sessions', {
    schema: {
      operationId: 'listSessions',
      summary: 'List the signed-in devices',
      description: 'Each sign-in on a device is a session. The most recently used comes first.',
      response: {
        200: Data(Type.Object({ sessions: Type.Array(Session), totalSessions: Type.Integer({ examples: [1] }) }))
      }
    },
    config: { unauthorizedOnly: true }
  }, async ({ account }) => {
    const active = await listSessions(db, account.id)
    const sessions = active.map((session) => ({ ...session, isCurrent: session.id === account.sessionId }))
    return data({ sessions, totalSessions: sessions.length })
  })

  app.post('/auth/sessions', {
    schema: {
      operationId: 'revokeSessions',
      summary: 'Sign out one device, or all except one',
      description: '`revoke_session` requires a `sessionId`. `revoke_all` keeps the session of ' +
        '`exceptCurrentRefreshToken`, or this session if that is not a token of the account.',
      body: Body({
        action: Enum(['revoke_session', 'revoke_all']),
        sessionId: Type.Optional(RequiredId),
        exceptCurrentRefreshToken: OptionalRefreshToken
      }, { examples: [{ action: 'revoke_session', sessionId: '019a9f3e-6a10-7b52-a1c4-90d3e6f7a8b9' }] }),
      errors: [SessionNotFound],
      response: { 200: Message }
    },
    config: { unauthorizedOnly: true }
  }, async ({ body, account }) => {
    if (body.action === 'revoke_session') {
      if (body.sessionId === undefined) {
        throw new ValidationError('sessionIdIsRequired', ['sessionId'])
      }
      await revokeSession(db, callerOf(account), body.sessionId)
      return message('The device was signed out')
    }
    await revokeOtherSessions(db, callerOf(account), body.exceptCurrentRefreshToken)
    return message('The other devices were signed out')
  })

  // For the gateways only, which do not proxy it. They poll it to reject tokens of ended sessions within a second.
  app.get('/internal/revoked-sessions', {
    schema: {
      hide: true,
      querystring: Type.Object({ since: Instant }),
      response: { 200: Type.Object({ sessions: Type.Array(Type.String()), until: Timestamp }) }
    },
    config: { public: true, logged: false }
  }, async ({ query }) => await listRecentlyEnded(db, new Date(query.since)))
}
