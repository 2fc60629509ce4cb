import type { FastifyInstance, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import type { Kysely } from 'kysely'
import { InvalidAccessToken, Unauthorized, verifySignedToken, type KeySet } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import { appendAudit } from './audit.ts'
import { requireRight, staffRoles, type Operator, type Right, type StaffRole } from './rights.ts'
import type { AuditTables } from './tables.ts'

/** The format of operators' tokens. No other route accepts them, and operators' routes accept no others. */
export const OPERATOR_TOKEN = {
  type: 'operator+jwt',
  audience: 'tandem-operators',
  lifetimeSeconds: 60
} as const

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route below /operator, for tests. */
    operatorRoutes: OperatorRoute[]
  }
  interface FastifyRequest {
    /** The operator; undefined on every other route. */
    operator: Operator
  }
  interface FastifyContextConfig {
    operator?: { right: Right | null }
  }
}

export interface OperatorRoute {
  method: string
  url: string
  right: Right | null
}

/** The `config` of a route for operators who have `right`. */
export const forOperators = (right: Right) => ({ public: true, operator: { right } })

/** The `config` of the few routes below /operator that are called before there is a token. */
export const withoutToken = { public: true, operator: { right: null } }

const isRole = (role: unknown): role is StaffRole => staffRoles.some((each) => each === role)

/**
 * Verifies the operator's token and right on every route below /operator, and writes an audit entry before the route
 * runs. A route there without `forOperators` is refused at the start.
 */
export const operatorAuthentication = plugin(
  async (app: FastifyInstance, { db, keys }: { db: Kysely<AuditTables>, keys: KeySet }) => {
    app.decorateRequest('operator')

    app.decorate('operatorRoutes', [])

    app.addHook('onRoute', ({ method, url, config }) => {
      if (config?.operator) {
        for (const each of [method].flat()) app.operatorRoutes.push({ method: each, url, right: config.operator.right })
      }
      if (url.startsWith('/operator') !== (config?.operator !== undefined)) {
        throw new Error(`${url}: routes below /operator, and only these, have forOperators`)
      }
    })

    app.addHook('onRequest', async (request) => {
      const right = request.routeOptions.config?.operator?.right
      if (!right) return
      const header = request.headers.authorization
      if (header === undefined) throw new Unauthorized()
      const [, token] = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(header) ?? []
      request.operator = await verify(keys, token)
      requireRight(request.operator, right)
    })

    app.addHook('preHandler', async (request) => {
      if (request.operator) await appendAudit(db, describe(request))
    })
  },
  { name: 'operator-authentication' }
)

async function verify (keys: KeySet, token: string | undefined): Promise<Operator> {
  if (token === undefined) throw new InvalidAccessToken()
  const { claims } = await verifySignedToken(keys, token, OPERATOR_TOKEN).catch((error: unknown) => {
    throw error instanceof Unavailable ? error : new InvalidAccessToken()
  })
  const { sub, sid, role, acc, pat } = claims
  if (typeof sub !== 'string' || typeof sid !== 'string' || !isRole(role) || typeof pat !== 'number') {
    throw new InvalidAccessToken()
  }
  return {
    id: sub,
    sessionId: sid,
    role,
    accountId: typeof acc === 'string' ? acc : null,
    provedAt: new Date(pat * 1_000)
  }
}

const MAX_REASON_CHARACTERS = 500
const MAX_SUBJECT_CHARACTERS = 200

/** What a request does, whose data it concerns, and why. */
function describe (request: FastifyRequest) {
  const { id, operator, method, routeOptions, params, query, body } = request
  const given = { ...query as object, ...body as object, ...params as object } as Record<string, unknown>
  const text = (value: unknown, max: number) => typeof value === 'string' && value !== '' ? value.slice(0, max) : null
  const subject = [given['id'], given['key'], given['accountId'], given['q']].find((each) => typeof each === 'string')
  return {
    operator,
    action: `${method} ${routeOptions.url ?? ''}`,
    subject: text(subject, MAX_SUBJECT_CHARACTERS),
    accountId: text(given['accountId'], MAX_SUBJECT_CHARACTERS),
    reason: text(given['reason'], MAX_REASON_CHARACTERS),
    requestId: id
  }
}
