import { renderMail } from '@tandem/mail-kit'

const locale = 'en'
const ignore = 'If you did not ask for this mail, you need not do anything.'

/**
 * Every mail that this service sends. None says the person's name: whoever registers somebody else's address
 * chooses it, and would send his own words to that person through us.
 */
export const english = {
  verification: (code: string) => renderMail({
    locale,
    subject: `${code} is your Tandem code`,
    title: 'Welcome to Tandem',
    paragraphs: ['Enter this code in the app to confirm your email address:', 'It is good for 24 hours. Nobody from Tandem will ever ask you for it.'],
    code,
    footer: `Somebody signed up to Tandem with this address. ${ignore}`
  }),
  signIn: (code: string) => renderMail({
    locale,
    subject: `${code} is your Tandem sign-in code`,
    title: 'Hello',
    paragraphs: ['Enter this code in the app to sign in:', 'It is good for 10 minutes. Nobody from Tandem will ever ask you for it.'],
    code,
    footer: `Somebody wants to sign in to Tandem with this address. ${ignore}`
  }),
  reset: (url: string) => renderMail({
    locale,
    subject: 'Choose a new password for Tandem',
    title: 'Hello',
    paragraphs: ['Here you can choose a new password. The link is good for one hour, and once.', 'All your devices will be signed out when you do.'],
    button: { label: 'Choose a new password', url },
    footer: `Somebody asked for a new password for this address. ${ignore} Your password stays as it is.`
  })
}

/** What every other language has, too. */
export type Letters = typeof english
