import { connect } from '@tandem/database-kit'
import { runShell } from '@tandem/operator-kit'
import { createLogger, readConfig, Urls } from '@tandem/process-kit'
import Type from 'typebox'
import type { Tables } from '../tables.ts'
import { runCommand, usage } from './commands.ts'

await runShell(usage, async (args) => {
  const { DATABASE_URL } = readConfig(Type.Object({ DATABASE_URL: Urls() }))
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('notification-operator'), maxConnections: 1 })
  return await runCommand(db, args).finally(async () => await db.destroy())
})
