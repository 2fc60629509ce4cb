import Type from 'typebox'
import type { Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { readKeySet } from './queries.ts'

export const keyRoutes: Routes<Deps> = async (app, { db, signKeySet }) => {
  app.get('/.well-known/jwks.json', {
    schema: {
      hide: true,
      response: {
        200: Type.Object({
          keys: Type.Array(
            Type.Object({
              kid: Type.String(),
              kty: Type.String(),
              crv: Type.String(),
              x: Type.String(),
              y: Type.String(),
              alg: Type.String(),
              use: Type.String()
            })
          )
        })
      }
    },
    config: { public: true, logged: false }
  }, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=60')
    const { keys } = await readKeySet(db)
    return { keys: keys.map((key) => ({ ...key, alg: 'ES256', use: 'sig' })) }
  })

  // For the gateways only: they do not proxy paths under /internal.
  app.get('/internal/signing-keys', {
    schema: { hide: true, response: { 200: Type.Object({ signed: Type.String() }) } },
    config: { public: true, logged: false }
  }, async () => ({ signed: await signKeySet() }))
}
