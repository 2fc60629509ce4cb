import Type from 'typebox'
import { connect } from '@tandem/database-kit'
import { createLogger, readConfig, Url } from '@tandem/process-kit'
import { createLedgerStorage, LedgerVariables } from '../erasures/ledger-storage.ts'
import { createLedger } from '../erasures/ledger.ts'
import type { Tables } from '../tables.ts'
import { runCommand, UsageError, usage } from './commands.ts'

try {
  const { DATABASE_URL, SECRET, ...storage } = readConfig(
    Type.Object({ DATABASE_URL: Url(), SECRET: Type.Optional(Type.String({ minLength: 32 })), ...LedgerVariables })
  )
  const ledger = storage.LEDGER_DIR || storage.S3_ENDPOINT ? createLedger(createLedgerStorage(storage)) : undefined
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('identity-operator') })
  const result = await runCommand(db, { secret: SECRET, ledger }, process.argv.slice(2)).finally(async () =>
    await db.destroy()
  )
  if (typeof result === 'string') console.log(result)
  else console.table(result)
} catch (error) {
  console.error(error instanceof UsageError ? usage : error instanceof Error ? error.message : error)
  process.exitCode = 1
}
