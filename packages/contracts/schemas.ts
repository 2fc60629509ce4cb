import Type from 'typebox'

/** The id of anything: a UUID, mostly version 7. */
export const Id = Type.String({ format: 'uuid' })
/** ISO 8601 in UTC, as `Date.toISOString` writes it. */
export const Timestamp = Type.String({ format: 'date-time' })
/** A calendar day, `2026-01-31`. */
export const Day = Type.String({ format: 'date' })

export const Nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
