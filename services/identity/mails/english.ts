import { renderMail } from '@tandem/mail-kit'

const locale = 'en'
const ignore = 'If you did not request this email, you can ignore it.'

/**
 * Every mail that this service sends. None contains the name of the account: somebody who registers another person's
 * address chooses the name, and could send their own text to that person through us.
 */
export const english = {
  verification: (code: string) =>
    renderMail({
      locale,
      subject: `${code} is your Tandem code`,
      title: 'Welcome to Tandem',
      paragraphs: [
        'Enter this code in the app to confirm your email address:',
        'The code expires in 24 hours. Nobody from Tandem will ever ask you for it.'
      ],
      code,
      footer: `Somebody signed up for Tandem with this email address. ${ignore}`
    }),
  signIn: (code: string) =>
    renderMail({
      locale,
      subject: `${code} is your Tandem sign-in code`,
      title: 'Hello',
      paragraphs: [
        'Enter this code in the app to sign in:',
        'The code expires in 10 minutes. Nobody from Tandem will ever ask you for it.'
      ],
      code,
      footer: `Somebody is trying to sign in to Tandem with this email address. ${ignore}`
    }),
  erased: () =>
    renderMail({
      locale,
      subject: 'Your Tandem account is deleted',
      title: 'Goodbye',
      paragraphs: [
        'Your account and everything in it has been deleted, as requested.',
        'This is the last email that you get from us. If you want to come back, you can sign up with this address again.'
      ],
      footer: 'Tandem keeps no copy of your address.'
    }),
  reset: (url: string) =>
    renderMail({
      locale,
      subject: 'Choose a new password for Tandem',
      title: 'Hello',
      paragraphs: [
        'Use this link to choose a new password. The link expires in one hour and can be used once.',
        'When you change your password, all your devices are signed out.'
      ],
      button: { label: 'Choose a new password', url },
      footer: `Somebody requested a new password for this email address. ${ignore} Your password stays the same.`
    })
}

/** The mails that every language provides. */
export type MailTemplates = typeof english
