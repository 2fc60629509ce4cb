import Type from 'typebox'
import type { Ask } from '@tandem/bus-kit'
import { Person, TrainingTotals } from '@tandem/contracts'
import { Enum, Nullable, Timestamp } from '@tandem/service-kit'
import type { Account } from './queries.ts'

const Profile = Type.Object({
  gender: Nullable(Enum(['MALE', 'FEMALE', 'OTHER'])),
  birthDate: Nullable(Timestamp),
  height: Nullable(Type.Number({ description: 'Centimetres' })),
  heightUnit: Enum(['cm', 'feet']),
  weight: Nullable(Type.Number({ description: 'Kilograms' })),
  weightUnit: Enum(['kg', 'pound']),
  fitnessGoal: Nullable(Type.String()),
  onboardingCompleted: Type.Boolean(),
  onboardingStep: Type.Integer(),
  experience: Type.String(),
  timezone: Type.String(),
  username: Type.Optional(Type.String()),
  avatarUrl: Type.Optional(Nullable(Type.String()))
})

const NutritionGoal = Type.Object({
  dailyCalories: Type.Number(),
  proteinTarget: Type.Number(),
  carbsTarget: Type.Number(),
  fatTarget: Type.Number(),
  goalType: Type.String()
})

const common = {
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  image: Nullable(Type.String()),
  role: Enum(['USER', 'ADMIN']),
  emailVerified: Type.Boolean(),
  createdAt: Timestamp,
  profile: Nullable(Profile),
  nutritionGoal: Nullable(NutritionGoal)
}

/** A person as sign-in shows him. */
export const User = Type.Object(common)

/** A person as he sees his own account. */
export const OwnUser = Type.Object({
  ...common,
  updatedAt: Timestamp,
  referralCode: Nullable(Type.String()),
  subscription: Nullable(Type.Object({
    id: Type.String(),
    planId: Type.String(),
    status: Enum(['ACTIVE', 'CANCELED', 'EXPIRED']),
    currentPeriodStart: Timestamp,
    currentPeriodEnd: Timestamp
  })),
  stats: Type.Object({ totalWorkouts: Type.Integer(), totalFoodEntries: Type.Integer() })
})

// What the profile service begins every profile with. A new person is answered before it has heard of him.
const firstProfile = {
  gender: null,
  birthDate: null,
  height: null,
  heightUnit: 'cm' as const,
  weight: null,
  weightUnit: 'kg' as const,
  fitnessGoal: null,
  onboardingCompleted: false,
  onboardingStep: 0,
  experience: 'BEGINNER',
  timezone: 'Asia/Jakarta'
}

/** The account alone, as this service knows it. */
const describeAccount = ({ id, name, email, image, role, emailVerified, createdAt }: Account) =>
  ({ id, name, email, image, role, emailVerified, createdAt })

export function describeNewUser (account: Account): Type.Static<typeof User> {
  return { ...describeAccount(account), profile: firstProfile, nutritionGoal: null }
}

/** An account with what others own of the person; what is away meanwhile is null. */
export async function describeUser (ask: Ask, account: Account): Promise<Type.Static<typeof User>> {
  const accountId = account.id
  const [person, totals] = await Promise.all([
    ask(Person, { accountId }).catch(() => null),
    ask(TrainingTotals, { accountId }).catch(() => null)
  ])
  return {
    ...describeAccount(account),
    ...person,
    profile: person?.profile ?? null,
    nutritionGoal: totals?.nutritionGoal ?? null
  }
}
