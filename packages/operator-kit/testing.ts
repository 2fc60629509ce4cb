import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { bearer, signToken } from '@tandem/http-kit/testing'
import { ACCESS_TOKEN } from '@tandem/http-kit'
import { OPERATOR_TOKEN } from './authentication.ts'
import { rights, staffRoles, type StaffRole } from './rights.ts'

interface OperatorOptions {
  id?: string
  accountId?: string
  provedSecondsAgo?: number
  invitedBy?: string[]
  canConfirm?: boolean
  expiresInSeconds?: number
}

/** The authorization header of an operator. */
export function operatorBearer (
  role: StaffRole = 'ADMIN',
  {
    id = randomUUID(),
    accountId,
    provedSecondsAgo = 0,
    invitedBy = [],
    canConfirm = true,
    expiresInSeconds = OPERATOR_TOKEN.lifetimeSeconds
  }: OperatorOptions = {}
) {
  const now = Math.floor(Date.now() / 1_000)
  const claims = {
    iss: ACCESS_TOKEN.issuer,
    aud: OPERATOR_TOKEN.audience,
    sub: id,
    sid: randomUUID(),
    role,
    ...(accountId && { acc: accountId }),
    pat: now - provedSecondsAgo,
    inv: invitedBy,
    con: canConfirm,
    iat: now,
    exp: now + expiresInSeconds
  }
  return { authorization: `Bearer ${signToken(claims, { typ: OPERATOR_TOKEN.type })}` }
}

/** The part of a tap test that `checkOperatorRoutes` uses. */
interface Check {
  match(found: unknown, wanted: unknown, message: string): unknown
  ok(value: unknown, message: string): unknown
}

type Header = Record<string, string>

/** How to sign in, for services that do not know the keys of `testKeys`. */
interface Tokens {
  asOperator?: (role: StaffRole, options?: { provedSecondsAgo?: number }) => Header | Promise<Header>
  asAccount?: (accountId: string, options: { role: string }) => Header | Promise<Header>
}

/** Checks that every route below /operator refuses callers without a token of an operator who has the right. */
export async function checkOperatorRoutes (
  t: Check,
  app: Pick<FastifyInstance, 'inject' | 'operatorRoutes'>,
  { asOperator = operatorBearer, asAccount = bearer }: Tokens = {}
) {
  t.ok(app.operatorRoutes.length > 0, 'there are routes for operators')
  for (const { method, url, right } of app.operatorRoutes) {
    if (right === null) continue
    const send = async (headers: Record<string, string>) => {
      const response = await app.inject({
        method: method as 'GET',
        url: url.replaceAll(/:\w+/g, randomUUID()),
        headers
      })
      return { status: response.statusCode, ...(method === 'HEAD' ? {} : response.json<object>()) }
    }
    const code = (expected: string) => method === 'HEAD' ? {} : { code: expected }
    const route = `${method} ${url}`
    t.match(await send({}), { status: 401, ...code('UNAUTHORIZED') }, `${route} without a token`)
    t.match(
      await send(await asAccount(randomUUID(), { role: 'ADMIN' })),
      { status: 401, ...code('INVALID_ACCESS_TOKEN') },
      `${route} with a token of the app`
    )
    const late = operatorBearer('ADMIN', { expiresInSeconds: -10 })
    t.match(await send(late), { status: 401, ...code('INVALID_ACCESS_TOKEN') }, `${route} with an expired token`)
    for (const role of staffRoles) {
      if ((rights[right].roles as readonly StaffRole[]).includes(role)) continue
      t.match(await send(await asOperator(role)), { status: 403, ...code('FORBIDDEN') }, `${route} as ${role}`)
    }
    if (!('needsProof' in rights[right])) continue
    t.match(
      await send(await asOperator('ADMIN', { provedSecondsAgo: 601 })),
      { status: 403, ...code('PROOF_REQUIRED') },
      `${route} without a passkey`
    )
  }
}
