import { parseArgs } from 'node:util'
import { connect } from '@tandem/database-kit'
import { createLogger } from '@tandem/service-kit'
import { rotateSigningKeys } from '../keys/actions.ts'
import type { Role, Tables } from '../schema.ts'
import { createSecrets } from '../secrets.ts'
import { listSessions } from '../sessions/queries.ts'
import { endAllSessions, setBarred, setRole, setSubscription } from './actions.ts'
import { findAccountIdByEmail } from './queries.ts'

const usage = `usage: pnpm --filter @tandem/identity <command>, with DATABASE_URL of the identity service

  grant role <email> ADMIN|USER             the account's sessions end, so that its tokens show the role
  grant subscription <email> <plan> <days>  0 days end it
  sessions list|end <email>
  bar <email>                               ends all sessions and lets none begin
  unbar <email>
  keys rotate                               a new signing key takes over in 15 minutes; needs SECRET`

const { positionals } = parseArgs({ allowPositionals: true })
const { DATABASE_URL, SECRET } = process.env
if (!DATABASE_URL) fail('DATABASE_URL is missing')
const db = connect<Tables>(DATABASE_URL, { log: createLogger('identity-operator') })

try {
  await carryOut(positionals)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
} finally {
  await db.destroy()
}

async function carryOut ([command, what, ...rest]: string[]) {
  switch (`${command} ${what}`) {
    case 'grant role': {
      const [email, role] = rest
      if (!email || (role !== 'ADMIN' && role !== 'USER')) fail(usage)
      await setRole(db, email, role satisfies Role)
      return console.log(`${email} is ${role} from the next sign-in on`)
    }
    case 'grant subscription': {
      const [email, plan, days] = rest
      if (!email || !plan || !/^\d{1,5}$/.test(days ?? '')) fail(usage)
      await setSubscription(db, email, plan, Number(days))
      return console.log(Number(days) > 0 ? `${email} has ${plan} for ${days} days` : `${email} has no subscription any more`)
    }
    case 'sessions list': {
      const account = await findAccountIdByEmail(db, rest[0] ?? fail(usage))
      return console.table(await listSessions(db, account))
    }
    case 'sessions end':
      return console.log(`${await endAllSessions(db, rest[0] ?? fail(usage))} sessions ended`)
    case 'keys rotate':
      await rotateSigningKeys(db, createSecrets(SECRET ?? fail('SECRET is missing')))
      return console.log('a new key signs in 15 minutes; run this again for the next one')
    default:
      if (what && (command === 'bar' || command === 'unbar')) {
        await setBarred(db, what, command === 'bar')
        return console.log(`${what} is ${command === 'bar' ? 'kept out' : 'let in again'}`)
      }
      fail(usage)
  }
}

function fail (reason: string): never {
  console.error(reason)
  process.exit(1)
}
