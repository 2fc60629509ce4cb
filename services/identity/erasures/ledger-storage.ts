import Type from 'typebox'
import { createStorage } from '@tandem/media-kit'
import { ConfigError, Url } from '@tandem/process-kit'

export const LedgerVariables = {
  LEDGER_DIR: Type.Optional(
    Type.String({
      description: 'The folder of the ledger of erasures, unless S3_* is set; back it up apart from Postgres'
    })
  ),
  S3_ENDPOINT: Type.Optional(Url()),
  S3_PRIVATE_BUCKET: Type.Optional(Type.String({ description: 'A bucket that is never served; holds the ledger' })),
  S3_REGION: Type.Optional(Type.String()),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String()),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String())
}

/** The storage of the ledger. @throws ConfigError */
export function createLedgerStorage (
  { LEDGER_DIR, S3_PRIVATE_BUCKET, ...variables }: Partial<Record<keyof typeof LedgerVariables, string>>
) {
  try {
    return createStorage({ ...variables, MEDIA_DIR: LEDGER_DIR, S3_BUCKET: S3_PRIVATE_BUCKET })
  } catch {
    throw new ConfigError('set LEDGER_DIR, or S3_ENDPOINT with S3_PRIVATE_BUCKET and its keys')
  }
}
