import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { findUnstorable, named } from '@tandem/http-kit'
import { logTypes, type LogData, type LogType } from '../tables.ts'

// Phones with a fast clock.
const MAX_CLOCK_SKEW_MS = 10 * 60 * 1_000
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z')

const Name = Type.String({ minLength: 1, maxLength: 100 })
const Set = named(
  'WorkoutSet',
  Type.Object({
    reps: Type.Integer({ minimum: 1, maximum: 1000 }),
    weightKg: Type.Number({ minimum: 0, maximum: 1000 })
  })
)
const Exercise = named('WorkoutExercise', Type.Object({ name: Name, sets: Type.Array(Set, { maxItems: 100 }) }))
const grams = Type.Optional(Type.Number({ minimum: 0, maximum: 10_000 }))

/** The data of each type of log. Minutes and millilitres are rounded to integers. */
export const dataSchemas = {
  WORKOUT: named(
    'WorkoutData',
    Type.Object({
      title: Type.Optional(Name),
      durationMinutes: Type.Number({ minimum: 1, maximum: 1440 }),
      programDayId: Type.Optional(Type.String({ format: 'uuid' })),
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

const checks = Object.fromEntries(logTypes.map((type) => [type, Compile(dataSchemas[type])]))
const isInstant = Compile(Type.String({ format: 'date-time' }))

/** A valid item of a batch. */
export interface Item {
  clientId: string
  type: LogType
  at: Date
  data: LogData
}
/** An invalid item of a batch, and the reason. */
export interface RejectedItem {
  clientId: string | null
  error: string
}

/** Parses an item of a batch. It accepts any value: one invalid item must not prevent the others from being written. */
export function parseItem (value: unknown, now: Date): Item | RejectedItem {
  const { clientId, type, at, data } = trimStrings(value) as Record<string, unknown>
  const reject = (error: string): RejectedItem => ({
    clientId: typeof clientId === 'string' && !findUnstorable(clientId) ? clientId : null,
    error
  })

  const unstorable = findUnstorable(value)
  if (unstorable) return reject(`The item ${unstorable}`)
  if (typeof clientId !== 'string' || clientId === '' || clientId.length > 100) {
    return reject('clientId must have 1 to 100 characters')
  }
  if (!logTypes.includes(type as LogType)) return reject(`type must be one of ${logTypes.join(', ')}`)
  if (!isInstant.Check(at)) return reject('at must be a date and time such as 2026-01-31T08:00:00Z')
  const moment = new Date(Temporal.Instant.from(at).epochMilliseconds)
  if (moment.getTime() > now.getTime() + MAX_CLOCK_SKEW_MS) return reject('at must not be in the future')
  if (moment.getTime() < EARLIEST_MS) return reject('at must not be before the year 2000')

  const check = checks[type as LogType]
  if (!check?.Check(data)) {
    const [error] = check?.Errors(data) ?? []
    return reject(error ? explain(error) : 'data is invalid for this type')
  }
  return { clientId, type: type as LogType, at: moment, data: normalizers[type as LogType](data as never) }
}

// Unknown fields are dropped here.
const normalizers: { [T in LogType]: (data: Type.Static<typeof dataSchemas[T]>) => LogData } = {
  WORKOUT: ({ title, durationMinutes, programDayId, exercises }) => ({
    ...(title !== undefined && { title }),
    durationMinutes: Math.round(durationMinutes),
    ...(programDayId !== undefined && { programDayId }),
    ...(exercises &&
      {
        exercises: exercises.map(({ name, sets }) => ({
          name,
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

const OPTIONAL_TEXTS = new globalThis.Set(['title', 'programDayId'])

/** Trims every string and removes null values and empty optional strings. */
function trimStrings (value: unknown): unknown {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value)) return value.map(trimStrings)
  if (typeof value !== 'object' || value === null) return value ?? {}
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, inner === null ? null : trimStrings(inner)] as const)
      .filter(([key, inner]) => inner !== null && !(inner === '' && OPTIONAL_TEXTS.has(key)))
  )
}

type ValidationIssue = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

/** Describes a validation error in a sentence that names the field and never repeats its value. */
function explain ({ keyword, instancePath, params, message }: ValidationIssue): string {
  const field = `data${instancePath.replaceAll('/', '.')}`
  const known = params as Record<string, unknown>
  switch (keyword) {
    case 'required':
      return `${field}.${String([known['requiredProperties']].flat()[0])} is required`
    case 'type':
      return `${field} must be of the type ${String(known['type'])}`
    case 'minimum':
      return `${field} must be at least ${String(known['limit'])}`
    case 'maximum':
      return `${field} must be at most ${String(known['limit'])}`
    case 'minLength':
      return `${field} must not be empty`
    case 'maxLength':
      return `${field} must have at most ${String(known['limit'])} characters`
    case 'maxItems':
      return `${field} must have at most ${String(known['limit'])} items`
    case 'format':
      return `${field} must be an id`
    default:
      return `${field} ${message}`
  }
}
