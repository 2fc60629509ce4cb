import { textsOf } from '@tandem/brand-kit'
import Type from 'typebox'
import {
  Body,
  ClientDetail,
  Data,
  data,
  Enum,
  Message,
  message,
  named,
  Nullable,
  Secret,
  Text,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  ContactAskedTooOften,
  ContactDeclined,
  ContactNeeded,
  ContactNotFound,
  EmailNotVerified,
  InvalidContactLink,
  TooManyContactChanges,
  TooManyContactRequests
} from '../errors.ts'
import { removeTrustedContact, setTrustedContact } from './actions.ts'
import { answerAsContact } from './answers.ts'
import { findContact } from './queries.ts'

const TrustedContact = named(
  'TrustedContact',
  Type.Object({
    name: Type.String(),
    email: Type.String(),
    status: Enum(['PENDING', 'CONFIRMED', 'DECLINED'], { description: 'Only a CONFIRMED contact gets further mails' }),
    locale: Type.String({ description: 'The language of the mails' })
  }, { examples: [{ name: 'Mum', email: 'mum@example.com', status: 'PENDING', locale: 'en' }] })
)

const confirmDescription = 'Whether armed safety checks may end with the contact'
const noEmergencyService = 'The app is no emergency service: nobody watches meetings or calls for help.'

export const trustedContactRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/notifications/trusted-contact', {
    schema: {
      operationId: 'getTrustedContact',
      summary: 'Get my trusted contact',
      description: 'The person who is mailed about first meetings for which I ask for it.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ contact: Nullable(TrustedContact) })) }
    }
  }, async ({ account }) => data({ contact: await findContact(deps.db, account.id) ?? null }))

  app.put(
    '/notifications/trusted-contact',
    {
      schema: {
        operationId: 'setTrustedContact',
        summary: 'Set my trusted contact',
        description:
          `A new address gets a mail with the question whether it agrees, and nothing else until then. ${noEmergencyService} ` +
          'An address that declined cannot be asked again. At most 3 changes a day, and 3 requests ' +
          'of mine to an address in 30 days; of all accounts it gets 20 a day. I am notified of every change. While an armed safety check counts on the former ' +
          'contact, it is 409 without `confirm`; with it the check ends, and I am notified. A contact whose own account is ' +
          'closed, or who is in a block with me, ends; I am notified without the reason.',
        'x-extension': true,
        body: Body({
          name: Text({ max: 100, description: 'Only I see it' }),
          email: Text({
            max: 254,
            asciiDomain: true,
            format: 'email',
            transform: ['trim', 'toLowerCase'],
            examples: ['mum@example.com']
          }),
          locale: Type.Optional(ClientDetail({ max: 200, description: 'The language of the mails; mine by default' })),
          confirm: Type.Optional(Type.Boolean({ description: confirmDescription }))
        }, { examples: [{ name: 'Mum', email: 'mum@example.com', locale: 'en' }] }),
        errors: [
          EmailNotVerified,
          ContactDeclined,
          ContactNeeded,
          TooManyContactChanges,
          TooManyContactRequests,
          ContactAskedTooOften
        ],
        response: { 200: Data(Type.Object({ contact: TrustedContact })) }
      }
    },
    async ({ body: { confirm = false, locale, ...contact }, account }) =>
      data({
        contact: await setTrustedContact(deps, account.id, {
          ...contact,
          locale: locale ? textsOf(locale).locale : undefined,
          confirm
        })
      })
  )

  app.delete('/notifications/trusted-contact', {
    schema: {
      operationId: 'removeTrustedContact',
      summary: 'Remove my trusted contact',
      description: 'They get no more mails. While an armed safety check counts on them, it is 409 without `confirm`; ' +
        'with it the check ends, and I am notified.',
      'x-extension': true,
      querystring: Type.Object({ confirm: Type.Optional(Type.Boolean({ description: confirmDescription })) }),
      errors: [ContactNotFound, ContactNeeded],
      response: { 200: Message }
    }
  }, async ({ query: { confirm = false }, account }) => {
    await removeTrustedContact(deps, account.id, { confirm })
    return message('Trusted contact removed')
  })

  app.post('/notifications/trusted-contact/answer', {
    config: { public: true },
    schema: {
      operationId: 'answerAsTrustedContact',
      summary: 'Agree to be a trusted contact, or decline',
      description:
        'With the token of a mailed link. A contact who has agreed can decline later. Declining is final. The page ' +
        '/trusted-contact sends this: opening a link changes nothing, because mail scanners open links too.',
      'x-extension': true,
      body: Body({ token: Secret({ max: 100 }), accept: Type.Boolean() }, {
        examples: [{ token: 'GJ3uD1dCqWgHqz1cUUhM1pQ2y8iO8DkqKq4vJcZ2h2s', accept: true }]
      }),
      errors: [InvalidContactLink, ContactDeclined],
      response: { 200: Message }
    }
  }, async ({ body }) => {
    await answerAsContact(deps, body.token, body.accept)
    return message(body.accept ? 'You are now a trusted contact' : 'You get no more of these emails')
  })
}
