import type { TObjectOptions, TProperties, TSchema, TSchemaOptions, TStringOptions } from 'typebox'
import { Type } from 'typebox'

/** Names nothing: what an id that cannot be one is read as. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/**
 * The id of something. To clients an opaque string; within, a uuid in lower case. A string that cannot be a uuid is read as the nil
 * uuid, so a route finds nothing and answers its own not-found, and Postgres never sees what it would choke on.
 */
export const Id = Type.String({ opaqueId: true, examples: ['019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'] })

/** The `nextCursor` of an earlier page. Anything that is not a uuid is refused. */
export const Cursor = Type.String({ format: 'uuid', examples: ['019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'] })

type Length = TStringOptions & { min?: number, max: number }

/** Text from a person: trimmed, then `min` (1) to `max` characters long. */
export const Text = ({ min = 1, max, ...options }: Length) =>
  Type.String({ transform: ['trim'], minLength: min, maxLength: max, ...options })

/** A password, code or token: taken as it comes, `min` (1) to `max` characters long. */
export const Secret = ({ min = 1, max, ...options }: Length) => Type.String({ minLength: min, maxLength: max, ...options })

/** A moment in an answer: takes a Date or an ISO 8601 string, and writes ISO 8601. */
export const Timestamp = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time', examples: ['2026-03-14T07:30:00.000Z'] })

/** A moment in a request: an ISO 8601 date and time with its offset. */
export const Instant = Type.String({ transform: ['trim'], format: 'date-time', examples: ['2026-03-14T07:30:00+07:00'] })

/** A day, `2026-02-28`. Days that never were are refused. */
export const IsoDate = Type.String({ transform: ['trim'], format: 'date', examples: ['1998-04-12'] })

/** A web address given by a client. It is never fetched: http or https, no user or password in it, at most 2,048 characters. */
export const ClientUrl = Type.String({ transform: ['trim'], format: 'client-url', maxLength: 2048, examples: ['https://cdn.example.com/photos/1b4e28ba.webp'] })

/** One of `values`. */
export const Enum = <const Values extends string[]>(values: readonly [...Values], options: TSchemaOptions = {}) =>
  Type.Enum(values, { type: 'string', ...options })

/** `schema` or null. */
export const Nullable = <Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) => Type.Union([schema, Type.Null()], options)

/**
 * What a client sends: fields that are not named here are dropped, and null is as good as nothing for a field that may be left out and cannot be null.
 * Of use for bodies and for objects inside them.
 */
export const Body = <Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, dropNulls: true, ...options })

/** The headers of a request that its client may send again, to be read with `idempotencyOf`. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({
    minLength: 1, maxLength: 255, description: 'Chosen by the client: repeated within 24 hours, the request is answered as the first time'
  }))
})

/** The query of a list: `limit` (1 to `max`), `cursor`, and `properties`. For its first page a client has no cursor yet, and many send it empty. */
export const PageQuery = <Properties extends TProperties = Record<never, never>>(properties: Properties = {} as Properties, { limit = 20, max = 50 } = {}) =>
  Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: max, default: limit }),
    cursor: Type.Optional(Cursor),
    ...properties
  }, { dropEmpty: ['cursor'] })

/** Where the next page begins: the `cursor` to ask it with. */
export const NextCursor = Nullable(Type.String({ examples: ['019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'] }), { description: 'null when no page follows' })

/** `{ success: true, data }` */
export const Data = <Schema extends TSchema>(schema: Schema) => Type.Object({ success: Type.Literal(true), data: schema })

/** `{ success: true, message }` */
export const Message = Type.Object({ success: Type.Literal(true), message: Type.String({ examples: ['Done'] }) })

/** `{ success: false, error, code }` */
export const Failure = Type.Object({
  success: Type.Literal(false),
  error: Type.String({ description: 'A sentence for a person', examples: ['There is no such post'] }),
  code: Type.String({ description: 'What a program decides by', examples: ['NOT_FOUND'] })
})
