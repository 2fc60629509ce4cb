import { renderMail } from '@tandem/mail-kit'

const locale = 'en'
const footer = 'You get this mail because something about your Tandem account has changed.'
const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/**
 * Every mail that this service sends. None holds the person's name: whoever registers another person's address chooses it, and could
 * send that person a text of their own through us.
 */
export const english = {
  passwordChanged: (how: 'INITIAL' | 'CHANGED' | 'RESET' | 'CLEARED') => renderMail({
    locale,
    footer,
    title: 'Hello',
    ...(how === 'CLEARED'
      ? {
          subject: 'The password of your Tandem account was removed',
          paragraphs: [
            'You have just confirmed this email address from another place than the one the account was made from.',
            'To be safe we removed the password that was set there and signed out its devices. You can set a new one in the app.'
          ]
        }
      : {
          subject: how === 'INITIAL' ? 'Your Tandem account has a password now' : 'The password of your Tandem account was changed',
          paragraphs: [
            how === 'INITIAL' ? 'A first password was set for your account.' : 'The password of your account was changed, and other devices were signed out.',
            'If that was not you, choose “Forgot password” in the app at once.'
          ]
        })
  }),
  newSignIn: (device: string | null, at: Date) => renderMail({
    locale,
    footer,
    subject: 'New sign-in to your Tandem account',
    title: 'Hello',
    paragraphs: [
      `Your account was signed in to on ${device ?? 'a device'} that we did not know, on ${moments.format(at)} (UTC).`,
      'If that was not you, sign the device out in the app and change your password.'
    ]
  })
}

/** What every other language has, too. */
export type Letters = typeof english
