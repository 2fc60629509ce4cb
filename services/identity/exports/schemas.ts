import Type from 'typebox'
import { Enum, named, Nullable, Timestamp } from '@tandem/http-kit'

/** A copy of a person's data, as its owner sees it. */
export const Export = named(
  'DataExport',
  Type.Object({
    id: Type.String({ examples: ['3f1c2b7e-52c4-4e0a-9d1b-6f0a8c7d5e21'] }),
    status: Enum(['PENDING', 'RUNNING', 'READY', 'FAILED', 'EXPIRED'], {
      description: 'READY: the link is in an email; EXPIRED: the link has ended, or the copy was deleted'
    }),
    progress: Type.Integer({ description: 'Percent', examples: [40] }),
    bytes: Nullable(Type.Integer({ examples: [7340032] })),
    readyAt: Nullable(Timestamp),
    expiresAt: Nullable(Timestamp)
  })
)
