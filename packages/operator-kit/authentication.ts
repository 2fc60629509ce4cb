import type { FastifyInstance, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import type { Kysely } from 'kysely'
import { Forbidden, InvalidAccessToken, readBearer, Unauthorized } from '@tandem/http-kit'
import { appendAudit } from './audit.ts'
import { describeRequest } from './audit-requests.ts'
import { requireRight, staffRoles, type Operator, type Right, type StaffRole } from './rights.ts'
import { countPerson } from './people.ts'
import type { AuditTables, PeopleTables } from './tables.ts'

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
    operator?: { right: Right | null, person?: PersonField | undefined }
  }
}

export interface OperatorRoute {
  method: string
  url: string
  right: Right | null
}

/** The query parameter or path parameter that names the account whose data a route shows. */
type PersonField = 'accountId' | 'id'

/**
 * The `config` of a route for operators who have `right`.
 * @param options.person the field that names the person whose data it shows or changes: such people are counted, and
 * nobody changes their own
 */
export const forOperators = (right: Right, { person }: { person?: PersonField } = {}) => ({
  public: true,
  operator: { right, person }
})

/** The `config` of the few routes below /operator that are called before there is a token. */
export const withoutToken = { public: true, operator: { right: null } }

const isRole = (role: unknown): role is StaffRole => staffRoles.some((each) => each === role)

/**
 * Verifies the operator's token and right on every route below /operator, and writes an audit entry before the route
 * runs. A route there without `forOperators` is refused at the start.
 */
export const operatorAuthentication = plugin(
  async (app: FastifyInstance, { db }: { db: Kysely<AuditTables & PeopleTables> }) => {
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
      request.operator = await readOperator(app, readBearer(header))
      requireRight(request.operator, right)
    })

    app.addHook('preHandler', async (request) => {
      if (!request.operator) return
      await appendAudit(db, describeRequest(request, request.operator))
      const accountId = findPerson(request)
      if (accountId === undefined) return
      const isChange = request.method !== 'GET' && request.method !== 'HEAD'
      if (isChange && accountId === request.operator.accountId) throw new Forbidden()
      await countPerson(db, request.operator.id, accountId)
    })
  },
  { name: 'operator-authentication' }
)

async function readOperator (app: FastifyInstance, token: string): Promise<Operator> {
  const { claims: { sub, sid, role, acc, pat, inv, con } } = await app.verifySignedToken(token, OPERATOR_TOKEN)
  if (typeof sid !== 'string' || !isRole(role) || typeof pat !== 'number') throw new InvalidAccessToken()
  return {
    id: sub,
    sessionId: sid,
    role,
    accountId: typeof acc === 'string' ? acc : null,
    provedAt: new Date(pat * 1_000),
    invitedBy: Array.isArray(inv) ? inv.map(String) : [],
    canConfirm: con === true
  }
}

/** The account whose data a request is for, if its route shows people. */
function findPerson ({ routeOptions, query, params }: FastifyRequest) {
  const field = routeOptions.config.operator?.person
  const accountId = field && { ...query as object, ...params as object }[field as never]
  return typeof accountId === 'string' ? accountId : undefined
}
