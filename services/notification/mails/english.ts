import { renderMail } from '@tandem/mail-kit'

const locale = 'en'
const footer = 'You received this email because your Tandem account changed.'
const dateFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/**
 * Every mail that this service sends. None contains the person's name: somebody who registers another person's address
 * chooses that name, and could send their own text to that person through us.
 */
export const english = {
  passwordChanged: (how: 'INITIAL' | 'CHANGED' | 'RESET' | 'CLEARED') =>
    renderMail({
      locale,
      footer,
      title: 'Hello',
      ...(how === 'CLEARED'
        ? {
          subject: 'The password of your Tandem account was removed',
          paragraphs: [
            'You just confirmed this email address from a different place than the one where the account was created.',
            'For your safety, we removed the password that was set there and signed out its devices. ' +
            'You can set a new password in the app.'
          ]
        }
        : {
          subject: how === 'INITIAL'
            ? 'Your Tandem account has a password now'
            : 'The password of your Tandem account was changed',
          paragraphs: [
            how === 'INITIAL'
              ? 'A first password was set for your account.'
              : 'The password of your account was changed, and other devices were signed out.',
            'If this was not you, choose “Forgot password” in the app immediately.'
          ]
        })
    }),
  newSignIn: (device: string | null, at: Date) =>
    renderMail({
      locale,
      footer,
      subject: 'New sign-in to your Tandem account',
      title: 'Hello',
      paragraphs: [
        `There was a new sign-in to your account from ${device ?? 'an unknown device'}, ` +
        `on ${dateFormat.format(at)} (UTC).`,
        'If this was not you, sign out the device in the app and change your password.'
      ]
    })
}

/** The shape of the templates in every language. */
export type MailTemplates = typeof english
