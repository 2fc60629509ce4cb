import Type from 'typebox'

/** The id of anything: a UUID, mostly version 7. */
export const Id = Type.String({ format: 'uuid' })
/** ISO 8601 in UTC, as `Date.toISOString` writes it. */
export const Timestamp = Type.String({ format: 'date-time' })
/** A calendar day, `2026-01-31`. */
export const Day = Type.String({ format: 'date' })

export const Nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** What one service erased of an account. */
export const Erased = Type.Object({
  erasureId: Id,
  accountId: Id,
  /** How many rows of each table were deleted or made anonymous. */
  rows: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  files: Type.Integer({ minimum: 0 }),
  /** How many rows stay for a while, as evidence. */
  kept: Type.Integer({ minimum: 0 }),
  /** How many sweeps for late events are still to come. */
  sweepsLeft: Type.Integer({ minimum: 0 })
})

export type AccountErased = Type.Static<typeof Erased>

/** A chat message as one of its two readers sees it. */
export const ChatMessage = Type.Object({
  id: Id,
  matchId: Id,
  senderId: Id,
  isMine: Type.Boolean(),
  content: Nullable(Type.String()),
  imageUrl: Nullable(Type.String()),
  image: Nullable(Type.Object({
    type: Type.Enum(['IMAGE', 'VIDEO']),
    url: Type.String(),
    width: Nullable(Type.Integer()),
    height: Nullable(Type.Integer()),
    blurhash: Nullable(Type.String()),
    thumbnails: Type.Array(Type.Object({ url: Type.String(), width: Type.Integer(), height: Type.Integer() }))
  })),
  createdAt: Timestamp,
  readAt: Nullable(Timestamp)
})

/** A match as the list of matches shows it to one of the two people. */
export const MatchSummary = Type.Object({
  matchId: Id,
  matchType: Type.Enum(['LIKE', 'WORKOUT_BUDDY']),
  matchedAt: Timestamp,
  profile: Type.Object({
    id: Id,
    displayName: Type.String(),
    age: Nullable(Type.Integer()),
    photos: Type.Array(Type.Object({ url: Type.String(), isMain: Type.Boolean() }))
  })
})
