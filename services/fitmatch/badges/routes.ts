import Type from 'typebox'
import { Data, data, named, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ProfileMissing } from '../errors.ts'
import { readCaller } from '../people/queries.ts'
import { recalculateBadges } from './actions.ts'
import { readBadges } from './queries.ts'

const Badges = Data(Type.Object({
  badges: Type.Array(Type.String()),
  progress: Type.Array(named(
    'BadgeProgress',
    Type.Object({
      badge: Type.String(),
      progress: Type.Integer({ description: 'Percent' }),
      requirement: Type.Optional(Type.String({ description: 'How to earn the badge. Absent once it is earned' })),
      earnedAt: Type.Optional(Timestamp)
    })
  ))
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
    schema: {
      operationId: 'listBadges',
      summary: 'Get my badges',
      description: 'Earned badges, and the progress towards the others.',
      errors: [ProfileMissing],
      response: { 200: Badges }
    }
  }, async ({ account }) => {
    await readCaller(deps.db, account.id)
    return data(await readBadges(deps.db, account.id))
  })

  app.post('/fitmatch/badges', {
    schema: {
      operationId: 'recalculateBadges',
      summary: 'Recalculate my badges from my training',
      description: 'Badges also come by themselves: when a workout completes a streak or a tenth record, and weekly. ' +
        'The response is the same as of GET.',
      errors: [ProfileMissing],
      response: { 200: Badges }
    }
  }, async ({ account }) => {
    await readCaller(deps.db, account.id)
    await recalculateBadges(deps, account.id)
    return data(await readBadges(deps.db, account.id))
  })
}
