import Type from 'typebox'
import { Body, Enum, IsoDate, Nullable, Text, named } from '@tandem/http-kit'
import { examplePhoto, Photo } from '../photos/schemas.ts'
import { exampleVenue, Venue } from '../venues/schemas.ts'
import { Gender } from '../schemas.ts'
import { weekdays } from '../candidates/traits.ts'
import { profileStatuses } from '../tables.ts'

const words = Type.Array(Text({ max: 50 }), { maxItems: 50 })
const Age = Type.Integer({ minimum: 13, maximum: 120 })

const fields = {
  displayName: Type.Optional(Text({ max: 100 })),
  birthDate: Type.Optional(IsoDate),
  gender: Type.Optional(Gender),
  bio: Type.Optional(Text({ min: 0, max: 500 })),
  height: Type.Optional(Type.Number({ minimum: 50, maximum: 300, description: 'Centimetres' })),
  lookingFor: Type.Optional(Type.Array(Gender, { minItems: 1, maxItems: 3 })),
  interestedIn: Type.Optional(
    Type.Array(Text({ max: 50 }), { maxItems: 50, description: 'Ids of onboarding options of type fitmatch_interest' })
  ),
  ageMin: Type.Optional(Age),
  ageMax: Type.Optional(Age),
  maxDistance: Type.Optional(
    Type.Number({ minimum: 1, maximum: 500, description: 'Kilometres, rounded to whole ones' })
  ),
  fitnessGoals: Type.Optional(words),
  preferredTimes: Type.Optional(words),
  workoutDays: Type.Optional(Type.Array(Enum(weekdays), { maxItems: 7 })),
  city: Type.Optional(Text({ min: 0, max: 100 })),
  district: Type.Optional(Text({ min: 0, max: 100 })),
  prompts: Type.Optional(
    Type.Array(Body({ question: Text({ max: 200 }), answer: Text({ max: 500 }) }), { maxItems: 10 })
  )
}

export const NewProfile = named(
  'NewFitMatchProfile',
  Body(fields, {
    examples: [{
      displayName: 'Ana',
      birthDate: '1996-04-12',
      gender: 'FEMALE',
      bio: 'Runs before breakfast',
      height: 168,
      lookingFor: ['MALE'],
      interestedIn: ['gym_buddy'],
      ageMin: 24,
      ageMax: 38,
      maxDistance: 25,
      fitnessGoals: ['STAY_FIT'],
      preferredTimes: ['MORNING'],
      workoutDays: ['MONDAY', 'THURSDAY'],
      city: 'Jakarta',
      district: 'Menteng',
      prompts: [{ question: 'Best exercise?', answer: 'Deadlift' }]
    }]
  })
)

export const ProfileChanges = named(
  'FitMatchProfileChange',
  Body({
    ...fields,
    latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
    longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 }))
  }, {
    examples: [{ bio: 'Runs before breakfast', maxDistance: 10, city: 'Jakarta', latitude: -6.21, longitude: 106.85 }]
  })
)

export type ProfileFields = Type.Static<typeof NewProfile>

const strings = Type.Array(Type.String())

/** A profile as its owner sees it. */
export const OwnProfile = named(
  'FitMatchProfile',
  Type.Object({
    id: Type.String(),
    displayName: Type.String(),
    bio: Nullable(Type.String()),
    city: Nullable(Type.String()),
    district: Nullable(Type.String()),
    birthDate: Nullable(Type.String()),
    gender: Nullable(Gender),
    height: Nullable(Type.Integer()),
    age: Nullable(Type.Integer()),
    profileScore: Type.Integer({ description: 'How complete the profile is, 0 to 100' }),
    maxDistance: Type.Integer(),
    ageMin: Type.Integer(),
    ageMax: Type.Integer(),
    latitude: Nullable(Type.Number({ description: 'Rounded to a hundredth of a degree' })),
    longitude: Nullable(Type.Number()),
    status: Enum(profileStatuses),
    discoverTutorialSeen: Type.Boolean(),
    lookingFor: strings,
    interestedIn: strings,
    fitnessGoals: strings,
    preferredTimes: strings,
    workoutDays: strings,
    sports: Type.Array(Type.String(), {
      description: 'The favorite sports of the main profile, which is where they are changed'
    }),
    photos: Type.Array(Photo),
    prompts: Type.Array(
      named('Prompt', Type.Object({ id: Type.String(), question: Type.String(), answer: Type.String() }))
    ),
    venues: Type.Array(Venue)
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-000000000003',
      displayName: 'Ana',
      bio: 'Runs before breakfast',
      city: 'Jakarta',
      district: null,
      birthDate: '1996-04-12',
      gender: 'FEMALE',
      height: 168,
      age: 30,
      profileScore: 85,
      maxDistance: 25,
      ageMin: 24,
      ageMax: 38,
      latitude: -6.21,
      longitude: 106.85,
      status: 'ACTIVE',
      discoverTutorialSeen: true,
      lookingFor: ['MALE'],
      interestedIn: ['gym_buddy'],
      fitnessGoals: ['STAY_FIT'],
      preferredTimes: ['MORNING'],
      workoutDays: ['MONDAY'],
      sports: ['running', 'climbing'],
      photos: [examplePhoto],
      prompts: [{ id: '019aa1f0-0000-7000-8000-00000000000b', question: 'Best exercise?', answer: 'Deadlift' }],
      venues: [exampleVenue]
    }]
  })
)
