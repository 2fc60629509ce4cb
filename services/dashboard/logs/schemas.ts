import Type, { type TSchema } from 'typebox'
import { Enum, named, Nullable, Timestamp } from '@tandem/http-kit'
import { dataSchemas } from '../log-types/data.ts'
import { logTypes, type LogType } from '../tables.ts'
import { SourceSchema } from './items.ts'
import type { Change } from './queries.ts'

const MAX_BATCH_ITEMS = 1_000

const ofEachType = Object.entries(dataSchemas) as [LogType, TSchema][]

const titleOf = (type: LogType) =>
  type.split('_').map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`).join('')

const optionalTime = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

const newLogFields = {
  clientId: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'An id chosen by the client, for what has no `externalId`. Sending the same id again updates the log.'
  })),
  source: Type.Optional(SourceSchema),
  externalId: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'The id that the log has in its source, such as the UUID of HealthKit. Together with the platform ' +
      'it identifies the log, whatever its clientId'
  })),
  timezone: Type.Optional(Type.String({
    description:
      'Where the log was written: an IANA name, or an offset such as +09:00. By default a new log takes the ' +
      'offset of `at`, or for UTC your current time zone, and an edited one keeps its own'
  })),
  modifiedAt: optionalTime(
    'When this version was written, or the log was deleted. An older version than the stored one changes nothing'
  ),
  deleted: Type.Optional(Type.Literal(true, {
    description: 'The source has deleted it. No older version brings it back; without modifiedAt, none at all'
  }))
}

const NewLog = named(
  'NewLog',
  Type.Union(
    ofEachType.map(([type, data]) =>
      named(
        `New${titleOf(type)}Log`,
        Type.Object({
          ...newLogFields,
          type: Enum([type]),
          at: optionalTime(
            'The time of the log with its UTC offset, which decides its day; for SLEEP, the time of waking up'
          ),
          startAt: optionalTime('When it started; in place of `at`'),
          endAt: optionalTime('When it ended, within 24 hours; for SLEEP in place of `at`'),
          data: Type.Optional(data)
        })
      )
    ),
    {
      description:
        'A log, which needs `data` and a time, or with `deleted` one that its source has deleted, which needs ' +
        'neither. Invalid items are rejected one by one; the others are written'
    }
  )
)

// Each item is validated separately, so the route accepts any value.
export const Items = Type.Unsafe<unknown[]>({
  type: 'array',
  minItems: 1,
  maxItems: MAX_BATCH_ITEMS,
  items: { documentedAs: NewLog }
})

export const Result = named(
  'LogResult',
  Type.Object({
    clientId: Nullable(Type.String()),
    id: Nullable(Type.String()),
    status: Enum(['created', 'updated', 'unchanged', 'deleted', 'rejected'], {
      description: 'unchanged: you deleted this log, so `id` is null, or the item is older than the stored version'
    }),
    xp: Type.Optional(Type.Integer({ description: 'The XP that it earned; 0 for what was known' })),
    level: Type.Optional(Type.Integer({ description: 'Your level after the batch' })),
    records: Type.Optional(
      Type.Array(Type.Object({ exercise: Type.String(), weightKg: Type.Number(), reps: Type.Integer() }), {
        description: 'The records that it set'
      })
    ),
    error: Type.Optional(Type.String({ description: 'Why it was rejected, in the language of Accept-Language' }))
  })
)

const logFields = {
  id: Type.String(),
  clientId: Type.String(),
  at: Timestamp,
  endAt: Nullable(Timestamp, { description: 'When it ended, if that was sent' }),
  day: Type.String({ description: 'The calendar day of `at` in `timezone`, which the log counts for' }),
  timezone: Type.String({ description: 'Where the log was written: a time zone, or an offset such as +09:00' }),
  modifiedAt: Nullable(Timestamp, { description: 'As it was sent; null if it was not' }),
  counts: Type.Boolean({
    description: 'False if it is a part of the session of another log: then only that one counts'
  }),
  source: Nullable(SourceSchema, { description: 'Null for what was typed by hand' }),
  externalId: Nullable(Type.String()),
  parts: Type.Array(Type.String(), {
    description: 'Of a session the ids of the logs that it consists of, itself included; empty if it is one log. The ' +
      'data of a session has each field from its best part'
  }),
  isSplit: Type.Boolean({ description: 'You took it out of a session: it counts on its own' })
}

// The data of a log is returned as it was sent, so responses need not find out its type.
const Logged = Type.Object({
  ...logFields,
  type: Enum(logTypes),
  data: Type.Unsafe<object>({ type: 'object', additionalProperties: true })
})
const documentedAs = named(
  'Log',
  Type.Union(
    ofEachType.map(([type, data]) =>
      named(`${titleOf(type)}Log`, Type.Object({ ...logFields, type: Enum([type]), data }))
    )
  )
)
export const Log = Type.Unsafe<Type.Static<typeof Logged>>({ ...Logged, documentedAs })

const { id, clientId, ...otherFields } = logFields
const optionalFields = Type.Partial(Type.Object(otherFields)).properties

/** A change of a log, for another device. One schema for each type, because their deletions have a type, too. */
const LogChange = named(
  'LogChange',
  Type.Union(
    ofEachType.map(([type, data]) =>
      named(
        `${titleOf(type)}LogChange`,
        Type.Object({
          id,
          clientId,
          type: Enum([type]),
          deleted: Type.Optional(Type.Literal(true, { description: 'It is deleted; nothing more is said of it' })),
          ...optionalFields,
          data: Type.Optional(data)
        })
      )
    )
  )
)

export const ChangesQuery = Type.Object({
  cursor: Type.Optional(Type.String({ maxLength: 100, description: 'The cursor of the last response' })),
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 500 })
}, { dropEmpty: ['cursor'] })

export const Changes = Type.Array(
  Type.Unsafe<Change>({ type: 'object', additionalProperties: true, documentedAs: LogChange })
)

export const example = {
  clientId: 'a81bc81b',
  type: 'WORKOUT',
  at: '2026-11-20T16:50:00.000Z',
  data: { title: 'Legs', durationMinutes: 45, exercises: [{ name: 'Squat', sets: [{ reps: 5, weightKg: 80 }] }] }
}

export const exampleId = '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'
export const exampleChange = { id: exampleId, clientId: example.clientId, type: 'WORKOUT', deleted: true }
export const exampleLog = {
  id: exampleId,
  ...example,
  endAt: null,
  day: '2026-11-20',
  timezone: 'Asia/Jakarta',
  modifiedAt: null,
  counts: true,
  source: null,
  externalId: null,
  parts: [],
  isSplit: false
}
