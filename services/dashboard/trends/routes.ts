import Type from 'typebox'
import { dayIn } from '@tandem/account-kit'
import { Data, data, Enum, named, Nullable, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { findTimezone } from '../people/actions.ts'
import { metrics, ranges, readTrend, type Range } from './queries.ts'

const TrendPoint = named(
  'TrendPoint',
  Type.Object({
    date: Type.String({ description: 'The day; of a year the Monday of the week' }),
    value: Nullable(
      Type.Number({ description: 'Null without an entry. Of a week the average of its days that have one' })
    )
  })
)

export const trendRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/dashboard/trends', {
    schema: {
      operationId: 'getTrend',
      summary: 'Get a metric over time',
      description: 'One point for each day, oldest first and today last; for a year one for each week.',
      'x-extension': true,
      querystring: Type.Object({
        metric: Enum(metrics, {
          description: 'distance is in metres, activeEnergy and calories are in kilocalories, water in millilitres, ' +
            'sleep in minutes, weight in kilograms, bodyFat in percent'
        }),
        range: Enum(Object.keys(ranges) as Range[])
      }),
      response: {
        200: Data(Type.Object({ points: Type.Array(TrendPoint) }, {
          examples: [{ points: [{ date: '2026-11-19', value: 8412 }, { date: '2026-11-20', value: null }] }]
        }))
      }
    }
  }, async ({ query: { metric, range }, account }) => {
    const today = dayIn(await findTimezone(deps, account.id), deps.now())
    return data({ points: await readTrend(deps.db, account.id, { metric, range, today }) })
  })
}
