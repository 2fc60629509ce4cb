import Type from 'typebox'
import { dayIn } from '@tandem/account-kit'
import { Body, Data, data, Nullable, Text, named, NotModified, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { findTimezone } from '../people/actions.ts'
import { setGoals } from './actions.ts'
import { findGoals } from './queries.ts'

const grams = Type.Number({ minimum: 0, maximum: 2_000, description: 'Grams' })
const calories = Type.Number({ minimum: 500, maximum: 20_000, description: 'Kilocalories' })
const integers = {
  waterMl: Type.Integer({ minimum: 100, maximum: 20_000 }),
  sleepMinutes: Type.Integer({ minimum: 60, maximum: 1_440 }),
  workoutsPerWeek: Type.Integer({ minimum: 1, maximum: 21 })
}

const example = {
  dailyCalories: 2200,
  proteinTarget: 130,
  carbsTarget: 260,
  fatTarget: 70,
  goalType: 'MAINTAIN',
  waterMl: 2500,
  sleepMinutes: 450,
  workoutsPerWeek: 4
}

const Goals = named(
  'Goals',
  Type.Object({
    dailyCalories: Nullable(Type.Number()),
    proteinTarget: Nullable(Type.Number()),
    carbsTarget: Nullable(Type.Number()),
    fatTarget: Nullable(Type.Number()),
    goalType: Type.String(),
    waterMl: Type.Integer(),
    sleepMinutes: Type.Integer(),
    workoutsPerWeek: Type.Integer()
  })
)
const GoalsResponse = Data(
  Type.Object({ goals: Nullable(Goals, { description: 'Null until the first goal is set' }) }, {
    examples: [{ goals: example }]
  })
)

const NewGoals = named(
  'GoalsChange',
  Body({
    dailyCalories: Type.Optional(calories),
    proteinTarget: Type.Optional(grams),
    carbsTarget: Type.Optional(grams),
    fatTarget: Type.Optional(grams),
    goalType: Type.Optional(Text({
      max: 40,
      pattern: '^[A-Z][A-Z0-9_]*$',
      expectedFormat: {
        en: 'must be a word in capitals such as LOSE_WEIGHT',
        id: 'harus berupa kata dengan huruf besar seperti LOSE_WEIGHT'
      },
      description: 'Defaults to MAINTAIN'
    })),
    waterMl: Type.Optional(integers.waterMl),
    sleepMinutes: Type.Optional(integers.sleepMinutes),
    workoutsPerWeek: Type.Optional(integers.workoutsPerWeek)
  }, { examples: [example] })
)

export const goalRoutes: Routes<Deps> = async (app, deps) => {
  const { db, now } = deps
  app.get('/goals', {
    schema: {
      operationId: 'getGoals',
      summary: 'Get your goals',
      description: 'The daily and weekly targets that the scores and the home screen use.',
      'x-extension': true,
      response: { 200: GoalsResponse, 304: NotModified }
    }
  }, async ({ account }) => data({ goals: await findGoals(db, account.id) ?? null }))

  app.put('/goals', {
    schema: {
      operationId: 'updateGoals',
      summary: 'Set your goals',
      description: 'Omitted goals stay unchanged. The goals hold from today on; earlier days keep those of their time.',
      'x-extension': true,
      body: NewGoals,
      response: { 200: GoalsResponse }
    }
  }, async ({ body, account }) => {
    await setGoals(db, account.id, body, dayIn(await findTimezone(deps, account.id), now()))
    return data({ goals: await findGoals(db, account.id) ?? null })
  })
}
