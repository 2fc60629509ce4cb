import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { serveAppealPage } from './appeal-page.ts'
import { serveButtonPage } from './button-page.ts'
import { serveContactPage } from './contact-page.ts'
import { serveDeleteAccountPage } from './delete-account-page.ts'
import { serveInvitePage } from './invite-page.ts'
import { serveMyDataPage } from './my-data-page.ts'
import { serveResetPage } from './reset-page.ts'

export type PageConfig = Pick<Config, 'DEVELOPER_NAME' | 'IOS_STORE_URL' | 'ANDROID_STORE_URL'>

/** Every page that people open in a browser, most of them from a mail. */
export async function serveHtmlPages (app: FastifyInstance, config: PageConfig) {
  await serveResetPage(app)
  await serveDeleteAccountPage(app, config)
  await serveInvitePage(app, config)
  await serveContactPage(app)
  await serveMyDataPage(app)
  // The link that takes a change of address back, and those of mails with a code, where the app does not open them.
  serveButtonPage(app, { path: '/restore-address', route: '/account/email/revert', page: 'restoreAddress' })
  serveButtonPage(app, { path: '/sign-in', route: '/auth/login-link/network', page: 'signIn' })
  serveButtonPage(app, { path: '/verify-email', route: '/auth/verify-link', page: 'verifyEmail' })
  await serveAppealPage(app)
}
