import Type from 'typebox'
import type { FeedPage } from '@tandem/contracts/realtime'
import { InvalidAccessToken, Nullable, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { storeFocus } from './feeds.ts'
import { readFeeds } from './read.ts'

// 100 access tokens of at most 3,000 characters.
const MAX_BODY_BYTES = 320 * 1024

const items = Type.Array(
  Type.Object({
    token: Type.String({ maxLength: 3_000 }),
    language: Type.Optional(Type.String({ maxLength: 35 })),
    after: Type.Optional(Type.String({ maxLength: 100 })),
    focus: Type.Optional(Nullable(Type.String({ format: 'uuid' })))
  }),
  { minItems: 1, maxItems: 100 }
)

export const realtimeRoutes: Routes<Deps> = async (app, deps) => {
  // For the gateways only: they do not proxy paths under /internal. Each token is verified as that of a request would
  // be, and names the account, so a gateway reads nothing for which it has no token.
  app.post('/internal/realtime', {
    schema: { hide: true, body: Type.Object({ items }) },
    config: { public: true, logged: false },
    bodyLimit: MAX_BODY_BYTES
  }, async ({ body }): Promise<{ items: FeedPage[] }> => {
    const verified = await Promise.all(body.items.map(async ({ token, ...item }) => {
      const account = await app.verifyAccessToken(token).then(
        ({ account }) => account,
        (error: unknown) => {
          if (!(error instanceof InvalidAccessToken)) throw error
        }
      )
      return account && { accountId: account.id, ...item }
    }))
    const queries = verified.filter((each) => each !== undefined)
    await storeFocus(
      deps.db,
      queries.flatMap(({ accountId, focus }) => focus === undefined ? [] : [{ accountId, matchId: focus }])
    )
    const pages = await readFeeds(
      deps,
      queries.map(({ accountId, language, after }) => ({ accountId, language, after }))
    )
    let next = 0
    return { items: verified.map((each) => each ? pages[next++]! : { code: 'INVALID_ACCESS_TOKEN' }) }
  })
}
