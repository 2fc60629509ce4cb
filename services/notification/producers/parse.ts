import { textsOf, type TextParams } from '@tandem/brand-kit'
import { producerEvents, producerEventTypes, type ProducerEventType } from '@tandem/contracts'
import { describeErrors, findUnstorable, parseInstant } from '@tandem/http-kit'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { hasOnlyLinksTo } from './links.ts'

/** The frame of a CloudEvent, version 1.0. Its other fields are ignored. */
export const head = {
  specversion: Type.Literal('1.0'),
  id: Type.String({ minLength: 1, maxLength: 200, examples: ['9f1c2d4e'] }),
  source: Type.String({ minLength: 1, maxLength: 1_000, examples: ['https://bookings.example/jakarta'] }),
  time: Type.String({ format: 'date-time', examples: ['2026-03-14T07:30:00+07:00'] })
}
const hasValidHead = Compile(Type.Object({ ...head, type: Type.Enum(producerEventTypes), data: Type.Object({}) }))
const validators = Object.fromEntries(
  producerEventTypes.map((type) => [type, Compile(producerEvents[type])])
) as Record<ProducerEventType, ReturnType<typeof Compile>>

/** An event that can be stored. */
export interface ValidEvent {
  id: string
  type: ProducerEventType
  occurredAt: Date
  /** The accounts it is for; empty if `accountToken` names it. */
  accountIds: string[]
  accountToken: string | null
  /** From when on it is handled. */
  dueAt: Date
  data: Record<string, unknown>
}

export interface RejectedEvent {
  id: string | null
  code: 'VALIDATION_ERROR' | 'FORBIDDEN'
  field: string
  error: string
}

type Detail =
  | 'accountOfEvent'
  | 'noTimeThatExists'
  | 'endOfBooking'
  | 'otherLink'
  | NonNullable<ReturnType<typeof findUnstorable>>

interface Options {
  /** The types that the producer can send. */
  allowedTypes: string[]
  /** The only host that links in texts can lead to. */
  linkHost: string
  now: Date
  /** Of what is wrong. */
  language: string
}

/** Checks one event. An invalid one prevents no other one. */
export function parseEvent (
  value: unknown,
  { allowedTypes, linkHost, now, language }: Options
): ValidEvent | RejectedEvent {
  const { id: givenId } = (typeof value === 'object' && value !== null ? value : {}) as { id?: unknown }
  const id = typeof givenId === 'string' && !findUnstorable(givenId) ? givenId.slice(0, 200) : null
  const texts = textsOf(language)
  const reject = (field: string, detail: Detail, params: TextParams = {}): RejectedEvent => ({
    id,
    code: 'VALIDATION_ERROR',
    field,
    error: texts.format(`errors.VALIDATION_ERROR.${detail}`, { field, ...params })
  })
  const rejectBy = (errors: Parameters<typeof describeErrors>[0]): RejectedEvent => {
    const [first] = describeErrors(errors, 'item', texts)
    return { id, code: 'VALIDATION_ERROR', field: first?.field ?? '', error: first?.message ?? '' }
  }

  const unstorable = findUnstorable(value)
  if (unstorable) return reject('', unstorable, { subject: 'event' })
  if (!hasValidHead.Check(value)) return rejectBy(hasValidHead.Errors(value))
  const { type, time, data } = value
  if (!allowedTypes.includes(type)) {
    return { id, code: 'FORBIDDEN', field: 'type', error: texts.format('errors.FORBIDDEN.forbidden') }
  }
  if (!validators[type].Check(data)) {
    return rejectBy(
      validators[type].Errors(data).map((each) => ({ ...each, instancePath: `/data${each.instancePath}` }))
    )
  }
  const { accountId, accountToken = null, accountIds = accountId === undefined ? [] : [accountId], ...others } = Value
    .Clean(producerEvents[type], structuredClone(data)) as Details
  if (type !== 'admin.announcement' && (accountId === undefined) === (accountToken === null)) {
    return reject('data.accountId', 'accountOfEvent')
  }
  const times = { time, ...others.startsAt !== undefined && pickTimes(others) }
  const instants = new Map(Object.entries(times).map(([field, text]) => [field, readTime(text)]))
  const [impossible] = [...instants].find(([, instant]) => instant === undefined) ?? []
  if (impossible !== undefined) {
    const field = impossible === 'time' ? 'time' : `data.${impossible}`
    return reject(field, 'noTimeThatExists')
  }
  const [sentAt, startsAt, endsAt, remindAt] = ['time', 'startsAt', 'endsAt', 'remindAt'].map((field) =>
    instants.get(field)
  )
  if (startsAt && endsAt && endsAt <= startsAt) {
    return reject('data.endsAt', 'endOfBooking')
  }
  for (const [locale, words] of Object.entries(others.text ?? {})) {
    for (const [name, text] of Object.entries(words)) {
      if (hasOnlyLinksTo(linkHost, text)) continue
      return reject(`data.text.${locale}.${name}`, 'otherLink', { linkHost })
    }
  }
  return {
    id: value.id,
    type,
    // The clock of a producer can be ahead: nothing later would change its bookings.
    occurredAt: sentAt && sentAt < now ? sentAt : now,
    accountIds: [...new Set(accountIds.map((each) => each.toLowerCase()))],
    accountToken: accountToken?.toLowerCase() ?? null,
    dueAt: remindAt && remindAt > now ? remindAt : now,
    data: { ...others, ...startsAt && { startsAt }, ...endsAt && { endsAt } }
  }
}

const pickTimes = ({ startsAt = '', endsAt = '', remindAt }: Details) => ({
  startsAt,
  endsAt,
  ...remindAt !== undefined && { remindAt }
})

/** Undefined also for years that Postgres does not store. */
function readTime (text: string) {
  const time = new Date(parseInstant(text)?.epochMilliseconds ?? NaN)
  const year = time.getUTCFullYear()
  return year >= 1 && year <= 9_999 ? time : undefined
}

/** The fields of all types. */
interface Details {
  accountId?: string
  accountIds?: string[]
  accountToken?: string
  startsAt?: string
  endsAt?: string
  remindAt?: string
  text?: Record<string, Record<string, string>>
}
