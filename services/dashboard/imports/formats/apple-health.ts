import { amountBounds } from '../../log-types/bounds.ts'
import type { LogType } from '../../tables.ts'
import { idOfInstant, importedBy, sportOf, toInstant, type Entry, type FormatOptions } from './entries.ts'
import { createXmlReader, type Attributes } from './xml.ts'

const MAX_SAMPLES = 5_000
const NIGHT_GAP_MS = 3 * 60 * 60 * 1_000
const DAY_MS = 24 * 60 * 60 * 1_000

// What a unit of Apple is in ours.
const units: Record<string, number> = {
  count: 1,
  m: 1,
  km: 1_000,
  mi: 1_609.344,
  ft: 0.3048,
  kcal: 1,
  Cal: 1,
  kJ: 1 / 4.184,
  kg: 1,
  lb: 0.45359237,
  st: 6.35029318,
  mL: 1,
  L: 1_000,
  fl_oz_us: 29.5735295625,
  fl_oz_imp: 28.4130625,
  cup_us: 236.5882365,
  cup_imp: 284.130625,
  pt_us: 473.176473,
  pt_imp: 568.26125,
  'count/min': 1,
  '%': 100
}

const quantities: Record<string, { type: LogType, field: keyof typeof amountBounds }> = {
  HKQuantityTypeIdentifierStepCount: { type: 'STEPS', field: 'count' },
  HKQuantityTypeIdentifierDistanceWalkingRunning: { type: 'DISTANCE', field: 'meters' },
  HKQuantityTypeIdentifierDistanceCycling: { type: 'DISTANCE', field: 'meters' },
  HKQuantityTypeIdentifierActiveEnergyBurned: { type: 'ACTIVE_ENERGY', field: 'kcal' },
  HKQuantityTypeIdentifierHeartRate: { type: 'HEART_RATE', field: 'bpm' }
}

const single: Record<string, { type: LogType, field: string }> = {
  HKQuantityTypeIdentifierRestingHeartRate: { type: 'HEART_RATE', field: 'resting' },
  HKQuantityTypeIdentifierBodyMass: { type: 'WEIGHT', field: 'kg' },
  HKQuantityTypeIdentifierBodyFatPercentage: { type: 'BODY_FAT', field: 'percent' },
  HKQuantityTypeIdentifierDietaryWater: { type: 'WATER', field: 'ml' }
}

const stages: Record<string, string> = {
  HKCategoryValueSleepAnalysisInBed: 'IN_BED',
  HKCategoryValueSleepAnalysisAwake: 'AWAKE',
  HKCategoryValueSleepAnalysisAsleep: 'ASLEEP',
  HKCategoryValueSleepAnalysisAsleepUnspecified: 'ASLEEP',
  HKCategoryValueSleepAnalysisAsleepCore: 'CORE',
  HKCategoryValueSleepAnalysisAsleepDeep: 'DEEP',
  HKCategoryValueSleepAnalysisAsleepREM: 'REM'
}

interface Sample {
  startAt: string
  endAt: string
  value: number | string
}

interface Group {
  line: number
  type: LogType
  source: Entry['item']['source']
  name: string
  samples: Sample[]
}

const sourceOf = ({ sourceName = 'Apple Health', device = '' }: Attributes) =>
  importedBy('Apple Health', {
    kind: /watch/i.test(sourceName + device) ? 'WATCH' : 'PHONE',
    device: sourceName.slice(0, 100)
  })

/** `2026-11-20 08:00:00 +0700`, as Apple writes it, as an instant. */
const timeOf = (text = '', { timezone }: FormatOptions) =>
  toInstant(text.replace(/ ([+-]\d{2})(\d{2})$/, '$1:$2'), timezone)

/**
 * Reads Apple's export.xml as it comes. It names no ids, so what a source measured on a day is one log of many samples,
 * whose id a later export repeats. All times have the offsets of where the export was made, so no id depends on them.
 */
export function createAppleReader (options: FormatOptions, onEntry: (entry: Entry) => void) {
  const groups = new Map<string, Group>()
  const nights = new Map<string, Group>()
  let workout: { line: number, attributes: Attributes, calories: number, meters: number } | undefined

  const add = (
    groups: Map<string, Group>,
    key: string,
    group: Omit<Group, 'samples'>,
    sample: Sample
  ) => {
    const known = groups.get(key)
    if (known) known.samples.push(sample)
    else groups.set(key, { ...group, samples: [sample] })
  }

  function onRecord (line: number, attributes: Attributes) {
    const { type = '', unit = '', value = '', startDate, endDate } = attributes
    const [startAt, endAt] = [timeOf(startDate, options), timeOf(endDate ?? startDate, options)]
    const source = sourceOf(attributes)
    const amount = Number(value) * (units[unit] ?? NaN)
    const [quantity, figure] = [quantities[type], single[type]]
    if (quantity) {
      const name = `${quantity.type} ${source.device} ${startAt.slice(0, 10)}`
      const group = { line, type: quantity.type, source, name }
      const sample = { startAt, endAt, value: amount }
      // One that is none is refused alone, not with all of its day.
      if (isPossible(quantity.field, sample)) add(groups, `${name} ${startAt.slice(19)}`, group, sample)
      else emitGroup({ ...group, name: `${name} ${startAt}`, samples: [sample] }, onEntry)
    } else if (figure) {
      const data = { [figure.field]: amount }
      const externalId = `${figure.type} ${source.device} ${idOfInstant(startAt)} ${value}`.slice(0, 200)
      onEntry({ line, count: 1, item: { type: figure.type, source, externalId, startAt, data } })
    } else if (stages[value]) {
      const name = `SLEEP ${source.device}`
      add(nights, name, { line, type: 'SLEEP', source, name }, { startAt, endAt, value: stages[value] })
    }
  }

  function onWorkoutEnd () {
    if (!workout) return
    const { line, attributes, calories, meters } = workout
    const [startAt, endAt] = [timeOf(attributes['startDate'], options), timeOf(attributes['endDate'], options)]
    const source = sourceOf(attributes)
    const sport = (attributes['workoutActivityType'] ?? '').replace('HKWorkoutActivityType', '')
    const energy = Number(attributes['totalEnergyBurned'] ?? 0) *
      (units[attributes['totalEnergyBurnedUnit'] ?? ''] ?? 1)
    const distance = Number(attributes['totalDistance'] ?? 0) * (units[attributes['totalDistanceUnit'] ?? ''] ?? 1)
    const externalId = `WORKOUT ${source.device} ${idOfInstant(startAt)}`
    const data = {
      ...sportOf(sport.replace(/(?<=[a-z])(?=[A-Z])/g, '_')),
      ...((calories || energy) > 0 && { calories: calories || energy }),
      ...((meters || distance) > 0 && { distanceMeters: meters || distance })
    }
    onEntry({ line, count: 1, item: { type: 'WORKOUT', source, externalId, startAt, endAt, data } })
    workout = undefined
  }

  const xml = createXmlReader({
    onOpen (name, attributes) {
      if (name === 'Record') onRecord(xml.line, attributes)
      if (name === 'Workout') workout = { line: xml.line, attributes, calories: 0, meters: 0 }
      if (name === 'WorkoutStatistics' && workout) {
        const amount = Number(attributes['sum'] ?? 0) * (units[attributes['unit'] ?? ''] ?? 1)
        if (attributes['type'] === 'HKQuantityTypeIdentifierActiveEnergyBurned') workout.calories = amount
        if (attributes['type']?.startsWith('HKQuantityTypeIdentifierDistance')) workout.meters = amount
      }
    },
    onClose (name) {
      if (name === 'Workout') onWorkoutEnd()
    }
  })
  return {
    write: xml.write,
    close () {
      xml.close()
      // On the day of a clock change there are two of a name.
      for (const ofDay of Map.groupBy(groups.values(), ({ name }) => name).values()) {
        for (const [index, group] of ofDay.entries()) emitGroup({ ...group, name: `${group.name} ${index}` }, onEntry)
      }
      for (const group of nights.values()) emitNights(group, onEntry)
    }
  }
}

function isPossible (field: keyof typeof amountBounds, { startAt, endAt, value }: Sample) {
  const { minimum, maximum } = amountBounds[field]
  const lastsMs = Date.parse(endAt) - Date.parse(startAt)
  return Number(value) >= minimum && Number(value) <= maximum && lastsMs >= 0 && lastsMs <= DAY_MS
}

const byStart = (one: { startAt: string }, other: { startAt: string }) =>
  Date.parse(one.startAt) - Date.parse(other.startAt)

function emitGroup ({ line, type, source, name, samples }: Group, onEntry: (entry: Entry) => void) {
  const field = type === 'HEART_RATE'
    ? 'bpm'
    : Object.values(quantities).find((each) => each.type === type)?.field ?? ''
  const sorted = samples.toSorted(byStart)
  for (let from = 0; from < sorted.length; from += MAX_SAMPLES) {
    const chunk = sorted.slice(from, from + MAX_SAMPLES)
    // The last one can end a day later, as far as a sample may be from its log.
    const at = chunk.at(-1)?.startAt ?? ''
    const data = {
      samples: chunk.map((sample) =>
        type === 'HEART_RATE'
          ? { at: sample.startAt, bpm: sample.value }
          : { startAt: sample.startAt, endAt: sample.endAt, [field]: sample.value }
      )
    }
    const item = { type, ...(source && { source }), externalId: `${name} ${from}`.slice(0, 200), at, data }
    onEntry({ line, count: chunk.length, item })
  }
}

/** The stages of a source with less than three hours between them are one sleep. */
function emitNights ({ line, source, name, samples }: Group, onEntry: (entry: Entry) => void) {
  let night: Sample[] = []
  let end = -Infinity
  const emit = () => {
    const startAt = night[0]?.startAt
    if (startAt === undefined) return
    const last = night.reduce((one, other) => Date.parse(other.endAt) > Date.parse(one.endAt) ? other : one)
    const data = { stages: night.map(({ startAt, endAt, value }) => ({ stage: value, startAt, endAt })) }
    const externalId = `${name} ${idOfInstant(startAt)}`.slice(0, 200)
    onEntry({
      line,
      count: night.length,
      item: { type: 'SLEEP', ...(source && { source }), externalId, startAt, endAt: last.endAt, data }
    })
  }
  for (const sample of samples.toSorted(byStart)) {
    if (Date.parse(sample.startAt) > end + NIGHT_GAP_MS) {
      emit()
      night = []
    }
    night.push(sample)
    end = Math.max(end, Date.parse(sample.endAt))
  }
  emit()
}
