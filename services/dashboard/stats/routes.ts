import Type from 'typebox'
import { dayIn } from '@tandem/account-kit'
import { Data, data, Timestamp, type Routes } from '@tandem/http-kit'
import { millisecondsUntilMidnight } from '../calendar.ts'
import type { Deps } from '../deps.ts'
import { findTimezone } from '../people/actions.ts'
import { readStats } from './queries.ts'
import { exampleStats, StatsSchema } from './schemas.ts'

const CACHE_TTL_MS = 60_000

export const statsRoutes: Routes<Deps> = async (app, deps) => {
  const { db, cache, now } = deps

  app.get('/dashboard/stats', {
    schema: {
      operationId: 'getStats',
      summary: 'Get your statistics',
      description: 'The same statistics as on the home screen, as they were at `updatedAt`: a response is kept for a ' +
        'minute. The home screen always shows current ones.',
      response: {
        200: Data(Type.Object({ stats: StatsSchema, updatedAt: Timestamp }, {
          examples: [{ stats: exampleStats, updatedAt: '2026-11-20T10:30:00.000Z' }]
        }))
      }
    }
  }, async ({ account: { id } }) => {
    const cached = await cache.get(id)
    if (cached) return data(cached)
    const at = now()
    const zone = await findTimezone(deps, id)
    const { stats } = await readStats(db, id, dayIn(zone, at))
    const computed = { stats, updatedAt: at.toISOString() }
    // Never past midnight, when the statistics of a new day start.
    return data(await cache.set(id, computed, Math.min(CACHE_TTL_MS, millisecondsUntilMidnight(zone, at))))
  })
}
