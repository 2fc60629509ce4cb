import { textsOf } from '@tandem/brand-kit'
import Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { findTimezoneName } from '@tandem/account-kit'
import { describeErrors, findUnstorable, parseInstant, named, toVisibleText } from '@tandem/http-kit'
import { logTypes, type LogData, type LogType } from '../tables.ts'

// Phones with a fast clock.
const MAX_CLOCK_SKEW_MS = 10 * 60 * 1_000
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z')

const Name = Type.String({ minLength: 1, maxLength: 100 })
const Set = named(
  'WorkoutSet',
  Type.Object({
    reps: Type.Integer({ minimum: 1, maximum: 1000 }),
    weightKg: Type.Number({ minimum: -1000, maximum: 1000, description: '0 for body weight, negative for assistance' })
  })
)
const Exercise = named(
  'WorkoutExercise',
  Type.Object({
    name: Name,
    exerciseId: Type.Optional(Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'An exercise of the library or one that you added. Records of one exercise are one, whatever its name'
    })),
    sets: Type.Array(Set, { maxItems: 100 })
  })
)
const grams = Type.Optional(Type.Number({ minimum: 0, maximum: 10_000 }))

/** The data of each type of log. Minutes and millilitres are rounded to integers. */
export const dataSchemas = {
  WORKOUT: named(
    'WorkoutData',
    Type.Object({
      title: Type.Optional(Name),
      durationMinutes: Type.Number({ minimum: 1, maximum: 1440 }),
      programDayId: Type.Optional(Type.String({ format: 'uuid' })),
      calories: Type.Optional(Type.Number({
        minimum: 0,
        maximum: 20_000,
        description: 'The active energy in kilocalories, as a watch or a phone measured it'
      })),
      exercises: Type.Optional(Type.Array(Exercise, { maxItems: 50 }))
    })
  ),
  FOOD: named(
    'FoodData',
    Type.Object({
      name: Type.String({ minLength: 1, maxLength: 200 }),
      calories: Type.Number({ minimum: 0, maximum: 20_000 }),
      protein: grams,
      carbs: grams,
      fat: grams
    })
  ),
  WATER: named('WaterData', Type.Object({ ml: Type.Number({ minimum: 1, maximum: 20_000 }) })),
  SLEEP: named(
    'SleepData',
    Type.Object({
      minutes: Type.Number({ minimum: 1, maximum: 1440 }),
      quality: Type.Integer({ minimum: 1, maximum: 5 })
    })
  ),
  WEIGHT: named('WeightData', Type.Object({ kg: Type.Number({ minimum: 20, maximum: 500 }) }))
} satisfies Record<LogType, Type.TObject>

const checks = Object.fromEntries(logTypes.map((type) => [type, Compile(dataSchemas[type])])) as Record<LogType,
  Validator>
const hasValidHead = Compile(
  Type.Object({
    clientId: Type.String({ minLength: 1, maxLength: 100 }),
    type: Type.Enum(logTypes),
    at: Type.String(),
    data: Type.Unknown(),
    timezone: Type.Optional(Type.String()),
    modifiedAt: Type.Optional(Type.String())
  })
)

/** A valid item of a batch. */
export interface Item {
  clientId: string
  type: LogType
  at: Date
  data: LogData
  /** The time zone that the client names. */
  timezone?: string | undefined
  /** The UTC offset of `at` as the client wrote it; undefined for UTC itself, which says nothing about the place. */
  offset?: string | undefined
  modifiedAt?: Date | undefined
}
/** An invalid item of a batch, and the reason. */
export interface RejectedItem {
  clientId: string | null
  error: string
  fields: string[]
}

/**
 * Parses an item of a batch. It accepts any value: one invalid item must not prevent the others from being written.
 * @param language of the reason for a rejection
 */
export function parseItem (value: unknown, now: Date, language: string | null = null): Item | RejectedItem {
  const item = trimStrings(value) as Record<string, unknown>
  const texts = textsOf(language)
  const reject = (error: string, fields: string[] = []): RejectedItem => ({
    clientId: typeof item['clientId'] === 'string' && !findUnstorable(item['clientId']) ? item['clientId'] : null,
    error,
    fields
  })
  /** As the errors of requests are described. */
  const rejectFirst = (errors: ReturnType<Validator['Errors']>, path = '') => {
    const full = errors.map((error) => ({ ...error, instancePath: `${path}${error.instancePath}` }))
    const [first] = describeErrors(full, 'item', texts)
    return reject(first?.message ?? texts.format('validation.invalid', { field: 'item' }), first && [first.field])
  }
  const rejectField = (detail: 'notATime' | 'fieldMustNotBeInFuture' | 'beforeTheYear2000', field: string) =>
    reject(texts.format(`errors.VALIDATION_ERROR.${detail}`, { field }), [field])

  const unstorable = findUnstorable(value)
  if (unstorable) return reject(texts.format(`errors.VALIDATION_ERROR.${unstorable}`, { subject: 'item' }))
  if (!hasValidHead.Check(item)) return rejectFirst(hasValidHead.Errors(item))
  const { clientId, type, at, data, timezone, modifiedAt } = item
  const instant = parseInstant(at)
  if (!instant) return rejectField('notATime', 'at')
  const moment = new Date(instant.epochMilliseconds)
  if (moment.getTime() > now.getTime() + MAX_CLOCK_SKEW_MS) {
    return rejectField('fieldMustNotBeInFuture', 'at')
  }
  if (moment.getTime() < EARLIEST_MS) {
    return rejectField('beforeTheYear2000', 'at')
  }

  const zone = timezone === undefined ? undefined : findTimezoneName(timezone)
  if (timezone !== undefined && zone === undefined) {
    return reject(texts.format('errors.VALIDATION_ERROR.timezoneMustBeIANANameSuchAsAsia'), ['timezone'])
  }
  const modified = modifiedAt === undefined ? undefined : parseInstant(modifiedAt)
  if (modifiedAt !== undefined && !modified) return rejectField('notATime', 'modifiedAt')

  const check = checks[type]
  if (!check.Check(data)) return rejectFirst(check.Errors(data), '/data')
  return {
    clientId,
    type,
    at: moment,
    data: normalizers[type](data as never),
    timezone: zone,
    offset: offsetOf(at),
    // A phone with a fast clock must not win over later edits.
    modifiedAt: modified && new Date(Math.min(modified.epochMilliseconds, now.getTime()))
  }
}

/** The offset that a time is written with, as `+09:00`. RFC 9557: `Z` and `-00:00` say nothing about the place. */
function offsetOf (at: string) {
  const [, sign, hours, minutes = '00'] = /([+-])(\d{2})(?::?(\d{2}))?$/.exec(at) ?? []
  const offset = `${sign}${hours}:${minutes}`
  return hours === undefined || offset === '-00:00' ? undefined : offset
}

// Unknown fields are dropped here.
const normalizers: { [T in LogType]: (data: Type.Static<typeof dataSchemas[T]>) => LogData } = {
  WORKOUT: ({ title, durationMinutes, programDayId, calories, exercises }) => ({
    ...(title !== undefined && { title }),
    durationMinutes: Math.round(durationMinutes),
    ...(programDayId !== undefined && { programDayId }),
    ...(calories !== undefined && { calories }),
    ...(exercises &&
      {
        exercises: exercises.map(({ name, exerciseId, sets }) => ({
          name,
          ...(exerciseId !== undefined && { exerciseId }),
          sets: sets.map(({ reps, weightKg }) => ({ reps, weightKg }))
        }))
      })
  }),
  FOOD: ({ name, calories, protein, carbs, fat }) => ({
    name,
    calories,
    ...(protein !== undefined && { protein }),
    ...(carbs !== undefined && { carbs }),
    ...(fat !== undefined && { fat })
  }),
  WATER: ({ ml }) => ({ ml: Math.round(ml) }),
  SLEEP: ({ minutes, quality }) => ({ minutes: Math.round(minutes), quality }),
  WEIGHT: ({ kg }) => ({ kg })
}

const OPTIONAL_TEXTS = new globalThis.Set(['title', 'programDayId', 'exerciseId'])

/** Trims every string as `Text` does, and removes null values and empty optional strings. */
function trimStrings (value: unknown): unknown {
  if (typeof value === 'string') return toVisibleText(value)
  if (Array.isArray(value)) return value.map(trimStrings)
  if (typeof value !== 'object' || value === null) return value ?? {}
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, inner === null ? null : trimStrings(inner)] as const)
      .filter(([key, inner]) => inner !== null && !(inner === '' && OPTIONAL_TEXTS.has(key)))
  )
}
