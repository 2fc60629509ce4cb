import Type from 'typebox'
import { dayIn } from '@tandem/account-kit'
import { Person } from '@tandem/contracts'
import { Body, Data, data, Nullable, Text, named, NotModified, type Routes } from '@tandem/http-kit'
import { ageOn } from '../calendar.ts'
import type { Deps } from '../deps.ts'
import { SuggestionForAdults } from '../errors.ts'
import { findTimezone } from '../people/actions.ts'
import { setGoals } from './actions.ts'
import { findGoals } from './queries.ts'
import { missingFacts, neededFacts, suggestGoals } from './suggestion.ts'

const ADULT_AGE = 18

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
      expectedFormat: 'goalWord',
      description: 'Defaults to MAINTAIN'
    })),
    waterMl: Type.Optional(integers.waterMl),
    sleepMinutes: Type.Optional(integers.sleepMinutes),
    workoutsPerWeek: Type.Optional(integers.workoutsPerWeek)
  }, { examples: [example] })
)

const Suggestion = named(
  'GoalsSuggestion',
  Type.Object({
    dailyCalories: Type.Integer(),
    proteinTarget: Type.Integer(),
    carbsTarget: Type.Integer(),
    fatTarget: Type.Integer(),
    goalType: Type.String(),
    basalCalories: Type.Integer({ description: 'At rest' }),
    activityFactor: Type.Number({ description: 'From `workoutFrequency` of the profile' }),
    formula: Type.String({ description: 'With your figures' }),
    source: Type.String()
  })
)
const exampleSuggestion = {
  dailyCalories: 1610,
  proteinTarget: 101,
  carbsTarget: 201,
  fatTarget: 45,
  goalType: 'LOSE_WEIGHT',
  basalCalories: 1315,
  activityFactor: 1.55,
  formula: 'Mifflin-St Jeor: (10 × 58.5 kg + 6.25 × 165 cm - 5 × 28 years - 161) × 1.55 × 0.8',
  source: 'Mifflin MD, St Jeor ST, et al. Am J Clin Nutr 1990;51(2):241-247'
}

export const goalRoutes: Routes<Deps> = async (app, deps) => {
  const { db, callRpc, now } = deps
  app.get('/goals', {
    schema: {
      operationId: 'getGoals',
      summary: 'Get your goals',
      description: 'The daily and weekly targets that the scores and the home screen use.',
      'x-extension': true,
      response: { 200: GoalsResponse, 304: NotModified }
    }
  }, async ({ account }) => data({ goals: await findGoals(db, account.id) ?? null }))

  app.get('/goals/suggestion', {
    schema: {
      operationId: 'suggestGoals',
      summary: 'Suggest goals from your profile',
      description: 'By the equation of Mifflin and St Jeor, from `gender`, `birthDate`, `height`, `weight`, ' +
        '`fitnessGoal` and `workoutFrequency` of the profile. Nothing is set: send what you like of it to `PUT /goals`.',
      'x-extension': true,
      errors: [SuggestionForAdults],
      response: {
        200: Data(
          Type.Object({
            suggestion: Nullable(Suggestion, { description: 'Null while `missing` names a fact' }),
            missing: Type.Array(Type.String(), { description: 'What the profile lacks' })
          }, { examples: [{ suggestion: exampleSuggestion, missing: [] }] })
        )
      }
    }
  }, async ({ account }) => {
    const profile = (await callRpc(Person, { accountId: account.id }))?.profile
    if (!profile) return data({ suggestion: null, missing: [...neededFacts] })
    const today = dayIn(profile.timezone, now())
    if (profile.birthDate !== null && ageOn(today, profile.birthDate) < ADULT_AGE) throw new SuggestionForAdults()
    return data({ suggestion: suggestGoals(profile, today) ?? null, missing: missingFacts(profile) })
  })

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
