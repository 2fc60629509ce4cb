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

/** What came of a case or a report. */
export const Outcome = Type.Enum(['ACTION_TAKEN', 'NO_VIOLATION'])
export type Outcome = Type.Static<typeof Outcome>

/** A case of reports, as identity needs it to decide. */
export const moderation = {
  request: Type.Object({ accountId: Id }),
  response: Type.Object({
    cases: Type.Integer(),
    openCases: Type.Integer(),
    reportsMade: Type.Integer(),
    /** Those after which action was taken. */
    reportsUpheld: Type.Integer()
  })
}

/** A report as its author appeals it. */
export const reportOfPerson = {
  request: Type.Object({ reportId: Id, reporterId: Id }),
  response: Nullable(Type.Object({
    caseId: Id,
    /** Null until operators have decided. */
    decisionId: Nullable(Id),
    outcome: Nullable(Outcome)
  }))
}

export const CaseDescription = Type.Object({
  accountId: Id,
  /** Grows with what a decision has to consider. */
  version: Type.Integer(),
  isOpen: Type.Boolean(),
  targetType: Type.String(),
  targetId: Id,
  /** Whether only administrators see all of its pictures, and decide it. */
  hidesPictures: Type.Optional(Type.Boolean()),
  /** The start of what was reported. */
  excerpt: Nullable(Type.String())
})

/**
 * A page of a person's copy of their data, at most 256 KiB. Every service provides it, and identity makes the copy.
 * `after` is the `next` of the previous page.
 */
export const personalData = {
  request: Type.Object({ accountId: Id, after: Nullable(Type.String()) }),
  response: Type.Object({
    things: Type.Array(Type.Object({
      /** The table. */
      name: Type.String(),
      rows: Type.Array(Type.Record(Type.String(), Type.Unknown())),
      /** The storage keys of their files. */
      files: Type.Array(Type.String())
    })),
    next: Nullable(Type.String())
  })
}

export type PersonalDataPage = Type.Static<typeof personalData.response>

/** What a service still holds of an erased account: rows by table, and how many stay on purpose. */
export const erasureCheck = {
  request: Type.Object({ accountId: Id }),
  response: Type.Object({ left: Type.Record(Type.String(), Type.Integer()), kept: Type.Integer() })
}

/** What clients need to lay out an image before it is loaded. */
const imageDetails = {
  width: Nullable(Type.Integer()),
  height: Nullable(Type.Integer()),
  blurhash: Nullable(Type.String())
}

/** The sizes of an image that was uploaded here; null for others, and for those from before the sizes were stored. */
export const ImageDetails = Nullable(Type.Object(imageDetails))

const pictureOfImage = {
  type: Type.Enum(['IMAGE', 'VIDEO']),
  url: Type.String(),
  ...imageDetails,
  thumbnails: Type.Array(Type.Object({ url: Type.String(), width: Type.Integer(), height: Type.Integer() }))
}

/** A chat message as one of its two readers sees it. */
export const ChatMessage = Type.Object({
  id: Id,
  matchId: Id,
  /** The profile of the sender. */
  senderId: Id,
  isMine: Type.Boolean(),
  content: Nullable(Type.String()),
  imageUrl: Nullable(Type.String()),
  image: Nullable(Type.Object(pictureOfImage)),
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
    photos: Type.Array(
      Type.Object({
        ...Type.Partial(Type.Object(pictureOfImage)).properties,
        url: Type.String(),
        isMain: Type.Boolean()
      })
    )
  })
})
