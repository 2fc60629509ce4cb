import type Type from 'typebox'
import type { Person } from '@tandem/contracts'
import { ageOn } from '../calendar.ts'
import { gramsOf } from './queries.ts'

type Profile = NonNullable<Type.Static<typeof Person.response>>['profile']

const SOURCE = 'Mifflin MD, St Jeor ST, Hill LA, Scott BJ, Daugherty SA, Koh YO. A new predictive equation for ' +
  'resting energy expenditure in healthy individuals. Am J Clin Nutr 1990;51(2):241-247. Activity factors: ' +
  'FAO/WHO/UNU, Human energy requirements, 2001.'

// Men and women differ by 166 kcal; for others it is the middle of both.
const genderConstants = { MALE: 5, FEMALE: -161, OTHER: -78 }
const calorieShares = { LOSE_WEIGHT: 0.8, MAINTAIN: 1, BUILD_MUSCLE: 1.1 }
/** What a suggestion cannot do without. */
export const neededFacts = ['gender', 'birthDate', 'height', 'weight'] as const

/** Which facts of the profile a suggestion still needs. */
export const missingFacts = (profile: Profile) => neededFacts.filter((fact) => profile[fact] === null)

/**
 * Daily calories and nutrients for a person: the energy at rest by Mifflin and St Jeor, times a factor for workouts, a
 * fifth less to lose weight or a tenth more to build muscle, and never below the energy at rest. Undefined while a fact
 * is missing. Pure.
 */
export function suggestGoals (profile: Profile, today: Temporal.PlainDate) {
  const { gender, birthDate, height, weight, fitnessGoal, workoutFrequency } = profile
  if (gender === null || height === null || weight === null || birthDate === null) return
  const age = ageOn(today, birthDate)
  const constant = genderConstants[gender]
  const basal = 10 * weight + 6.25 * height - 5 * age + constant
  const activityFactor = activityFactorOf(workoutFrequency ?? 0)
  const goalType = goalTypeOf(fitnessGoal ?? '')
  const share = calorieShares[goalType]
  const dailyCalories = Math.round(Math.max(basal, basal * activityFactor * share) / 10) * 10
  return {
    dailyCalories,
    proteinTarget: gramsOf('protein', dailyCalories),
    carbsTarget: gramsOf('carbs', dailyCalories),
    fatTarget: gramsOf('fat', dailyCalories),
    goalType,
    basalCalories: Math.round(basal),
    activityFactor,
    formula: `Mifflin-St Jeor: (10 × ${weight} kg + 6.25 × ${height} cm - 5 × ${age} years ` +
      `${constant < 0 ? '-' : '+'} ${Math.abs(constant)}) × ${activityFactor} × ${share}`,
    source: SOURCE
  }
}

function activityFactorOf (workoutsPerWeek: number) {
  if (workoutsPerWeek === 0) return 1.2
  if (workoutsPerWeek < 3) return 1.375
  return workoutsPerWeek < 6 ? 1.55 : 1.725
}

/** The goal of a profile is any word in capitals. */
function goalTypeOf (fitnessGoal: string) {
  if (/LOSE|LOSS|CUT/.test(fitnessGoal)) return 'LOSE_WEIGHT'
  return /MUSCLE|GAIN|BULK|STRENGTH/.test(fitnessGoal) ? 'BUILD_MUSCLE' : 'MAINTAIN'
}
