import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Body,
  Data,
  data,
  readIdempotencyKey,
  languageOfRequest,
  message,
  Message,
  NotModified,
  Nullable,
  IdempotencyHeaders,
  requireRole,
  Forbidden,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { OptionExists, OptionNotFound } from '../errors.ts'
import { addOption, changeOption } from './actions.ts'
import { listAllOptions, listOptions } from './queries.ts'
import { AdminOption, changedFields, exampleOption, newFields, OptionId, OptionTypeField } from './schemas.ts'

const Option = named(
  'OnboardingOption',
  Type.Object({
    optionId: Type.String(),
    label: Type.String(),
    icon: Type.String(),
    category: Nullable(Type.String()),
    sortOrder: Type.Integer()
  }, { examples: [{ optionId: 'running', label: 'Running', icon: '🏃', category: 'cardio', sortOrder: 38 }] })
)

export const optionRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/onboarding/options', {
    schema: {
      operationId: 'listOnboardingOptions',
      summary: 'List the options of onboarding',
      description: 'Labels are in a language of the app, depending on Accept-Language.',
      querystring: Type.Object({ type: OptionTypeField }),
      response: {
        200: Type.Object({ success: Type.Literal(true), options: Type.Array(Option) }),
        304: NotModified
      }
    },
    config: { public: true }
  }, async (request, reply) => {
    reply.headers({ 'cache-control': 'public, max-age=60', vary: 'Accept-Language' })
    return { success: true as const, options: await listOptions(db, request.query.type, languageOfRequest(request)) }
  })
}

/** For accounts with the role ADMIN, which maintain the lists. */
export const adminOptionRoutes: Routes<Deps> = async (app, { db }) => {
  const onRequest = requireRole('ADMIN')

  app.get('/onboarding/admin/options', {
    onRequest,
    schema: {
      'x-extension': true,
      operationId: 'listAllOnboardingOptions',
      summary: 'List all options, including those no longer offered',
      description: 'For operators. Labels are in each language of the app.',
      querystring: Type.Object({ type: Type.Optional(OptionTypeField) }),
      errors: [Forbidden],
      response: { 200: Data(Type.Object({ options: Type.Array(AdminOption) })) }
    }
  }, async ({ query }) => data({ options: await listAllOptions(db, query.type) }))

  app.post(
    '/onboarding/admin/options',
    {
      onRequest,
      schema: {
        'x-extension': true,
        operationId: 'createOnboardingOption',
        summary: 'Add an option',
        description: 'For operators. Apps get it with their next request.',
        headers: IdempotencyHeaders,
        body: Body(newFields, { examples: [exampleOption] }),
        errors: [Forbidden, OptionExists, IdempotencyConflict],
        response: { 201: Data(Type.Object({ option: AdminOption })) }
      }
    },
    async (request, reply) =>
      reply.code(201).send(
        data({ option: await addOption(db, request.account.id, request.body, readIdempotencyKey(request)) })
      )
  )

  app.put(
    '/onboarding/admin/options',
    {
      onRequest,
      schema: {
        'x-extension': true,
        operationId: 'updateOnboardingOption',
        summary: 'Change an option, move it, or offer it again',
        description: 'For operators. Omitted fields stay the same.',
        body: Body(changedFields, {
          examples: [{ type: 'sport', optionId: 'running', labels: { en: 'Running outdoors' }, sortOrder: 1 }]
        }),
        errors: [Forbidden, OptionNotFound],
        response: { 200: Data(Type.Object({ option: AdminOption })) }
      }
    },
    async ({ body: { type, optionId, ...change }, account }) =>
      data({ option: await changeOption(db, account.id, { type, optionId }, change) })
  )

  app.delete('/onboarding/admin/options', {
    onRequest,
    schema: {
      'x-extension': true,
      operationId: 'retireOnboardingOption',
      summary: 'Stop offering an option; people who have chosen it keep it',
      description: 'For operators. The option can be offered again with PUT.',
      querystring: Type.Object({ type: OptionTypeField, optionId: OptionId }),
      errors: [Forbidden, OptionNotFound],
      response: { 200: Message }
    }
  }, async ({ query, account }) => {
    await changeOption(db, account.id, query, { isActive: false })
    return message('The option is no longer offered')
  })
}
