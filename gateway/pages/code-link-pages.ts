import type { FastifyInstance } from 'fastify'
import { serveButtonPage } from './button-page.ts'

/** GET /sign-in and /verify-email: the targets of the links in mails with a code, where the app does not open them. */
export async function serveCodeLinkPages (app: FastifyInstance) {
  serveButtonPage(app, { path: '/sign-in', route: '/auth/login-link/network', page: 'signIn' })
  serveButtonPage(app, { path: '/verify-email', route: '/auth/verify-link', page: 'verifyEmail' })
}
