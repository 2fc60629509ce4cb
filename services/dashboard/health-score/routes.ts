import Type from 'typebox'
import { dayIn } from '@tandem/account-kit'
import { Data, data, Enum, languageOfRequest, named, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { findTimezone } from '../people/actions.ts'
import { readHealthScore } from './queries.ts'

const score = Type.Integer({ minimum: 0, maximum: 100 })
const count = Type.Integer({ minimum: 0 })

const HealthScore = named(
  'HealthScore',
  Type.Object({
    overallScore: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Of this ISO week up to today: workout 30 %, nutrition 25 %, water 20 %, sleep 25 %'
    }),
    previousScore: Type.Integer({ minimum: 0, maximum: 100, description: 'Of the previous week' }),
    trend: Enum(['up', 'down', 'neutral'], { description: 'Up or down by more than 5 points' }),
    metrics: Type.Object({
      workout: Type.Object({
        score,
        completed: count,
        target: count,
        streak: Type.Integer({ description: 'ISO weeks in a row with a workout' })
      }),
      nutrition: Type.Object({
        score,
        calorieProgress: Type.Integer({ description: 'Today’s calories as a percentage of the goal' }),
        daysTracked: count
      }),
      water: Type.Object({
        score,
        todayProgress: Type.Integer({ description: 'Today’s water as a percentage of the goal, at most 100' }),
        streak: Type.Integer({ description: 'Days in a row with water logged' })
      }),
      sleep: Type.Object({
        score,
        avgDuration: Type.Integer({ description: 'Minutes per day' }),
        avgQuality: Type.Number({ description: '1 to 5, to one decimal; 0 without an entry' }),
        daysTracked: count
      })
    }),
    tips: Type.Array(Type.String(), {
      description: 'About the weakest metric. Indonesian, unless Accept-Language prefers another language of the app.'
    })
  }, {
    examples: [{
      overallScore: 71,
      previousScore: 64,
      trend: 'up',
      metrics: {
        workout: { score: 67, completed: 2, target: 3, streak: 5 },
        nutrition: { score: 88, calorieProgress: 73, daysTracked: 4 },
        water: { score: 55, todayProgress: 63, streak: 4 },
        sleep: { score: 72, avgDuration: 355, avgQuality: 3.3, daysTracked: 3 }
      },
      tips: [
        'Minum lebih banyak air; targetmu 2000 ml sehari.',
        'Minum segelas air setelah bangun tidur dan sebelum setiap makan.'
      ]
    }]
  })
)

export const healthScoreRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/dashboard/health-score', {
    schema: {
      operationId: 'getHealthScore',
      summary: "Get this week's health score",
      description: 'A score from 0 to 100 for workouts, nutrition, water and sleep, with tips for the weakest of them.',
      response: { 200: Data(HealthScore) }
    }
  }, async (request, reply) => {
    const at = deps.now()
    const { id } = request.account
    reply.header('vary', 'Accept-Language')
    return data(
      await readHealthScore(deps.db, id, dayIn(await findTimezone(deps, id), at), languageOfRequest(request, 'id'))
    )
  })
}
