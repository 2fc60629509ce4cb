import Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import { examplePicture, Picture } from '@tandem/media-kit'
import { ClientDetail, Enum, IsoDate, Nullable, Text, Timestamp, named } from '@tandem/http-kit'
import { preferencesShown } from './preferences.ts'

// The fields that several routes accept, with their limits.

/** Its minimum is checked with the current name, which can be of one character: of q@example.com it is q. */
export const Name = Text({ max: 100, documentedAs: Text({ min: 2, max: 100, examples: ['Ana Putri'] }) })
export const Bio = Text({ min: 0, max: 500, examples: ['Early runner, late reader'] })
export const GenderField = named('Gender', Enum(['MALE', 'FEMALE', 'OTHER']))
/** A day; also as midnight, as in responses, so that a client can send back what it received. */
export const BirthDate = Type.Union([
  IsoDate,
  Type.String({ transform: ['trim'], format: 'iso-date-time', pattern: 'T00:00:00(\\.0+)?Z?$' })
])
export const Height = Type.Number({ minimum: 50, maximum: 300, description: 'Centimetres', examples: [165] })
export const Weight = Type.Number({ minimum: 20, maximum: 500, description: 'Kilograms', examples: [58.5] })
export const HeightUnit = named('HeightUnit', Enum(['cm', 'feet']))
export const WeightUnit = named('WeightUnit', Enum(['kg', 'pound']))
export const Locale = ClientDetail({
  max: 200,
  description: 'The locale of the phone, of which the language and region are kept: en_GB is en-GB. ' +
    'One that names no language is ignored.',
  examples: ['id']
})
export const username = () =>
  Text({
    min: readLimits().usernameMinCharacters,
    max: readLimits().usernameMaxCharacters,
    transform: ['trim', 'toLowerCase'],
    pattern: '^[a-z0-9_.]+$',
    expectedFormat: 'username',
    examples: ['ana.putri']
  })

export const OwnProfile = named(
  'Profile',
  Type.Object({
    name: Type.String(),
    username: Type.String(),
    bio: Nullable(Type.String()),
    image: Nullable(Type.String()),
    picture: Nullable(Picture),
    gender: Nullable(GenderField),
    birthDate: Nullable(Timestamp),
    height: Nullable(Type.Number()),
    heightUnit: HeightUnit,
    weight: Nullable(Type.Number()),
    weightUnit: WeightUnit,
    fitnessGoal: Nullable(Type.String()),
    experience: Type.String(),
    timezone: Type.String(),
    locale: Type.String(),
    ...preferencesShown
  }, {
    examples: [{
      name: 'Ana Putri',
      username: 'ana.putri',
      bio: 'Early runner, late reader',
      image: examplePicture.url,
      picture: examplePicture,
      gender: 'FEMALE',
      birthDate: '1998-04-12T00:00:00.000Z',
      height: 165,
      heightUnit: 'cm',
      weight: 58.5,
      weightUnit: 'kg',
      fitnessGoal: 'BUILD_MUSCLE',
      experience: 'INTERMEDIATE',
      timezone: 'Asia/Makassar',
      locale: 'id',
      motivations: ['stay_healthy'],
      favoriteSports: ['running', 'yoga'],
      activityStyle: ['partner'],
      preferredAvailability: ['morning', 'weekend'],
      preferredWorkoutTime: ['early_morning'],
      workoutFrequency: 3,
      locationEnabled: false,
      pushNotifications: true
    }]
  })
)
