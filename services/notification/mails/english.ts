import { plainText, renderMail } from '@tandem/mail-kit'
import { formatMeetingTime } from './meeting-time.ts'

const locale = 'en'
const footer = 'You received this email because your Tandem account changed.'
const dateFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

const noEmergencyService = 'Tandem is no emergency service. Nobody at Tandem watches meetings or calls for help. ' +
  'In an emergency, call the emergency number of your country.'
const contactFooter = (name: string) =>
  `You received this email because ${name} chose you as their trusted contact on Tandem, an app for training together.`

function describe (details: MeetingMail['details']) {
  if (!details) return ['The first email has the place and the time.']
  const { place, companions, startsAt, endsAt, timezone } = details
  return [
    `Where: ${place || 'not given'}`,
    `When: ${formatMeetingTime(locale, { startsAt, endsAt, timezone })}`,
    `With: ${companions.join(', ') || 'nobody has agreed yet'}`
  ]
}

/**
 * Every mail that this service sends. Mails to the person contain no name: somebody who registers another person's
 * address chooses that name, and could send their own text to that person through us. Mails to a trusted contact have
 * to; `plainName` makes sure that it is only a name.
 */
export const english = {
  contactRequest: ({ name, url }: ContactMail) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} If you do not know them, decline, or ignore this email.`,
      subject: 'Will you be a trusted contact on Tandem?',
      title: 'Hello',
      paragraphs: [
        `${name} uses Tandem to find people to train with, and would like you to be their trusted contact.`,
        `If you agree, ${name} can let you know before they meet somebody new: the name, the place and the time. If they do not ` +
        'report back after the meeting, you get another email.',
        noEmergencyService,
        `You need no account. If you decline, ${name} cannot ask this address again.`
      ],
      button: { label: 'Answer', url }
    }),
  meetingShared: ({ name, url, details }: MeetingMail) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} The link lets you end these emails.`,
      subject: `${name} is going to train with others`,
      title: 'Hello',
      paragraphs: [
        `${name} wants you to know of an activity on Tandem.`,
        ...describe(details),
        `You get another email only if ${name} does not report back after it.`,
        noEmergencyService
      ],
      button: { label: 'End these emails', url }
    }),
  meetingOverdue: ({ name, url, details }: MeetingMail) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} The link lets you end these emails.`,
      subject: `${name} has not reported back`,
      title: 'Please check on them',
      paragraphs: [
        `${name} has not told Tandem that they are well after this activity. Perhaps they forgot. Please try to reach them.`,
        ...describe(details),
        noEmergencyService
      ],
      button: { label: 'End these emails', url }
    }),
  meetingCleared: ({ name, url }: ContactMail) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} The link lets you end these emails.`,
      subject: `${name} has reported back`,
      title: 'All is well',
      paragraphs: [`${name} has now told Tandem that they are well.`, noEmergencyService],
      button: { label: 'End these emails', url }
    }),
  meetingEnded: ({ name, url }: ContactMail) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} The link lets you end these emails.`,
      subject: `The safety check of ${name} has ended`,
      title: 'Hello',
      paragraphs: [
        `${name} can no longer report back after the activity that they let you know of, because their account was closed ` +
        'or paused. You get no further email about it.',
        'This says nothing about how they are. If you want to know, ask them yourself.',
        noEmergencyService
      ],
      button: { label: 'End these emails', url }
    }),
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
  providerLinked: (provider: 'PROVIDER_A' | 'PROVIDER_B', at: Date) =>
    renderMail({
      locale,
      footer,
      subject: 'A provider was linked to your Tandem account',
      title: 'Hello',
      paragraphs: [
        `There was a sign-in to your account with provider ${provider === 'PROVIDER_A' ? 'A' : 'B'}, ` +
        `on ${dateFormat.format(at)} (UTC). From now on, this is a way to sign in.`,
        'If this was not you, remove the provider in the app, and change the passwords of your Tandem account and of ' +
        'your mailbox: the account at the provider has your address.'
      ]
    }),
  newSignIn: (device: string | null, at: Date) =>
    renderMail({
      locale,
      footer,
      subject: 'New sign-in to your Tandem account',
      title: 'Hello',
      paragraphs: [
        `There was a new sign-in to your account from ${device === null ? 'an unknown device' : plainText(device)}, ` +
        `on ${dateFormat.format(at)} (UTC).`,
        'If this was not you, sign out the device in the app and change your password.'
      ]
    })
}

/** A mail to a trusted contact. */
interface ContactMail {
  /** The name of the account, by `plainName`. */
  name: string
  /** The page on which the contact agrees or ends it. */
  url: string
}

interface MeetingMail extends ContactMail {
  /** Null if the activity is gone. */
  details: {
    place: string,
    companions: string[],
    startsAt: string,
    endsAt: string,
    timezone: string
  } | null
}

/** The shape of the templates in every language. */
export type MailTemplates = typeof english
