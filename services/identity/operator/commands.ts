import { replaceSigningKeys, rotateSigningKeys } from '../keys/actions.ts'
import type { Db } from '../tables.ts'
import { createSecrets } from '../secrets.ts'
import { listSecurityEventsOf } from '../security-log/queries.ts'
import { ban, endAllSessions, grantSubscription, setRole, takeSubscription, unban } from './actions.ts'
import { listIssues, listSessionsOf } from './queries.ts'

export const usage = `usage: pnpm --filter @tandem/identity <command>, with DATABASE_URL of the identity service

  grant role <email> ADMIN|USER             the account's sessions end, so that its tokens show the role
  grant subscription <email> <plan> <days>  from now on, in place of the one there is
  take subscription <email>                 ends it now
  sessions list|end <email>
  bar <email>                               ends all sessions and lets none begin
  unbar <email>
  security list <email>                     the latest security events of an account, of the last 90 days
  issues list                               the latest problems that people reported
  keys rotate                               a new signing key takes over in 15 minutes; needs SECRET
  keys replace                              a new signing key takes over at once, for when SECRET was lost; needs the new one`

/** What was typed is no command. */
export class Misuse extends Error {
  override name = 'Misuse'
}

/** Carries out what an operator typed; returns what there is to say of it, or to list. */
export async function runCommand (db: Db, secret: string | undefined, [command, what, ...rest]: string[]): Promise<string | object[]> {
  const [email, ...more] = rest
  switch (`${command} ${what}`) {
    case 'grant role': {
      const [role] = more
      if (role !== 'ADMIN' && role !== 'USER') throw new Misuse()
      await setRole(db, given(email), role)
      return `${email} is ${role} from the next sign-in on`
    }
    case 'grant subscription': {
      const [planId, days = ''] = more
      if (!/^[1-9]\d{0,4}$/.test(days)) throw new Misuse()
      await grantSubscription(db, given(email), { planId: given(planId), days: Number(days) })
      return `${email} has ${planId} for ${days} days`
    }
    case 'take subscription':
      return await takeSubscription(db, given(email)) ? `${email} has no subscription any more` : `${email} had no subscription`
    case 'sessions list':
      return await listSessionsOf(db, given(email))
    case 'sessions end':
      return `${await endAllSessions(db, given(email))} sessions ended`
    case 'security list':
      return await listSecurityEventsOf(db, given(email))
    case 'issues list':
      return await listIssues(db)
    case 'keys rotate':
      await rotateSigningKeys(db, secretsOf(secret))
      return 'a new key signs in 15 minutes'
    case 'keys replace':
      await replaceSigningKeys(db, secretsOf(secret))
      return 'a new key signs; restart the identity service with this SECRET'
  }
  switch (command) {
    case 'bar':
      await ban(db, given(what))
      return `${what} is kept out`
    case 'unbar':
      await unban(db, given(what))
      return `${what} is let in again`
  }
  throw new Misuse()
}

function given (argument: string | undefined) {
  if (!argument) throw new Misuse()
  return argument
}

function secretsOf (secret: string | undefined) {
  if (!secret) throw new Error('SECRET is missing')
  return createSecrets(secret)
}
