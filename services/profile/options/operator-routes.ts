import Type from 'typebox'
import { Body, Data, data, type Routes } from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { addOption, changeOption } from './actions.ts'
import { listAllOptions } from './queries.ts'
import { AdminOption, changedFields, newFields, OptionTypeField } from './schemas.ts'

const Changed = Data(Type.Object({ option: AdminOption }))

/** The option lists, for operators. */
export const optionOperatorRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/operator/options', {
    config: forOperators('options.change'),
    schema: {
      hide: true,
      querystring: Type.Object({ type: Type.Optional(OptionTypeField) }),
      response: { 200: Data(Type.Object({ options: Type.Array(AdminOption) })) }
    }
  }, async ({ query }) => data({ options: await listAllOptions(db, query.type) }))

  app.post(
    '/operator/options',
    {
      config: forOperators('options.change'),
      schema: { hide: true, body: Body(newFields), response: { 201: Changed } }
    },
    async ({ body, operator }, reply) => reply.code(201).send(data({ option: await addOption(db, operator.id, body) }))
  )

  app.put(
    '/operator/options',
    {
      config: forOperators('options.change'),
      schema: { hide: true, body: Body(changedFields), response: { 200: Changed } }
    },
    async ({ body: { type, optionId, ...change }, operator }) =>
      data({ option: await changeOption(db, operator.id, { type, optionId }, change) })
  )
}
