import Type from 'typebox'
import { connect } from '@tandem/database-kit'
import { runShell } from '@tandem/operator-kit'
import { createLogger, List, readConfig, Urls } from '@tandem/process-kit'
import type { Tables } from '../tables.ts'
import { runCommand, usage } from './commands.ts'

const Config = Type.Object({ DATABASE_URL: Urls(), WEBHOOK_PRIVATE_HOSTS: List() })

await runShell(usage, async (args) => {
  const { DATABASE_URL, WEBHOOK_PRIVATE_HOSTS } = readConfig(Config)
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('notification-operator'), maxConnections: 1 })
  return await runCommand(db, WEBHOOK_PRIVATE_HOSTS, args).finally(async () => await db.destroy())
})
