import Type from 'typebox'
import { connect } from '@tandem/database-kit'
import { createLogger, readConfig, Url } from '@tandem/service-kit'
import type { Tables } from '../tables.ts'
import { runCommand, Misuse, usage } from './commands.ts'

try {
  const { DATABASE_URL, SECRET } = readConfig(Type.Object({ DATABASE_URL: Url(), SECRET: Type.Optional(Type.String({ minLength: 32 })) }))
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('identity-operator') })
  const publishedEvents = await runCommand(db, SECRET, process.argv.slice(2)).finally(async () => await db.destroy())
  if (typeof publishedEvents === 'string') console.log(publishedEvents)
  else console.table(publishedEvents)
} catch (error) {
  console.error(error instanceof Misuse ? usage : error instanceof Error ? error.message : error)
  process.exitCode = 1
}
