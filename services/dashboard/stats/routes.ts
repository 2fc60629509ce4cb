import Type from 'typebox'
import { Data, data, Timestamp, type Routes } from '@tandem/service-kit'
import { dayIn, secondsOfDayLeft } from '../calendar.ts'
import type { Deps } from '../deps.ts'
import { zoneOf } from '../people/actions.ts'
import { readStats } from './queries.ts'
import { exampleStats, StatsShape } from './schemas.ts'

const KEPT_FOR = 60

export const statsRoutes: Routes<Deps> = async (app, deps) => {
  const { db, cache, now } = deps

  app.get('/dashboard/stats', {
    schema: {
      summary: 'Read my figures',
      description: 'The same as on the home screen, kept for up to a minute; a change of my logs is seen at once.',
      response: {
        200: Data(Type.Object({ stats: StatsShape, updatedAt: Timestamp }, {
          examples: [{ stats: exampleStats, updatedAt: '2026-11-20T10:30:00.000Z' }]
        }))
      }
    }
  }, async ({ account: { id } }) => {
    const kept = await cache.find(id)
    if (kept) return data(kept)
    const at = now()
    const zone = await zoneOf(deps, id)
    const { stats } = await readStats(db, id, dayIn(zone, at))
    const fresh = { stats, updatedAt: at.toISOString() }
    // Not beyond midnight, when another day's figures begin.
    await cache.keep(id, fresh, Math.min(KEPT_FOR, secondsOfDayLeft(zone, at)))
    return data(fresh)
  })
}
