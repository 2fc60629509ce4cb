import type { TObjectOptions, TProperties, TSchema, TSchemaOptions, TStringOptions } from 'typebox'
import { Type } from 'typebox'

/** The id of nothing: malformed ids are read as this one. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const isUuid = (text: string) => UUID.test(text)

/**
 * An id. It is an opaque string for clients and a lower-case uuid for us. It must not be empty. Any other string that is
 * not a uuid is read as the nil uuid, so a route finds nothing and returns its own not-found error, and Postgres never sees a malformed uuid.
 */
export const Id = Type.String({ opaqueId: true, examples: ['019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'] })

/** The `nextCursor` of an earlier page. Anything other than a uuid is rejected. */
export const Cursor = Type.String({ format: 'uuid', examples: ['019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'] })

type Length = TStringOptions & { min?: number, max: number }

/** Text from a person: trimmed, then `min` (1) to `max` characters long. A text that shows nothing counts as empty. */
export const Text = ({ min = 1, max, ...options }: Length) =>
  Type.String({ visibleText: true, minLength: min, maxLength: max, ...options })

/**
 * What a client says about its device, such as its model. It is informational, so it never refuses a request: what is
 * longer than `max` characters is cut, and control characters become spaces.
 */
export const ClientDetail = ({ max, ...options }: TStringOptions & { max: number }) =>
  Type.String({ cutTo: max, description: `Cut to ${max} characters`, ...options })

/** A password, code or token: not trimmed, `min` (1) to `max` characters long. */
export const Secret = ({ min = 1, max, ...options }: Length) =>
  Type.String({ minLength: min, maxLength: max, ...options })

/** A point in time in a response: accepts a Date or an ISO 8601 string, and is written as ISO 8601. */
export const Timestamp = Type.Unsafe<Date | string>({
  type: 'string',
  format: 'date-time',
  examples: ['2026-03-14T07:30:00.000Z']
})

/** A point in time in a request: an ISO 8601 date and time with an offset, read by `parseInstant` and passed on in UTC. */
export const Instant = Type.String({
  instant: true,
  format: 'date-time',
  examples: ['2026-03-14T07:30:00+07:00']
})

/**
 * The point in time that an ISO 8601 text means. Clients leave out what changes nothing: `2026-03-14T07:30+0700` has one
 * meaning. @returns undefined if it has none
 */
export function parseInstant (text: string): Temporal.Instant | undefined {
  try {
    return Temporal.Instant.from(text.trim())
  } catch {
    return
  }
}

/** A date, `2026-02-28`. Dates that do not exist are rejected. */
export const IsoDate = Type.String({ transform: ['trim'], format: 'date', examples: ['1998-04-12'] })

/** A URL from a client: http or https, without credentials, at most 2,048 characters. It is never fetched. */
export const ClientUrl = Type.String({
  transform: ['trim'],
  format: 'client-url',
  maxLength: 2048,
  examples: ['https://cdn.example.com/photos/1b4e28ba.webp']
})

/**
 * `schema` as a component of the OpenAPI document with this name, which clients get as a model. A name belongs to one
 * schema in all services.
 */
export const named = <Schema extends TSchema>(schemaName: string, schema: Schema): Schema =>
  // A schema has properties that are not enumerable, which a spread would lose.
  Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(schema),
    schemaName: { value: schemaName, enumerable: true }
  }) as Schema

/** One of `values`. */
export const Enum = <const Values extends string[]>(values: readonly [...Values], options: TSchemaOptions = {}) =>
  Type.Enum(values, { type: 'string', ...options })

/** `schema` or null. */
export const Nullable = <Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options)

/**
 * An object that a client sends: a body or an object inside one. Undeclared fields are dropped. For an optional field
 * that is not nullable, null counts as missing.
 */
export const Body = <Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, dropNulls: true, ...options })

/** The headers of a request that clients can safely repeat. Read them with `readIdempotencyKey`. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Chosen by the client. A repeat within 24 hours gets the response of the first request.'
  }))
})

/**
 * The query of a list: `limit` (1 to 50), `cursor`, and `properties`. An empty cursor counts as missing, because
 * many clients send one for the first page.
 */
export const PageQuery = <Properties extends TProperties = Record<never, never>>(
  properties: Properties = {} as Properties
) =>
  Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
    cursor: Type.Optional(Cursor),
    ...properties
  }, { dropEmpty: ['cursor'] })

/** The `cursor` of the next page. */
export const NextCursor = Nullable(Type.String({ examples: ['019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'] }), {
  description: 'null on the last page'
})

/** `{ success: true, data }` */
export const Data = <Schema extends TSchema>(schema: Schema) =>
  Type.Object({ success: Type.Literal(true), data: schema })

/** `{ success: true, message }` */
export const Message = named(
  'Message',
  Type.Object({ success: Type.Literal(true), message: Type.String({ examples: ['Done'] }) })
)

const FieldErrorSchema = named(
  'FieldError',
  Type.Object({
    field: Type.String({ description: 'The path of the field', examples: ['exercises.0.name'] }),
    message: Type.String({ examples: ['exercises.0.name is required'] })
  })
)

/** `{ success: false, error, code }`, with `details` for errors about fields. */
export const Failure = Type.Object({
  success: Type.Literal(false),
  error: Type.String({ description: 'A message for people', examples: ['There is no such post'] }),
  code: Type.String({ description: 'The error code, for programs', examples: ['NOT_FOUND'] }),
  details: Type.Optional(
    Type.Array(FieldErrorSchema, { description: 'One entry for each invalid field', examples: [[]] })
  )
})
