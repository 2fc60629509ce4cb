import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { Clean } from 'typebox/value'
import { Enum, named } from '@tandem/http-kit'
import type { LogData, LogType } from '../tables.ts'
import { amountBounds } from './bounds.ts'

const Name = Type.String({ minLength: 1, maxLength: 100 })
const Time = Type.String({ format: 'date-time' })
const WorkoutSet = named(
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
    sets: Type.Array(WorkoutSet, { maxItems: 100 })
  })
)
const grams = Type.Optional(Type.Number({ minimum: 0, maximum: 10_000 }))
const Bpm = Type.Number(amountBounds.bpm)

const MAX_SAMPLES = 10_000

/** The data of what adds up over time: an amount, or its parts. */
const quantity = <Unit extends 'count' | 'meters' | 'kcal'>(sample: string, unit: Unit) => {
  const amount = Type.Number(amountBounds[unit])
  return {
    [unit]: {
      ...amount,
      description: 'Spread evenly over the minutes of the log; the sum of `samples` if they are given'
    },
    samples: Type.Optional(Type.Array(named(sample, Type.Object({ startAt: Time, endAt: Time, [unit]: amount })), {
      minItems: 1,
      maxItems: MAX_SAMPLES,
      description: 'The parts of the log, for many measurements in one. They last at most 10,000 minutes in all'
    }))
  }
}

export const sleepStages = ['AWAKE', 'IN_BED', 'ASLEEP', 'LIGHT', 'CORE', 'DEEP', 'REM'] as const

/** The data of each type of log. Minutes, millilitres and steps are rounded to integers. */
export const dataSchemas = {
  WORKOUT: named(
    'WorkoutData',
    Type.Object({
      title: Type.Optional(Name),
      durationMinutes: Type.Number({
        minimum: 1,
        maximum: 1440,
        description: 'By default the time from startAt to endAt'
      }),
      programDayId: Type.Optional(Type.String({ format: 'uuid' })),
      sport: Type.Optional(Type.String({
        minLength: 1,
        maxLength: 50,
        description: 'Such as running. Workouts of different sports are never one session'
      })),
      notes: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
      calories: Type.Optional(Type.Number({
        minimum: 0,
        maximum: 20_000,
        description: 'The active energy in kilocalories, as a watch or a phone measured it'
      })),
      distanceMeters: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
      avgHeartRate: Type.Optional(Bpm),
      maxHeartRate: Type.Optional(Bpm),
      heartRateZones: Type.Optional(Type.Array(
        named(
          'HeartRateZone',
          Type.Object({
            zone: Type.Integer({ minimum: 0, maximum: 9 }),
            minutes: Type.Number({ minimum: 0, maximum: 1440 })
          })
        ),
        { maxItems: 10, description: 'The minutes in each zone of the heart rate' }
      )),
      route: Type.Optional(Type.String({
        minLength: 1,
        maxLength: 200_000,
        pattern: '^[?-~]+$',
        description: 'The way as an encoded polyline of five decimals. Only you see it'
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
      minutes: Type.Number({
        minimum: 1,
        maximum: 1440,
        description: 'By default those of the stages asleep, or from startAt to endAt'
      }),
      quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
      stages: Type.Optional(Type.Array(
        named('SleepStage', Type.Object({ stage: Enum(sleepStages), startAt: Time, endAt: Time })),
        { minItems: 1, maxItems: 1000 }
      ))
    })
  ),
  WEIGHT: named('WeightData', Type.Object({ kg: Type.Number({ minimum: 20, maximum: 500 }) })),
  BODY_FAT: named('BodyFatData', Type.Object({ percent: Type.Number({ minimum: 1, maximum: 80 }) })),
  STEPS: named('StepsData', Type.Object(quantity('StepsSample', 'count'))),
  DISTANCE: named('DistanceData', Type.Object(quantity('DistanceSample', 'meters'))),
  ACTIVE_ENERGY: named('ActiveEnergyData', Type.Object(quantity('ActiveEnergySample', 'kcal'))),
  HEART_RATE: named(
    'HeartRateData',
    Type.Object({
      bpm: Type.Optional(Bpm),
      samples: Type.Optional(Type.Array(named('HeartRateSample', Type.Object({ at: Time, bpm: Bpm })), {
        minItems: 1,
        maxItems: MAX_SAMPLES,
        description: 'Kept for 90 days; then `min`, `max` and `avg` stay'
      })),
      min: Type.Optional(Bpm),
      max: Type.Optional(Bpm),
      avg: Type.Optional(Bpm),
      resting: Type.Optional(Bpm),
      count: Type.Optional(Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'How many measurements `avg` is of'
      }))
    }, { minProperties: 1 })
  )
} satisfies Record<LogType, Type.TObject>

type Data<T extends LogType> = Type.Static<typeof dataSchemas[T]>
type Stages = NonNullable<Data<'SLEEP'>['stages']>

/** From when to when, in milliseconds. */
export interface Span {
  start: number
  end: number
}

export const MINUTE_MS = 60_000
const AWAKE: readonly string[] = ['AWAKE', 'IN_BED']
export const HEART_RATES_KEPT_DAYS = 90
export const DAY_MS = 86_400_000

const spanOf = ({ startAt, endAt }: { startAt: string, endAt: string }): Span => ({
  start: Date.parse(startAt),
  end: Date.parse(endAt)
})

/** The times asleep of a sleep with stages: those in bed if no stage is of sleep. */
export function asleepSpans (stages: Stages): Span[] {
  const asleep = stages.filter(({ stage }) => !AWAKE.includes(stage))
  return (asleep.length > 0 ? asleep : stages.filter(({ stage }) => stage === 'IN_BED')).map(spanOf)
}

/** Spans as disjoint ones, in order. */
export function unite (spans: Span[]): Span[] {
  const united: Span[] = []
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    const last = united.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else united.push({ start, end })
  }
  return united
}

export const sumOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0)
// `Math.min(...numbers)` fails from about 100,000 numbers on.
export const minOf = (numbers: number[]) => numbers.reduce((min, number) => Math.min(min, number), Infinity)
export const maxOf = (numbers: number[]) => numbers.reduce((max, number) => Math.max(max, number), -Infinity)

/** How many minutes spans cover, rounded. */
export const minutesOf = (spans: Span[]) =>
  Math.round(sumOf(unite(spans).map(({ start, end }) => end - start)) / MINUTE_MS)

/** The fields of quantities that say how much. */
export const amountFields = { STEPS: 'count', DISTANCE: 'meters', ACTIVE_ENERGY: 'kcal' } as const

export type QuantityType = keyof typeof amountFields
export const isQuantity = (type: LogType): type is QuantityType => type in amountFields

/** Whether single heart rates of this time are deleted already. */
export const isTooOldForSamples = (at: Date, now: Date) => at.getTime() < now.getTime() - HEART_RATES_KEPT_DAYS * DAY_MS

const round = (number: number, digits = 0) => Number(number.toFixed(digits))

/** The minimum, maximum and average of heart rates, as data of one log. */
export function summaryOf (samples: { bpm: number }[]) {
  const rates = samples.map(({ bpm }) => bpm)
  return {
    min: minOf(rates),
    max: maxOf(rates),
    avg: round(sumOf(rates) / rates.length, 1),
    count: rates.length
  }
}

// In the order of time, so that the same samples are the same data.
const inOrder = <Sample extends { startAt: string, endAt: string }>(samples: Sample[]) =>
  samples.map((sample) => ({ ...sample, startAt: toUtc(sample.startAt), endAt: toUtc(sample.endAt) }))
    .toSorted((one, other) =>
      compareTexts(one.startAt, other.startAt) || compareTexts(JSON.stringify(one), JSON.stringify(other))
    )
// A leap second is a valid time that Date does not know. It stays as it is, and `parseItem` rejects it.
const toUtc = (time: string) => Number.isNaN(Date.parse(time)) ? time : new Date(time).toISOString()
export const compareTexts = (one: string, other: string) => one < other ? -1 : one > other ? 1 : 0

const checkStages = Compile(Type.Pick(dataSchemas.SLEEP, ['stages']))

type Normalizers = { [T in LogType]?: (data: Data<T>, now: Date) => LogData }

const normalizers: Normalizers = {
  WORKOUT: (data) => ({ ...data, durationMinutes: round(data.durationMinutes) }),
  WATER: ({ ml }) => ({ ml: round(ml) }),
  SLEEP: ({ minutes, stages, ...data }) => ({
    minutes: round(minutes),
    ...data,
    ...(stages && { stages: inOrder(stages) })
  }),
  STEPS: (data) => ({ ...data, count: round(Number(data['count'])) }),
  HEART_RATE: (data, now) => {
    // One beside the samples would be counted in their place once they are deleted.
    const { samples, bpm: _, ...others } = data
    if (!samples) return data
    const kept = samples.map(({ at, bpm }) => ({ at: toUtc(at), bpm }))
      .toSorted((one, other) => compareTexts(one.at, other.at) || one.bpm - other.bpm)
    const isOld = isTooOldForSamples(new Date(kept.at(-1)?.at ?? now), now)
    return { ...others, ...summaryOf(samples), ...(!isOld && { samples: kept }) }
  }
}

/** Valid data as it is stored: without unknown fields, rounded, times in UTC. */
export function normalizeData (type: LogType, data: object, now: Date): LogData {
  const clean = Clean(dataSchemas[type], data) as LogData
  if (isQuantity(type) && Array.isArray(clean['samples'])) clean['samples'] = inOrder(clean['samples'])
  return normalizers[type]?.(clean as never, now) ?? clean
}

/** What the data of a log leaves out although the rest of the log says it. */
export function completeData (type: LogType, data: unknown, span: Span | undefined): unknown {
  if (typeof data !== 'object' || data === null) return data
  const minutes = span && Math.max(1, (span.end - span.start) / MINUTE_MS)
  if (type === 'WORKOUT') return minutes === undefined ? data : { durationMinutes: minutes, ...data }
  if (type === 'SLEEP') {
    const asleep = checkStages.Check(data) && data.stages ? Math.max(1, minutesOf(asleepSpans(data.stages))) : minutes
    return asleep === undefined ? data : { minutes: asleep, ...data }
  }
  if (!isQuantity(type)) return data
  const field = amountFields[type]
  const samples = 'samples' in data && Array.isArray(data.samples) ? data.samples : undefined
  return samples ? { ...data, [field]: round(sumOf(samples.map((sample) => Number(Object(sample)[field]))), 2) } : data
}
