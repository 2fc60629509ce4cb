import type { LogData, LogType, Source } from '../tables.ts'
import { asleepSpans, compareTexts, minutesOf, MINUTE_MS, sumOf, type Span } from '../log-types/data.ts'
import { routeMeters } from '../log-types/ways.ts'
import { compareSources, recorderOf } from '../log-types/sources.ts'

/** A workout or a sleep, as one source has it. */
export interface Part extends Span {
  id: string
  key: string
  data: LogData
  source: Source | null
  /** It is never merged with others. */
  isSplit: boolean
}

/** What counts as one workout or one sleep. */
export interface Session<Of = Part> {
  /** The part that stands for it. */
  main: Of
  parts: Of[]
  data: LogData
}

// More workouts than this at one time are not compared with each other, or they would take all day.
const MAX_COMPARED = 30
// Nobody records a workout with more devices and apps. Of thousands, each comparison would go through all.
const MAX_PARTS = 20

const lengthOf = ({ start, end }: Span) => end - start
const inOrder = (one: Part, other: Part) =>
  one.start - other.start || one.end - other.end || compareTexts(one.key, other.key)
const bySource = (one: Part, other: Part) =>
  compareSources(one.source, other.source) || lengthOf(other) - lengthOf(one) || inOrder(one, other)

const byAuthor = (one: Part, other: Part) => compareSources(other.source, one.source) || bySource(one, other)

/** Parts that overlap, directly or through others. Pure, as everything in this file. */
export function findIslands<Of extends Part> (parts: Of[]): Of[][] {
  const islands: { end: number, parts: Of[] }[] = []
  for (const part of parts.toSorted(inOrder)) {
    const last = islands.at(-1)
    if (last && part.start < last.end) {
      last.parts.push(part)
      last.end = Math.max(last.end, part.end)
    } else islands.push({ end: part.end, parts: [part] })
  }
  return islands.map(({ parts }) => parts)
}

/** The sessions of an island. */
export const sessionsOf = <Of extends Part>(type: LogType, island: Of[]): Session<Of>[] =>
  type === 'SLEEP' ? [mergeSleeps(island)] : groupWorkouts(island).map(mergeWorkouts)

interface Pair<Of> {
  one: Of
  other: Of
  /** Which part of the shorter one they share. */
  share: number
}

/**
 * Workouts of different sources that share more than half of the shorter one are one session, those that share most
 * first. A session has one sport, one workout of each platform or app of a file, and 20 workouts at most.
 */
function groupWorkouts<Of extends Part> (island: Of[]): Of[][] {
  const groups = new Map(island.map((part) => [part, [part]]))
  for (const { one, other } of findPairs(island)) {
    const [group, others] = [groups.get(one) ?? [], groups.get(other) ?? []]
    if (group === others || group.length + others.length > MAX_PARTS || !canMerge([...group, ...others])) continue
    group.push(...others)
    for (const part of others) groups.set(part, group)
  }
  return [...new Set(groups.values())]
}

function findPairs<Of extends Part> (island: Of[]): Pair<Of>[] {
  const parts = island.filter(({ isSplit }) => !isSplit).toSorted(inOrder)
  const pairs = parts.flatMap((one, index) =>
    parts.slice(index + 1, index + 1 + MAX_COMPARED).map((other) => ({ one, other, share: shareOf(one, other) }))
  )
  return pairs.filter(({ share }) => share > 0.5).sort((a, b) =>
    b.share - a.share || inOrder(a.one, b.one) || inOrder(a.other, b.other)
  )
}

const shareOf = (one: Span, other: Span) =>
  (Math.min(one.end, other.end) - Math.max(one.start, other.start)) / Math.min(lengthOf(one), lengthOf(other))

function canMerge (parts: Part[]) {
  const sports = new Set(parts.map(({ data }) => data['sport']).filter((sport) => sport !== undefined))
  return sports.size <= 1 && new Set(parts.map(({ source }) => recorderOf(source))).size === parts.length
}

const measured = ['durationMinutes', 'calories', 'distanceMeters', 'avgHeartRate', 'maxHeartRate', 'heartRateZones']
const told = ['title', 'notes', 'programDayId', 'sport']

/** Figures are those of the best source that has them; what people write is rather their own. */
function mergeWorkouts<Of extends Part> (group: Of[]): Session<Of> {
  const parts = group.toSorted(bySource)
  const main = first(parts)
  const byHand = group.toSorted(byAuthor)
  const route = best(parts, ({ data }) => typeof data['route'] === 'string' ? routeMeters(data['route']) : -1)
  const exercises = best(byHand, ({ data }) => setsOf(data))
  const data = {
    ...pick(told, byHand),
    ...pick(measured, parts),
    ...pick(['route'], [route]),
    ...pick(['exercises'], [exercises])
  }
  return { main, parts, data }
}

function first<Of> ([part]: Of[]) {
  if (part === undefined) throw new Error('a session has a part')
  return part
}

/** Each field from the first part that has it. */
function pick (fields: string[], parts: Part[]): LogData {
  const entries = fields.map((field) => [field, parts.find(({ data }) => data[field] !== undefined)?.data[field]])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

const best = <Of extends Part>(parts: Of[], score: (part: Of) => number) =>
  parts.reduce((one, other) => score(other) > score(one) ? other : one)

const setsOf = ({ exercises }: LogData) =>
  sumOf(((exercises ?? []) as { sets: unknown[] }[]).map(({ sets }) => sets.length))

/** The part of a session whose exercises count. */
export const trainedPart = <Of extends Part>({ parts, data }: Session<Of>) =>
  parts.findLast((part) => part.data['exercises'] === data['exercises'])

/** The minutes asleep of all parts together, on the day of the last awakening. */
function mergeSleeps<Of extends Part> (island: Of[]): Session<Of> {
  const parts = island.toSorted(bySource)
  const main = first(island.toSorted((one, other) => other.end - one.end || bySource(one, other)))
  const minutes = Math.max(1, minutesOf(island.flatMap(asleepOf)))
  return { main, parts, data: { minutes, ...pick(['quality'], island.toSorted(byAuthor)), ...pick(['stages'], parts) } }
}

function asleepOf ({ end, data: { minutes, stages } }: Part): Span[] {
  return stages === undefined
    ? [{ start: end - Number(minutes) * MINUTE_MS, end }]
    : asleepSpans(stages as Parameters<typeof asleepSpans>[0])
}
