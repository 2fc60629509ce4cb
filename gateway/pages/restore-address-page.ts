import type { FastifyInstance } from 'fastify'
import { serveButtonPage } from './button-page.ts'

/** GET /restore-address: the target of the link that takes a change of address back. */
export async function serveRestoreAddressPage (app: FastifyInstance) {
  serveButtonPage(app, { path: '/restore-address', route: '/account/email/revert', page: 'restoreAddress' })
}
