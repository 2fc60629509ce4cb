import Type from 'typebox'
import { MAX_WATCHED_MATCHES, type PresenceAnswer } from '@tandem/contracts/realtime'
import { InvalidAccessToken, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { recordActivityOf } from '../people/activity.ts'
import { listPresence } from './queries.ts'

// 100 access tokens of at most 3,000 characters, with 50 ids each.
const MAX_BODY_BYTES = 640 * 1024

const items = Type.Array(
  Type.Object({
    token: Type.String({ maxLength: 3_000 }),
    matchIds: Type.Array(Type.String({ format: 'uuid' }), { maxItems: MAX_WATCHED_MATCHES })
  }),
  { minItems: 1, maxItems: 100 }
)

export const realtimeRoutes: Routes<Deps> = async (app, { db }) => {
  // For the gateways only: they do not proxy paths under /internal. Each token is verified as that of a request would
  // be, and names the account, so a gateway reads nothing for which it has no token.
  app.post('/internal/realtime', {
    schema: { hide: true, body: Type.Object({ items }) },
    config: { public: true, logged: false },
    bodyLimit: MAX_BODY_BYTES
  }, async ({ body }): Promise<{ items: PresenceAnswer[] }> => {
    const accountIds = await Promise.all(
      body.items.map(async ({ token }) =>
        await app.verifyAccessToken(token).then(({ account }) => account.id, (error: unknown) => {
          if (!(error instanceof InvalidAccessToken)) throw error
        })
      )
    )
    const known = body.items.flatMap(({ matchIds }, number) => {
      const accountId = accountIds[number]
      return accountId === undefined ? [] : [{ number, accountId, matchIds }]
    })
    // Somebody with an open connection is using the app.
    await recordActivityOf(db, known.map(({ accountId }) => accountId))
    const found = Map.groupBy(await listPresence(db, known), ({ number }) => known[number]!.number)
    return {
      items: accountIds.map((accountId, number) =>
        accountId === undefined
          ? { code: 'INVALID_ACCESS_TOKEN' }
          : {
            presence: (found.get(number) ?? []).map(({ matchId, isOnline, lastActiveAt }) => ({
              matchId,
              isOnline,
              lastActiveAt: lastActiveAt?.toISOString() ?? null
            }))
          }
      )
    }
  })
}
