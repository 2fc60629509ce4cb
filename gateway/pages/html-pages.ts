import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { serveDeleteAccountPage } from './delete-account-page.ts'
import { serveInvitePage } from './invite-page.ts'
import { serveLinkPage } from './link-page.ts'
import { serveMyDataPage } from './my-data-page.ts'

export type PageConfig = Pick<Config, 'DEVELOPER_NAME' | 'IOS_STORE_URL' | 'ANDROID_STORE_URL'>

/** Every page that people open in a browser, most of them from a mail. */
export async function serveHtmlPages (app: FastifyInstance, config: PageConfig) {
  await serveDeleteAccountPage(app, config)
  await serveInvitePage(app, config)
  await serveMyDataPage(app)
  serveLinkPage(app, {
    path: '/trusted-contact',
    page: 'contact',
    route: '/notifications/trusted-contact/answer',
    fields: "accept: event.submitter.value === 'agreed'",
    endings: { INVALID_TOKEN: 'expired', CONTACT_DECLINED: 'refused' },
    content: ({ question, warning, agree, decline }) =>
      `${paragraphs(question, warning)}
<button value="agreed">${agree}</button>
<button value="declined">${decline}</button>`
  })
  serveLinkPage(app, {
    path: '/appeal',
    page: 'appeal',
    route: '/account/appeals',
    fields: 'text: form.elements.text.value',
    endings: { APPEAL_EXISTS: 'exists', APPEAL_CLOSED: 'closed', NOT_FOUND: 'missing' },
    content: ({ text, send }) =>
      `<label>${text}<textarea name="text" rows="8" maxlength="5000" required autofocus></textarea></label>
<button>${send}</button>`
  })

  // On devices where the app does not open the link.
  serveLinkPage(app, {
    path: '/reset-password',
    page: 'reset',
    route: '/auth/reset-password',
    fields: 'email: form.elements.email.value, password: form.elements.password.value',
    endings: { INVALID_TOKEN: 'expired' },
    content: ({ password, save }) =>
      `<input type="email" name="email" autocomplete="username" hidden>
<label>${password}<input type="password" name="password" autocomplete="new-password" required autofocus
  minlength="8" maxlength="128"></label>
<button>${save}</button>`
  })
  const withOneButton = { endings: { INVALID_TOKEN: 'expired' }, content: oneButton }
  serveLinkPage(app, { ...withOneButton, path: '/sign-in', page: 'signIn', route: '/auth/login-link/network' })
  serveLinkPage(app, { ...withOneButton, path: '/verify-email', page: 'verifyEmail', route: '/auth/verify-link' })
  // The link that takes a change of address back.
  serveLinkPage(app, {
    ...withOneButton,
    path: '/restore-address',
    page: 'restoreAddress',
    route: '/account/email/revert'
  })
}

const paragraphs = (...texts: string[]) => texts.map((text) => `<p>${text}</p>`).join('\n')

const oneButton = ({ question, warning, button }: Record<'question' | 'warning' | 'button', string>) =>
  `${paragraphs(question, warning)}\n<button>${button}</button>`
