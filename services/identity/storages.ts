import path from 'node:path'
import type { Readable } from 'node:stream'
import Type from 'typebox'
import { createStorage, StorageEnvironment, type Storage } from '@tandem/media-kit'
import { ConfigError } from '@tandem/process-kit'

export const StorageVariables = {
  ...StorageEnvironment,
  LEDGER_DIR: Type.Optional(
    Type.String({
      description:
        'The folder of the ledger of erasures and of exports, unless S3_* is set; back it up apart from Postgres'
    })
  ),
  SELFIE_DIR: Type.Optional(
    Type.String({ description: 'The folder of selfies; defaults to `selfies` beside MEDIA_DIR' })
  ),
  S3_PRIVATE_BUCKET: Type.Optional(
    Type.String({ description: 'A bucket that is never served; holds the ledger, exports, private media and selfies' })
  )
}

type Variables = Partial<Record<keyof typeof StorageVariables, string>>

/** The storage of the ledger and of exports. Nothing in it is ever served by its key. @throws ConfigError */
export const createPrivateStorage = ({ LEDGER_DIR, S3_PRIVATE_BUCKET, ...variables }: Variables) =>
  createOrExplain(
    { ...variables, MEDIA_DIR: LEDGER_DIR, S3_BUCKET: S3_PRIVATE_BUCKET },
    'set LEDGER_DIR, or S3_ENDPOINT with S3_PRIVATE_BUCKET and its keys'
  )

/** Reads what people uploaded. Undefined if there is no such file. @throws Unavailable */
export type ReadFile = (key: string) => Promise<Readable | undefined>

/** @throws ConfigError */
export function createFileReader (variables: Variables): ReadFile {
  const media = createOrExplain(variables, 'set MEDIA_DIR, or S3_ENDPOINT with S3_BUCKET and its keys')
  const { MEDIA_DIR = '', SELFIE_DIR = path.join(MEDIA_DIR, '..', 'selfies'), S3_ENDPOINT } = variables
  const selfies = S3_ENDPOINT ? createPrivateStorage(variables) : createStorage({ MEDIA_DIR: SELFIE_DIR })
  return async (key) => await (key.startsWith('selfies/') ? selfies : media).read(key)
}

function createOrExplain (variables: Parameters<typeof createStorage>[0], remedy: string): Storage {
  try {
    return createStorage(variables)
  } catch {
    throw new ConfigError(remedy)
  }
}
