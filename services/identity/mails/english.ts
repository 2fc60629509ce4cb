import { plainQuote, renderMail } from '@tandem/mail-kit'
import type { StaffRole } from '@tandem/operator-kit'
import type { DecidedAction, DecisionReason, ProofPurpose, Provider, RestrictionScope } from '../tables.ts'

const locale = 'en'
const ignore = 'If you did not request this email, you can ignore it.'

/** What a person reads about the deletion that they requested. */
interface DeletionMail {
  kind: 'SCHEDULED' | 'REMINDER'
  date: string
  url: string
  hasSubscription: boolean
  /** Where they cancel it. */
  manageUrl: string | null
  providers: Provider[]
}

const proofPurposes: Record<ProofPurpose, string> = {
  DELETE: 'to delete your account',
  EXPORT: 'to get a copy of your data',
  CHANGE_EMAIL: 'to change the address of your account',
  REMOVE_PROVIDER: 'to remove a provider from your sign-in'
}

/** What a person reads about a decision of the operators. */
interface DecisionMail {
  actions: DecidedAction[]
  reason: DecisionReason
  /** The operator's own words; empty for an automated decision. */
  statement: string
  excerpt: string | null
  isAutomated: boolean
  url: string
}

/** What a person reads about what a store sold them. */
interface SubscriptionMail {
  kind: 'BEGUN' | 'PAYMENT_FAILED' | 'ENDED' | 'REFUNDED' | 'MOVED' | 'RECEIVED' | 'BILLED_TWICE'
  /** Where they change or cancel it. */
  manageUrl: string | null
}

const subscriptionTexts: Record<SubscriptionMail['kind'], { subject: string, text: string }> = {
  BEGUN: {
    subject: 'Your subscription has begun',
    text:
      'Thank you! Everything that your subscription unlocks is ready in the app. The store bills it until you cancel.'
  },
  PAYMENT_FAILED: {
    subject: 'Your payment did not work',
    text: 'The store could not bill your subscription. Check how you pay there, so that your subscription goes on.'
  },
  ENDED: {
    subject: 'Your subscription has ended',
    text: 'You still have your account, your data and your chats. You can subscribe again in the app at any time.'
  },
  REFUNDED: {
    subject: 'Your subscription was refunded',
    text: 'The store gave your money back or took the purchase back, so the subscription has ended.'
  },
  MOVED: {
    subject: 'Your subscription was moved to another account',
    text: 'Somebody who uses your store account moved the subscription. If it was not you, restore it in the app.'
  },
  RECEIVED: {
    subject: 'A subscription was moved to your account',
    text: 'It counts for this account from now on, and no longer for the other one.'
  },
  BILLED_TWICE: {
    subject: 'You pay for two subscriptions',
    text: 'Two subscriptions are billed for your account, and one is enough. Cancel one of them in its store.'
  }
}

/** What administrators read about another operator. */
interface OperatorMail {
  email: string
  role: StaffRole
}

const roles: Record<StaffRole, string> = { SUPPORT: 'support', MODERATOR: 'moderator', ADMIN: 'administrator' }
const footer = 'You get this email because you use the console.'

/** What a person reads about their appeal. */
interface AppealMail {
  isReversed: boolean
  /** The operator's own words. */
  answer: string
}

const scopes: Record<RestrictionScope, string> = {
  POSTING: 'You cannot post, comment or react',
  FITMATCH: 'Your FitMatch profile is hidden',
  ALL: 'Your account is restricted, and nobody else sees it'
}
const rules: Record<DecisionReason, string> = {
  SPAM: 'no spam',
  HARASSMENT: 'no harassment',
  HATE: 'no hate',
  SEXUAL: 'no sexual content',
  VIOLENCE: 'no violence',
  SELF_HARM: 'nothing that encourages self-harm',
  CHILD_SAFETY: 'the safety of children',
  IMPERSONATION: 'nobody pretends to be somebody else',
  ILLEGAL: 'nothing illegal',
  UNDERAGE: 'the minimum age',
  REPORTS: 'a profile that several people report is hidden until somebody has looked at it',
  OTHER: 'the rules of the community'
}

function describeAction ({ type, scope, until }: DecidedAction) {
  const end = until ? ` until ${until.slice(0, 16).replace('T', ' ')} UTC` : ' until we have looked at it again'
  switch (type) {
    case 'HIDE_CONTENT':
      return 'Nobody but you sees it any more.'
    case 'RESTORE_CONTENT':
      return 'Everybody who could see it before sees it again.'
    case 'REMOVE_PHOTO':
      return 'We removed a photo from your FitMatch profile.'
    case 'WARN':
      return 'This is a warning.'
    case 'RESTRICT':
      return `${scopes[scope ?? 'ALL']}${end}.`
    case 'BAN':
      return 'Your account is banned.'
    case 'LIFT':
      return 'A restriction of your account has ended.'
    case 'DISMISS':
      return 'We found no violation of our rules.'
  }
}

/**
 * Every mail that this service sends. None contains the name of the account: somebody who registers another person's
 * address chooses the name, and could send their own text to that person through us.
 */
export const english = {
  verification: (code: string, url: string) =>
    renderMail({
      locale,
      subject: `${code} is your Tandem code`,
      title: 'Welcome to Tandem',
      paragraphs: [
        'Enter this code in the app to confirm your email address:',
        'The code and the link expire in 24 hours. Nobody from Tandem will ever ask you for them.'
      ],
      code,
      button: { label: 'Confirm without the code', url },
      footer: `Somebody signed up for Tandem with this email address. ${ignore}`
    }),
  signIn: (code: string, url: string) =>
    renderMail({
      locale,
      subject: `${code} is your Tandem sign-in code`,
      title: 'Hello',
      paragraphs: [
        'Enter this code in the app to sign in:',
        'The code and the link expire in 10 minutes. Nobody from Tandem will ever ask you for them.'
      ],
      code,
      button: { label: 'Is the code not accepted?', url },
      footer: `Somebody is trying to sign in to Tandem with this email address. ${ignore}`
    }),
  proof: (purpose: ProofPurpose, code: string) =>
    renderMail({
      locale,
      subject: `${code} is your Tandem code`,
      title: 'Is it you?',
      paragraphs: [
        `Enter this code in the app ${proofPurposes[purpose]}:`,
        'The code expires in 10 minutes. Nobody from Tandem will ever ask you for it.'
      ],
      code,
      footer: 'Somebody who is signed in to your account requested this code. If it was not you, do not enter it ' +
        'anywhere, and change your password.'
    }),
  deletionLink: (url: string) =>
    renderMail({
      locale,
      subject: 'Delete your Tandem account',
      title: 'Do you want to leave?',
      paragraphs: [
        'Use this link to see what is deleted, and to delete your account. The link expires in one hour and can be ' +
        'used once. Nothing is deleted before you confirm it there.'
      ],
      button: { label: 'Delete my account', url },
      footer: `Somebody asked to delete the account of this email address. ${ignore} Nothing changes then.`
    }),
  deletion: ({ kind, date, url, hasSubscription, manageUrl, providers }: DeletionMail) =>
    renderMail({
      locale,
      subject: kind === 'SCHEDULED' ? 'Your Tandem account will be deleted' : 'Reminder: your account will be deleted',
      title: 'Your account will be deleted',
      paragraphs: [
        `Your account will be deleted on ${date}. Nobody sees you any more, and all devices are signed out. You can ` +
        'still change your mind, and see what is deleted:',
        ...(hasSubscription
          ? [
            `You have a subscription. The store goes on to bill it until you cancel it there${
              manageUrl ? `: ${manageUrl}` : '.'
            }`
          ]
          : []),
        ...(providers.length > 0
          ? ['You signed in with an account of another company. You can disconnect Tandem in the settings there.']
          : [])
      ],
      button: { label: 'See or cancel the deletion', url },
      footer: 'If it was not you, cancel the deletion with the link and change your password.'
    }),
  decision: ({ actions, reason, statement, excerpt, isAutomated, url }: DecisionMail) =>
    renderMail({
      locale,
      subject: 'A decision about your Tandem account',
      title: 'We made a decision',
      paragraphs: [
        actions.map(describeAction).join(' '),
        ...(excerpt ? [`It is about: “${plainQuote(excerpt)}”`] : []),
        `The rule: ${rules[reason]}.`,
        isAutomated
          ? 'A machine made this decision because of reports. A person looks at it.'
          : 'A person made this decision.',
        ...(statement ? [statement] : []),
        'If you think that this is wrong, you can appeal once within 180 days. Somebody else reads it, if possible.'
      ],
      button: { label: 'Appeal', url },
      footer: 'You also find this in the app, under the standing of your account.'
    }),
  appealAnswered: ({ isReversed, answer }: AppealMail) =>
    renderMail({
      locale,
      subject: 'The answer to your appeal',
      title: isReversed ? 'You were right' : 'The decision stands',
      paragraphs: [
        isReversed
          ? 'We looked again, and decided differently.'
          : 'We looked again, and found the decision to be right.',
        answer
      ],
      footer: 'An appeal is answered once.'
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
  subscription: ({ kind, manageUrl }: SubscriptionMail) =>
    renderMail({
      locale,
      subject: subscriptionTexts[kind].subject,
      title: subscriptionTexts[kind].subject,
      paragraphs: [subscriptionTexts[kind].text],
      ...(manageUrl && { button: { label: 'Open the store', url: manageUrl } }),
      footer: 'You get this email because a store sold a subscription for your Tandem account.'
    }),
  newEmail: (code: string) =>
    renderMail({
      locale,
      subject: `${code} is your Tandem code`,
      title: 'A new address',
      paragraphs: [
        'Enter this code in the app to use this address for your account:',
        'The code expires in 10 minutes. Nobody from Tandem will ever ask you for it.'
      ],
      code,
      footer: `Somebody wants to use this email address for their Tandem account. ${ignore}`
    }),
  emailChanged: (url: string) =>
    renderMail({
      locale,
      subject: 'The address of your Tandem account has changed',
      title: 'Was it you?',
      paragraphs: [
        'Your account now has another email address. If you changed it, there is nothing to do.',
        'If not, take the change back with this link within 7 days: your password, and providers linked since, are ' +
        'removed, a deletion is canceled, and everybody is signed out. Then sign in with a code that we mail to this ' +
        'address.'
      ],
      button: { label: 'Take the change back', url },
      footer: 'You get this email because this was the address of a Tandem account.'
    }),
  exportRequested: () =>
    renderMail({
      locale,
      subject: 'A copy of your Tandem data was requested',
      title: 'Your data',
      paragraphs: [
        'We are preparing a copy of everything in your account. You get another email with a link when it is ready.',
        'If you did not ask for it, change your password now: nobody gets the copy then.'
      ],
      footer: 'You get this email because the owner of this account asked for a copy of their data.'
    }),
  exportReady: (url: string) =>
    renderMail({
      locale,
      subject: 'Your Tandem data is ready',
      title: 'Your data',
      paragraphs: [
        'The copy of your data is ready. The link works for 7 days, for everybody who has it: do not share it.',
        'The link ends when you change your password or your address.'
      ],
      button: { label: 'Get your data', url },
      footer: 'You get this email because the owner of this account asked for a copy of their data.'
    }),
  exportFailed: () =>
    renderMail({
      locale,
      subject: 'The copy of your Tandem data failed',
      title: 'Your data',
      paragraphs: [
        'We tried for a day, and could not complete the copy of your data. We are sorry.',
        'You can ask for another one in the app now.'
      ],
      footer: 'You get this email because the owner of this account asked for a copy of their data.'
    }),
  operatorInvitation: (url: string) =>
    renderMail({
      locale,
      subject: 'Your invitation to the Tandem console',
      title: 'Welcome',
      paragraphs: [
        'You are invited to the console of the people who run the community. Use this link to create a passkey, with ' +
        'which you sign in. The link expires in 24 hours and can be used once.',
        'If you already have a passkey, it works until you have created the new one.'
      ],
      button: { label: 'Create a passkey', url },
      footer: 'If you do not expect this email, do not open the link, and tell an administrator.'
    }),
  operatorInvited: ({ email, role }: OperatorMail) =>
    renderMail({
      locale,
      subject: `${email} was invited to the Tandem console`,
      title: 'An invitation',
      paragraphs: [
        `${email} was invited to the console, with the role ${roles[role]}. The link was sent to them alone.`,
        'If you do not know why, remove them on the page Operators, and ask the other administrators.'
      ],
      footer
    }),
  operatorEnrolled: ({ email, role }: OperatorMail) =>
    renderMail({
      locale,
      subject: `${email} has a new passkey for the Tandem console`,
      title: 'A new passkey',
      paragraphs: [
        `${email} has created a passkey for the console. Their role is ${
          roles[role]
        }. A passkey that they had before ` +
        'works no longer.',
        'If this is unexpected, remove them on the page Operators, and ask the other administrators.'
      ],
      footer
    }),
  webhookDisabled: ({ host, reason, url }: { host: string, reason: string, url: string }) =>
    renderMail({
      locale,
      subject: `Webhooks to ${host} are disabled`,
      title: 'A webhook endpoint is disabled',
      paragraphs: [
        `The endpoint at ${host} has accepted nothing for three days, so nothing more is sent to it. ` +
        `The last attempt: ${reason}.`,
        'Enable it on the page Webhooks once it works again. There you can also send again what it has missed.'
      ],
      button: { label: 'Open the page Webhooks', url },
      footer
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
