import Type from 'typebox'
import { dayIn } from '@tandem/account-kit'
import { Data, data, languageOfRequest, named, type Routes } from '@tandem/http-kit'
import { shortDayName } from '../calendar.ts'
import type { Deps } from '../deps.ts'
import { readDailySummaries } from '../health-score/queries.ts'
import { sumOf } from '../log-types/data.ts'
import { findTimezone } from '../people/actions.ts'

const DAYS = 7
const PILLARS = 4

const flags = { workout: Type.Boolean(), nutrition: Type.Boolean(), water: Type.Boolean(), sleep: Type.Boolean() }
const count = Type.Integer({ minimum: 0, maximum: DAYS })

const exampleDays = ['Sab', 'Min', 'Sen', 'Sel', 'Rab', 'Kam', 'Jum'].map((dayName, index) => ({
  date: `2026-11-${14 + index}`,
  dayName,
  workout: index % 3 === 0,
  nutrition: index > 0,
  water: index > 1,
  sleep: index < 4,
  isToday: index === 6
}))
const Overview = named(
  'WeeklyOverview',
  Type.Object({
    days: Type.Array(
      Type.Object({
        date: Type.String(),
        dayName: Type.String({
          description: 'Short name. Indonesian, unless Accept-Language prefers another language of the app.'
        }),
        ...flags,
        isToday: Type.Boolean()
      }),
      {
        description: 'The last seven days, today last'
      }
    ),
    stats: Type.Object({
      workoutCount: count,
      nutritionCount: count,
      waterCount: count,
      sleepCount: count,
      consistency: Type.Integer({ minimum: 0, maximum: 100, description: 'Completed activities / 28 × 100' })
    })
  }, {
    examples: [{
      days: exampleDays,
      stats: { workoutCount: 3, nutritionCount: 6, waterCount: 5, sleepCount: 4, consistency: 64 }
    }]
  })
)

export const weeklyOverviewRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/dashboard/weekly-overview', {
    schema: {
      operationId: 'getWeeklyOverview',
      summary: 'Get an overview of the last seven days',
      description: 'Which of workout, nutrition, water and sleep were logged on each day.',
      response: { 200: Data(Overview) }
    }
  }, async (request, reply) => {
    const at = deps.now()
    const { id } = request.account
    const language = languageOfRequest(request, 'id')
    reply.header('vary', 'Accept-Language')
    const today = dayIn(await findTimezone(deps, id), at)
    const summaries = await readDailySummaries(deps.db, id, today.subtract({ days: DAYS - 1 }), today)
    const days = Array.from({ length: DAYS }, (_, index) => {
      const day = today.subtract({ days: DAYS - 1 - index })
      const summary = summaries.find((each) => each.day === day.toString())
      return {
        date: day.toString(),
        dayName: shortDayName(day, language),
        workout: (summary?.workouts ?? 0) > 0,
        nutrition: (summary?.foodEntries ?? 0) > 0,
        water: (summary?.waterMl ?? 0) > 0,
        sleep: (summary?.sleepEntries ?? 0) > 0,
        isToday: day.equals(today)
      }
    })
    const countOf = (pillar: 'workout' | 'nutrition' | 'water' | 'sleep') => days.filter((day) => day[pillar]).length
    const counts = {
      workoutCount: countOf('workout'),
      nutritionCount: countOf('nutrition'),
      waterCount: countOf('water'),
      sleepCount: countOf('sleep')
    }
    const consistency = Math.round(sumOf(Object.values(counts)) / (PILLARS * DAYS) * 100)
    return data({ days, stats: { ...counts, consistency } })
  })
}
