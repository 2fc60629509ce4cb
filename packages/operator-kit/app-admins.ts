import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import Type from 'typebox'
import { NotFound } from '@tandem/http-kit'
import { describeRequest } from './audit-requests.ts'
import { appendAudit } from './audit.ts'
import type { AuditTables } from './tables.ts'

/** The variable ADMIN_ROUTES_IN_APP. */
export const AdminRoutesInApp = Type.Boolean({
  default: true,
  description: 'Whether accounts of the app with the role ADMIN can use the older routes for operators'
})

/**
 * Writes the requests of the app's own administrators to the audit, before they are answered; or answers 404, if
 * `isOff` is true. Call it before the routes are registered.
 * @param options.prefix of their routes
 */
export function auditAppAdmins (
  app: Pick<FastifyInstance, 'addHook'>,
  { db, prefix, isOff }: { db: Kysely<AuditTables>, prefix: string, isOff: boolean }
) {
  app.addHook('preHandler', async (request) => {
    if (!request.routeOptions.url?.startsWith(prefix)) return
    await appendAudit(db, describeRequest(request, { id: request.account.id, role: 'APP_ADMIN' }))
  })
  if (!isOff) return
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(prefix)) route.schema = { ...route.schema, errors: [NotFound] }
  })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url?.startsWith(prefix)) throw new NotFound()
  })
}
