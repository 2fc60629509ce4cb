import Type from 'typebox'
import { Person, TrainingTotals } from '@tandem/contracts'
import { Enum, Nullable, Timestamp, named } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import type { Account, OwnAccount } from './queries.ts'

const Picture = Type.String({ examples: ['https://app.example/media/019a9f40.webp'] })

const Profile = named(
  'AccountProfile',
  Type.Object({
    gender: Nullable(named('Gender', Enum(['MALE', 'FEMALE', 'OTHER']))),
    birthDate: Nullable(Timestamp),
    height: Nullable(Type.Number({ examples: [168] }), { description: 'Centimetres' }),
    heightUnit: Enum(['cm', 'feet'], { description: 'The preferred display unit' }),
    weight: Nullable(Type.Number({ examples: [60.5] }), { description: 'Kilograms' }),
    weightUnit: Enum(['kg', 'pound'], { description: 'The preferred display unit' }),
    fitnessGoal: Nullable(Type.String({ examples: ['BUILD_MUSCLE'] })),
    onboardingCompleted: Type.Boolean(),
    onboardingStep: Type.Integer({ description: 'The last step that was completed, 0 to 3', examples: [3] }),
    experience: Type.String({ examples: ['BEGINNER'] }),
    timezone: Type.String({ examples: ['Asia/Jakarta'] }),
    username: Type.Optional(Type.String({ examples: ['ana'] })),
    avatarUrl: Type.Optional(Nullable(Picture))
  }, { description: 'From the profile service; null while it is unavailable' })
)

const NutritionGoal = named(
  'NutritionGoal',
  Type.Object({
    dailyCalories: Type.Number({ examples: [2000] }),
    proteinTarget: Type.Number({ examples: [100] }),
    carbsTarget: Type.Number({ examples: [250] }),
    fatTarget: Type.Number({ examples: [65] }),
    goalType: Type.String({ examples: ['MAINTAIN'] })
  })
)

const common = {
  id: Type.String({ examples: ['019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'] }),
  name: Type.String({ examples: ['Ana'] }),
  email: Type.String({ examples: ['ana@example.com'] }),
  image: Nullable(Picture),
  role: Enum(['USER', 'ADMIN']),
  emailVerified: Type.Boolean(),
  createdAt: Timestamp,
  profile: Nullable(Profile),
  nutritionGoal: Nullable(NutritionGoal)
}

/** A user, in sign-in responses. */
export const User = named('SignedInUser', Type.Object(common))

/** The caller's own account. */
export const OwnUser = named(
  'CurrentUser',
  Type.Object({
    ...common,
    updatedAt: Timestamp,
    referralCode: Nullable(Type.String({ description: 'Friends enter it when they register', examples: ['K7RMX2PA'] })),
    subscription: Nullable(named(
      'Subscription',
      Type.Object({
        id: Type.String({ examples: ['019aa1c7-0b6e-7f21-8a44-5d9c2b7e1f30'] }),
        planId: Type.String({ examples: ['premium'] }),
        status: Enum(['ACTIVE', 'CANCELED', 'EXPIRED']),
        currentPeriodStart: Timestamp,
        currentPeriodEnd: Timestamp
      })
    )),
    stats: Type.Object({
      totalWorkouts: Type.Integer({ examples: [12] }),
      totalFoodEntries: Type.Integer({ examples: [57] })
    })
  })
)

// The initial profile of every account in the profile service. The response to a registration is sent before that
// service consumes the event.
const initialProfile = {
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

type UserDeps = Pick<Deps, 'callRpc' | 'mediaUrls'>

/** The fields of an account that this service owns. */
const describeAccount = ({ id, name, email, image, role, emailVerified, createdAt }: Account) => ({
  id,
  name,
  email,
  image,
  role,
  emailVerified,
  createdAt
})

export function describeNewUser (account: Account): Type.Static<typeof User> {
  return { ...describeAccount(account), profile: initialProfile, nutritionGoal: null }
}

/** An account with the data that other services own. Data of an unavailable service is null. */
export async function describeUser (deps: UserDeps, account: Account): Promise<Type.Static<typeof User>> {
  const [person, totals] = await Promise.all([
    fetchPerson(deps, account),
    deps.callRpc(TrainingTotals, { accountId: account.id }).catch(() => null)
  ])
  return { ...describeAccount(account), ...person, nutritionGoal: totals?.nutritionGoal ?? null }
}

/** @throws Unavailable if the dashboard service is unavailable: unlike the other fields, its totals cannot be null */
export async function describeOwnUser (deps: UserDeps, account: OwnAccount): Promise<Type.Static<typeof OwnUser>> {
  const [person, { nutritionGoal, totalWorkouts, totalFoodEntries }] = await Promise.all([
    fetchPerson(deps, account),
    deps.callRpc(TrainingTotals, { accountId: account.id })
  ])
  const { updatedAt, referralCode, subscription } = account
  return {
    ...describeAccount(account),
    ...person,
    updatedAt,
    referralCode,
    subscription,
    nutritionGoal,
    stats: { totalWorkouts, totalFoodEntries }
  }
}

const fetchPerson = async ({ callRpc, mediaUrls }: UserDeps, { id, name, image }: Account) =>
  await callRpc(Person, { accountId: id }).catch(() => null) ?? { name, image: mediaUrls.urlOf(image), profile: null }
