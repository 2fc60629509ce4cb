import { dayIn, startOfDay } from '@tandem/account-kit'
import { amountFields, compareTexts, maxOf, minOf, MINUTE_MS, sumOf, type QuantityType } from '../log-types/data.ts'
import { compareSources, nameOf } from '../log-types/sources.ts'
import type { LogData, Source } from '../tables.ts'

/** A log of something that devices measure. */
export interface Measured {
  key: string
  at: Date
  endsAt: Date | null
  timezone: string
  data: LogData
  source: Source | null
}

interface Amount {
  start: number
  end: number
  value: number
  timezone: string
}

const round = (number: number) => Math.round(number * 10) / 10

/** The logs of each source, the best source first, each in an order that does not depend on when they arrived. Pure. */
function bySource (logs: Measured[]) {
  const sorted = logs.toSorted((one, other) =>
    compareSources(one.source, other.source) || one.at.getTime() - other.at.getTime() ||
    compareTexts(one.key, other.key)
  )
  return [...Map.groupBy(sorted, ({ source }) => nameOf(source)).values()]
}

/**
 * The amount of each of `days`. An amount is spread evenly over its minutes. In a minute that several sources cover only
 * the best one counts, and the minute belongs to the day in the time zone of that source's log. Pure.
 */
export function sumOfDays (type: QuantityType, logs: Measured[], days: ReadonlySet<string>) {
  const sums = new Map<string, number>()
  const taken = new Set<number>()
  const dayOf = createDayFinder()
  for (const ofSource of bySource(logs)) {
    const minutes = new Set<number>()
    for (const { start, end, value, timezone } of ofSource.flatMap((log) => amountsOf(type, log))) {
      const first = Math.floor(start / MINUTE_MS)
      const last = Math.max(first + 1, Math.ceil(end / MINUTE_MS))
      for (let minute = first; minute < last; minute++) {
        if (taken.has(minute)) continue
        minutes.add(minute)
        const day = dayOf(timezone, minute * MINUTE_MS)
        if (days.has(day)) sums.set(day, (sums.get(day) ?? 0) + value / (last - first))
      }
    }
    for (const minute of minutes) taken.add(minute)
  }
  return new Map([...sums].map(([day, sum]) => [day, type === 'STEPS' ? Math.round(sum) : round(sum)]))
}

function amountsOf (type: QuantityType, { at, endsAt, data, timezone }: Measured): Amount[] {
  const field = amountFields[type]
  const samples = data['samples'] as ({ startAt: string, endAt: string } & Record<string, number>)[] | undefined
  if (!samples) {
    return [{ start: at.getTime(), end: (endsAt ?? at).getTime(), value: Number(data[field]), timezone }]
  }
  return samples.map((sample) => ({
    start: Date.parse(sample.startAt),
    end: Date.parse(sample.endAt),
    value: Number(sample[field]),
    timezone
  }))
}

/** Finds the day of a time. It remembers the last day of each time zone, because times come in order. */
function createDayFinder () {
  const known = new Map<string, { day: string, start: number, end: number }>()
  return (timezone: string, time: number) => {
    const last = known.get(timezone)
    if (last && last.start <= time && time < last.end) return last.day
    const day = dayIn(timezone, new Date(time))
    const start = startOfDay(timezone, day).getTime()
    const end = startOfDay(timezone, day.add({ days: 1 })).getTime()
    known.set(timezone, { day: day.toString(), start, end })
    return day.toString()
  }
}

interface HeartRate {
  at: number
  day: string
  min: number
  max: number
  sum: number
  count: number
}

/** The heart rates of each of `days`, of the best source that has one: the resting one is its newest. Pure. */
export function heartRatesOfDays (logs: Measured[], days: ReadonlySet<string>) {
  const results = new Map<string, HeartRatesOfDay>()
  const dayOf = createDayFinder()
  const entryOf = (day: string) => {
    const entry = results.get(day) ?? { min: null, max: null, avg: null, resting: null }
    results.set(day, entry)
    return entry
  }
  for (const ofSource of bySource(logs)) {
    const rates = ofSource.flatMap((log) => ratesOf(log, dayOf))
    for (const [day, ofDay] of Map.groupBy(rates, (rate) => rate.day)) {
      const entry = entryOf(day)
      if (!days.has(day) || entry.avg !== null) continue
      entry.min = minOf(ofDay.map(({ min }) => min))
      entry.max = maxOf(ofDay.map(({ max }) => max))
      entry.avg = round(sumOf(ofDay.map(({ sum }) => sum)) / sumOf(ofDay.map(({ count }) => count)))
    }
    const resting = new Map(
      ofSource.filter(({ data }) => data['resting'] !== undefined)
        .map((log) => [dayOf(log.timezone, log.at.getTime()), Number(log.data['resting'])])
    )
    for (const [day, rate] of resting) {
      if (days.has(day)) entryOf(day).resting ??= rate
    }
  }
  return results
}

interface HeartRatesOfDay {
  min: number | null
  max: number | null
  avg: number | null
  resting: number | null
}

/** The samples of a log, or what it says of those that are no longer kept. */
function ratesOf ({ at, timezone, data }: Measured, dayOf: (timezone: string, time: number) => string): HeartRate[] {
  const { bpm, samples, min, max, avg, count } = data as Record<string, number> & {
    samples?: { at: string, bpm: number }[]
  }
  const single = (time: number, rate: number) => ({
    at: time,
    day: dayOf(timezone, time),
    min: rate,
    max: rate,
    sum: rate,
    count: 1
  })
  if (samples) return samples.map((sample) => single(Date.parse(sample.at), sample.bpm))
  if (bpm !== undefined) return [single(at.getTime(), bpm)]
  const average = avg ?? (min !== undefined && max !== undefined ? (min + max) / 2 : min ?? max)
  if (average === undefined) return []
  const weight = count ?? 1
  return [{
    ...single(at.getTime(), average),
    min: min ?? average,
    max: max ?? average,
    sum: average * weight,
    count: weight
  }]
}
