import Type from 'typebox'
import { connect } from '@tandem/database-kit'
import { createLogger, readConfig, Url } from '@tandem/service-kit'
import type { Tables } from '../schema.ts'
import { carryOut, Misuse, usage } from './commands.ts'

try {
  const { DATABASE_URL, SECRET } = readConfig(Type.Object({ DATABASE_URL: Url(), SECRET: Type.Optional(Type.String({ minLength: 32 })) }))
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('identity-operator') })
  const said = await carryOut(db, SECRET, process.argv.slice(2)).finally(async () => await db.destroy())
  if (typeof said === 'string') console.log(said)
  else console.table(said)
} catch (error) {
  console.error(error instanceof Misuse ? usage : error instanceof Error ? error.message : error)
  process.exitCode = 1
}
