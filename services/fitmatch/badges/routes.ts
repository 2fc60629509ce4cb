import Type from 'typebox'
import { Data, data, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { recalculateBadges } from './actions.ts'
import { readBadges } from './queries.ts'

const Badges = Data(Type.Object({
  badges: Type.Array(Type.String()),
  progress: Type.Array(Type.Object({
    badge: Type.String(),
    progress: Type.Integer({ description: 'Percent' }),
    requirement: Type.Optional(Type.String({ description: 'How to earn the badge. Absent once it is earned' })),
    earnedAt: Type.Optional(Timestamp)
  }))
}, {
  examples: [{
    badges: ['EARLY_ADOPTER'],
    progress: [{ badge: 'EARLY_ADOPTER', progress: 100, earnedAt: '2026-01-31T08:00:00.000Z' }, {
      badge: 'CONSISTENT',
      progress: 50,
      requirement: 'Work out 4 weeks in a row'
    }]
  }]
}))

export const badgeRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/fitmatch/badges', {
    schema: { summary: 'Get my badges', response: { 200: Badges } }
  }, async ({ account }) => data(await readBadges(deps.db, account.id)))

  app.post('/fitmatch/badges', {
    schema: { summary: 'Recalculate my badges from my training', response: { 200: Badges } }
  }, async ({ account }) => {
    await recalculateBadges(deps, account.id)
    return data(await readBadges(deps.db, account.id))
  })
}
