import { dayIn, startOfDay } from '@tandem/account-kit'
import {
  amountFields,
  compareTexts,
  maxOf,
  minOf,
  MINUTE_MS,
  sumOf,
  unite,
  type QuantityType,
  type Span
} from '../log-types/data.ts'
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

/** From and to whole minutes. */
interface Amount extends Span {
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
 * the best one counts, and the minute belongs to the day in the time zone of that source's log. Minutes are counted by
 * spans: a day can have thousands of logs that last for a day, and others wait meanwhile. Pure.
 */
export function sumOfDays (type: QuantityType, logs: Measured[], days: ReadonlySet<string>) {
  const sums = new Map<string, number>()
  let taken: Span[] = []
  const dayOf = createDayFinder()
  for (const ofSource of bySource(logs)) {
    const amounts = ofSource.flatMap((log) => amountsOf(type, log))
    const countFree = createFreeCounter(taken)
    for (const { start, end, value, timezone } of amounts) {
      for (let from = start; from < end;) {
        const { day, end: dayEnd } = dayOf(timezone, from * MINUTE_MS)
        const until = Math.min(end, dayEnd / MINUTE_MS)
        if (days.has(day)) sums.set(day, (sums.get(day) ?? 0) + value * countFree(from, until) / (end - start))
        from = until
      }
    }
    taken = unite([...taken, ...amounts])
  }
  return new Map([...sums].map(([day, sum]) => [day, type === 'STEPS' ? Math.round(sum) : round(sum)]))
}

/** Counts the minutes from one to another that are not in `taken`, whose spans are disjoint and in order. */
function createFreeCounter (taken: Span[]) {
  let sum = 0
  const takenUntil = taken.map(({ start, end }) => sum += end - start)
  const countTakenBefore = (minute: number) => {
    let [low, high] = [0, taken.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (taken[middle]!.end <= minute) low = middle + 1
      else high = middle
    }
    const current = taken[low]
    return (takenUntil[low - 1] ?? 0) + (current ? Math.max(0, minute - current.start) : 0)
  }
  return (from: number, until: number) => until - from - (countTakenBefore(until) - countTakenBefore(from))
}

function amountsOf (type: QuantityType, { at, endsAt, data, timezone }: Measured): Amount[] {
  const field = amountFields[type]
  const samples = data['samples'] as ({ startAt: string, endAt: string } & Record<string, number>)[] | undefined
  const amountOf = (startMs: number, endMs: number, value: number) => {
    const start = Math.floor(startMs / MINUTE_MS)
    return { start, end: Math.max(start + 1, Math.ceil(endMs / MINUTE_MS)), value, timezone }
  }
  if (!samples) return [amountOf(at.getTime(), (endsAt ?? at).getTime(), Number(data[field]))]
  return samples.map((sample) => amountOf(Date.parse(sample.startAt), Date.parse(sample.endAt), Number(sample[field])))
}

interface Day extends Span {
  day: string
}

/** Finds the day of a time, and from when to when it is. It remembers the days of each time zone, the last one first. */
function createDayFinder () {
  const known = new Map<string, Day[]>()
  return (timezone: string, time: number): Day => {
    const days = known.get(timezone) ?? []
    const found = days.find(({ start, end }) => start <= time && time < end)
    if (found) return found
    const date = dayIn(timezone, new Date(time))
    const day = {
      day: date.toString(),
      start: startOfDay(timezone, date).getTime(),
      end: startOfDay(timezone, date.add({ days: 1 })).getTime()
    }
    known.set(timezone, [day, ...days])
    return day
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
        .map((log) => [dayOf(log.timezone, log.at.getTime()).day, Number(log.data['resting'])])
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
function ratesOf ({ at, timezone, data }: Measured, dayOf: (timezone: string, time: number) => Day): HeartRate[] {
  const { bpm, samples, min, max, avg, count } = data as Record<string, number> & {
    samples?: { at: string, bpm: number }[]
  }
  const single = (time: number, rate: number) => ({
    at: time,
    day: dayOf(timezone, time).day,
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
