import Type from 'typebox'
import { Body, Data, data, Message, message, named, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { LastSignInMethod, ProofRequired, ProviderNotLinked } from '../errors.ts'
import { Proof } from '../proofs/schemas.ts'
import { ProviderName } from '../schemas.ts'
import { callerOf } from '../sessions/caller.ts'
import { removeProvider } from './actions.ts'
import { listLinks } from './queries.ts'

const LinkedProvider = named('LinkedProvider', Type.Object({ provider: ProviderName, linkedAt: Timestamp }))

export const providerLinkRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/account/providers', {
    schema: {
      operationId: 'listProviders',
      summary: 'List the providers that sign in to the account',
      description:
        'The oldest first. A provider is linked by a sign-in whose address is that of the account. One that ' +
        'is listed twice has two accounts there: somebody else may have linked one.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ providers: Type.Array(LinkedProvider) })) }
    }
  }, async ({ account }) => data({ providers: await listLinks(deps.db, account.id) }))

  app.delete('/account/providers/:provider', {
    schema: {
      operationId: 'removeProvider',
      summary: 'Remove a provider from the sign-in',
      description: 'Needs a proof for REMOVE_PROVIDER. All other devices are signed out. Without a password, another ' +
        'provider has to stay.',
      'x-extension': true,
      params: Type.Object({ provider: ProviderName }),
      body: Body({ proof: Proof }),
      errors: [ProofRequired, ProviderNotLinked, LastSignInMethod],
      response: { 200: Message }
    }
  }, async ({ params: { provider }, body: { proof }, account }) => {
    await removeProvider(deps, callerOf(account), { provider, proof })
    return message('The provider was removed, and other devices were signed out')
  })
}
