import Type from 'typebox'
import { connect } from '@tandem/database-kit'
import { runShell } from '@tandem/operator-kit'
import { createLogger, readConfig, Urls } from '@tandem/process-kit'
import type { Tables } from '../tables.ts'
import { readCommand, usage } from './commands.ts'

// A batch is larger than what a request writes, and nobody waits for it.
const TIMEOUT_FACTOR = 10

await runShell(usage, async (args) => {
  const run = readCommand(args)
  const { DATABASE_URL } = readConfig(Type.Object({ DATABASE_URL: Urls() }))
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('places'), timeoutFactor: TIMEOUT_FACTOR })
  return await run(db).finally(async () => await db.destroy())
})
