import { textsOf, type LocalTexts } from '@tandem/brand-kit'
import Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { findTimezoneName, isOffset } from '@tandem/account-kit'
import { describeErrors, Enum, findUnstorable, named, parseInstant, toVisibleText } from '@tandem/http-kit'
import { logTypes, sourceKinds, type LogData, type LogType, type Source } from '../tables.ts'
import { completeData, dataSchemas, isTooOldForSamples, normalizeData } from '../log-types/data.ts'

// Phones with a fast clock.
const MAX_CLOCK_SKEW_MS = 10 * 60 * 1_000
const MAX_LENGTH_MS = 24 * 60 * 60 * 1_000
// A day has 1,440 minutes. Each minute of each sample is counted on its own.
const MAX_SAMPLED_MS = 10_000 * 60 * 1_000
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z')

const checks = Object.fromEntries(logTypes.map((type) => [type, Compile(dataSchemas[type])])) as Record<LogType,
  Validator>
const Label = Type.String({ minLength: 1, maxLength: 100 })

export const SourceSchema = named(
  'LogSource',
  Type.Object({
    platform: Type.String({
      minLength: 1,
      maxLength: 50,
      description: 'HEALTHKIT, HEALTH_CONNECT, MANUAL, IMPORT, or a name of your own',
      examples: ['HEALTHKIT']
    }),
    kind: Type.Optional(Enum(sourceKinds, {
      description: 'What measured it: a watch counts more than a phone, and that more than what a person typed'
    })),
    device: Type.Optional(Label),
    app: Type.Optional(Label)
  })
)

const time = {
  startAt: Type.Optional(Type.String()),
  endAt: Type.Optional(Type.String()),
  timezone: Type.Optional(Type.String()),
  modifiedAt: Type.Optional(Type.String()),
  deleted: Type.Optional(Type.Boolean())
}
const byClient = { clientId: Label, source: Type.Optional(SourceSchema) }
const bySource = {
  clientId: Type.Optional(Label),
  source: SourceSchema,
  externalId: Type.String({ minLength: 1, maxLength: 200 })
}
const written = { type: Type.Enum(logTypes), at: Type.String(), data: Type.Unknown(), ...time }
const deleted = { type: Type.Optional(Type.Enum(logTypes)), ...time }

// An item has the id of its source or that of the client, and one that was deleted has nothing else.
const heads = {
  written: {
    byClient: Compile(Type.Object({ ...byClient, ...written })),
    bySource: Compile(Type.Object({ ...bySource, ...written }))
  },
  deleted: {
    byClient: Compile(Type.Object({ ...byClient, ...deleted })),
    bySource: Compile(Type.Object({ ...bySource, ...deleted }))
  }
}

/** What identifies an item: its id in its source, else that of the client. */
interface Identity {
  /** Unique for the account. */
  key: string
  clientId: string | null
  modifiedAt?: Date | undefined
}

/** A valid item of a batch. */
export interface Item extends Identity {
  type: LogType
  at: Date
  endsAt?: Date | undefined
  data: LogData
  source?: Source | undefined
  externalId?: string | undefined
  /** The time zone that the client names, or an offset. */
  timezone?: string | undefined
  /** The UTC offset of `at` as the client wrote it; undefined for UTC itself, which says nothing about the place. */
  offset?: string | undefined
  /** A workout that is never merged with others. No client can say so, but a copy of an account. */
  isSplit?: boolean | undefined
}
/** An item that was deleted at its source. */
export interface DeletedItem extends Identity {
  isDeleted: true
}
/** An invalid item of a batch, and the reason. */
export interface RejectedItem {
  clientId: string | null
  error: string
  fields: string[]
}

export const isRejected = (item: Item | DeletedItem | RejectedItem): item is RejectedItem => 'error' in item
export const isDeleted = (item: Item | DeletedItem): item is DeletedItem => 'isDeleted' in item

/**
 * Parses an item of a batch. It accepts any value: one invalid item must not prevent the others from being written.
 * @param language of the reason for a rejection
 */
export function parseItem (
  value: unknown,
  now: Date,
  language: string | null = null
): Item | DeletedItem | RejectedItem {
  const trimmed = trimStrings(value)
  if (typeof trimmed !== 'object' || trimmed === null || Array.isArray(trimmed)) {
    return notAnObject(trimmed, textsOf(language))
  }
  const item = trimmed as Record<string, unknown>
  const clientId = typeof item['clientId'] === 'string' && !findUnstorable(item['clientId']) ? item['clientId'] : null
  try {
    return parseTrimmed(value, withoutKey(item), { now, texts: textsOf(language) })
  } catch (error) {
    if (!(error instanceof InvalidItem)) throw error
    return { clientId, error: error.message, fields: error.fields }
  }
}

/** A log that no client has named is returned with its key as its clientId, and can be sent back so. */
function withoutKey ({ clientId, ...unnamed }: Record<string, unknown>) {
  const { source, externalId } = unnamed as Partial<Head>
  const isKey = source && externalId !== undefined && clientId === sourceKey(source, externalId)
  return clientId === undefined || isKey ? unnamed : { clientId, ...unnamed }
}

function notAnObject (value: unknown, texts: LocalTexts): RejectedItem {
  const { message, fields } = invalidBySchema(texts, heads.written.byClient.Errors(value))
  return { clientId: null, error: message, fields }
}

interface Reading {
  now: Date
  texts: LocalTexts
}

/** Its message is the reason, in the language of the client. */
class InvalidItem extends Error {
  readonly fields: string[]
  constructor (reason: string, fields: string[]) {
    super(reason)
    this.fields = fields
  }
}

type Detail =
  | 'notATime'
  | 'fieldMustNotBeInFuture'
  | 'beforeTheYear2000'
  | 'timezoneMustBeIANANameSuchAsAsia'
  | 'endOfLog'
  | 'heartRatesTooOld'
  | 'stagesOutsideOfSleep'
  | 'samplesOutsideOfLog'
  | 'samplesTooLong'

const invalid = (texts: LocalTexts, detail: Detail, field: string) =>
  new InvalidItem(texts.format(`errors.VALIDATION_ERROR.${detail}`, { field }), [field])

/** Describes the first error, as the errors of requests are described. */
function invalidBySchema (texts: LocalTexts, errors: ReturnType<Validator['Errors']>, path = '') {
  const full = errors.map((error) => ({ ...error, instancePath: `${path}${error.instancePath}` }))
  const [first] = describeErrors(full, 'item', texts)
  return first
    ? new InvalidItem(first.message, [first.field])
    : new InvalidItem(texts.format('validation.invalid', { field: 'item' }), [])
}

function parseTrimmed (value: unknown, item: Record<string, unknown>, reading: Reading): Item | DeletedItem {
  const { now, texts } = reading
  const unstorable = findUnstorable(value)
  if (unstorable) {
    throw new InvalidItem(texts.format(`errors.VALIDATION_ERROR.${unstorable}`, { subject: 'item' }), [])
  }
  const idOf = 'externalId' in item ? 'bySource' : 'byClient'
  if (item['deleted'] === true) return parseDeleted(item, heads.deleted[idOf], reading)

  const isSleep = item['type'] === 'SLEEP'
  const at = (isSleep ? item['endAt'] : item['startAt']) ?? item['at']
  const head = heads.written[idOf]
  const withTime = { ...item, ...(at !== undefined && { at }) }
  if (!head.Check(withTime)) throw invalidBySchema(texts, head.Errors(withTime))

  const { type, timezone, startAt, endAt } = withTime
  const moment = parseTime('at', withTime.at, reading)
  const startsAt = startAt === undefined ? undefined : parseTime('startAt', startAt, reading)
  const endsAt = endAt === undefined ? undefined : parseTime('endAt', endAt, reading)
  const zone = timezone === undefined || isOffset(timezone) ? timezone : findTimezoneName(timezone)
  if (timezone !== undefined && zone === undefined) {
    throw invalid(texts, 'timezoneMustBeIANANameSuchAsAsia', 'timezone')
  }
  const span = startsAt && endsAt && { start: startsAt.getTime(), end: endsAt.getTime() }
  if (span && !(span.start <= span.end && span.end <= span.start + MAX_LENGTH_MS)) {
    throw invalid(texts, 'endOfLog', 'endAt')
  }
  const data = completeData(type, withTime.data, span)
  const check = checks[type]
  if (!check.Check(data)) throw invalidBySchema(texts, check.Errors(data), '/data')
  const normalized = normalizeData(type, data as object, now)
  checkSamples(normalized, moment, { isSleep, texts })
  if (type === 'HEART_RATE' && 'bpm' in normalized && isTooOldForSamples(moment, now)) {
    throw invalid(texts, 'heartRatesTooOld', 'data.samples')
  }
  return {
    ...identityOf(withTime, reading),
    type,
    at: moment,
    endsAt: isSleep ? undefined : endsAt,
    data: normalized,
    source: withTime.source,
    externalId: 'externalId' in withTime ? withTime.externalId : undefined,
    timezone: zone,
    offset: offsetOf(withTime.at)
  }
}

function parseDeleted (
  item: Record<string, unknown>,
  head: typeof heads.deleted[keyof typeof heads.deleted],
  reading: Reading
) {
  if (!head.Check(item)) throw invalidBySchema(reading.texts, head.Errors(item))
  return { ...identityOf(item, reading), isDeleted: true as const }
}

interface Head {
  clientId?: string
  source?: Source
  externalId?: string
  modifiedAt?: string
}

function identityOf ({ clientId, source, externalId, modifiedAt }: Head, { now, texts }: Reading): Identity {
  const modified = modifiedAt === undefined ? undefined : parseInstant(modifiedAt)
  if (modifiedAt !== undefined && !modified) throw invalid(texts, 'notATime', 'modifiedAt')
  const key = source && externalId !== undefined ? sourceKey(source, externalId) : clientId as string
  // A phone with a fast clock must not win over later edits.
  const modifiedAtMost = modified && new Date(Math.min(modified.epochMilliseconds, now.getTime()))
  return { key, clientId: clientId ?? null, modifiedAt: modifiedAtMost }
}

/** The key of what has an id in its source. No other text of a client can be mistaken for two others. */
export const sourceKey = ({ platform }: Source, externalId: string) => JSON.stringify([platform, externalId])

function parseTime (field: string, text: string, { now, texts }: Reading) {
  const instant = parseInstant(text)
  if (!instant) throw invalid(texts, 'notATime', field)
  const moment = new Date(instant.epochMilliseconds)
  if (moment.getTime() > now.getTime() + MAX_CLOCK_SKEW_MS) {
    throw invalid(texts, 'fieldMustNotBeInFuture', field)
  }
  if (moment.getTime() < EARLIEST_MS) {
    throw invalid(texts, 'beforeTheYear2000', field)
  }
  return moment
}

/** The parts of a log are within a day of it, and not too long in all, so that what it touches is known and bounded. */
function checkSamples (data: LogData, at: Date, { isSleep, texts }: { isSleep: boolean, texts: LocalTexts }) {
  const samples = (data['samples'] ?? data['stages'] ?? []) as { at?: string, startAt?: string, endAt?: string }[]
  const [earliest, latest] = [at.getTime() - MAX_LENGTH_MS, at.getTime() + (isSleep ? 0 : MAX_LENGTH_MS)]
  let sampledMs = 0
  for (const { at: moment = '', startAt = moment, endAt = moment } of samples) {
    const [start, end] = [Date.parse(startAt), Date.parse(endAt)]
    if (!(earliest <= start && start <= end && end <= latest)) {
      throw isSleep
        ? invalid(texts, 'stagesOutsideOfSleep', 'data.stages')
        : invalid(texts, 'samplesOutsideOfLog', 'data.samples')
    }
    sampledMs += end - start
  }
  if (!isSleep && sampledMs > MAX_SAMPLED_MS) throw invalid(texts, 'samplesTooLong', 'data.samples')
}

/**
 * The offset that a time is written with, as `+09:00`, also before a time zone in brackets. RFC 9557: `Z` and `-00:00`
 * say nothing about the place.
 */
function offsetOf (at: string) {
  const [, sign, hours, minutes = '00'] = /([+-])(\d{2})(?::?(\d{2}))?$/.exec(at.split('[', 1)[0] ?? '') ?? []
  const offset = `${sign}${hours}:${minutes}`
  return hours === undefined || offset === '-00:00' ? undefined : offset
}

const OPTIONAL_TEXTS = new Set(
  ['title', 'programDayId', 'exerciseId', 'sport', 'notes', 'route', 'externalId', 'kind', 'device', 'app']
)

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
