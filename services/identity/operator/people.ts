import { sql } from 'kysely'
import { PeopleNamed } from '@tandem/contracts'
import { RateLimited } from '@tandem/http-kit'
import { Counter } from 'prom-client'
import type { Deps } from '../deps.ts'
import { UserNotFound } from '../errors.ts'
import { readStanding } from '../standing/queries.ts'
import type { Db } from '../tables.ts'

const PEOPLE_PER_HOUR = 60

const limitReached = new Counter({
  name: 'operator_people_limit_total',
  help: 'Requests of operators for more people than they may look at in an hour'
})
limitReached.inc(0)

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The account of an exact address, username or id. @throws UserNotFound, Unavailable */
export async function findPerson ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>, text: string) {
  if (text.includes('@') && !text.startsWith('@')) {
    const account = await db.selectFrom('accounts').where('email', '=', text.toLowerCase())
      .where('expired_at', 'is', null).select('id').executeTakeFirst()
    if (!account) throw new UserNotFound()
    return account.id
  }
  if (UUID.test(text)) return text.toLowerCase()
  const [person] = await callRpc(PeopleNamed, { usernames: [text.replace(/^@/, '').toLowerCase()] })
  if (!person) throw new UserNotFound()
  return person.accountId
}

/**
 * Counts a person that an operator looks at: at most 60 different ones in an hour. It is one statement, so requests at
 * once cannot all be the last one.
 * @throws RateLimited
 */
export async function countPerson (db: Db, staffId: string, accountId: string) {
  const { rows } = await sql`
    insert into staff_reads as known (staff_id, hour, people)
    values (${staffId}, date_trunc('hour', now()), array[${accountId}::uuid])
    on conflict (staff_id, hour) do update set
      people = case when ${accountId}::uuid = any(known.people) then known.people
        else known.people || ${accountId}::uuid end
      where ${accountId}::uuid = any(known.people) or cardinality(known.people) < ${PEOPLE_PER_HOUR}
    returning staff_id`.execute(db)
  if (rows.length > 0) return
  limitReached.inc()
  throw new RateLimited(3_600)
}

/** What operators see of an account. The address is masked. @throws UserNotFound */
export async function readPerson (db: Db, accountId: string) {
  const account = await db.selectFrom('accounts').where('id', '=', accountId).where('expired_at', 'is', null)
    .select([
      'id as accountId',
      'name',
      'email',
      'created_at as memberSince',
      sql<boolean>`email_verified_at is not null`.as('emailVerified'),
      sql<boolean>`leaving_at is not null`.as('isLeaving'),
      sql<number>`(select count(*) from strikes where account_id = accounts.id and removed_at is null)`.as('strikes'),
      sql<number>`(select count(*) from sessions where account_id = accounts.id and ended_at is null)`.as('sessions')
    ]).executeTakeFirst()
  if (!account) throw new UserNotFound()
  const { status, restrictions } = await readStanding(db, accountId)
  return { ...account, email: maskEmail(account.email), status, restrictions }
}

/** `ana@example.com` as `a•••@example.com`. */
const maskEmail = (email: string) => email.replace(/^(.).*(@.*)$/, '$1•••$2')

/** The address itself, for those who answer people. @throws UserNotFound */
export async function readContact (db: Db, accountId: string) {
  const account = await db.selectFrom('accounts').where('id', '=', accountId).where('expired_at', 'is', null)
    .select(['email', 'locale']).executeTakeFirst()
  if (!account) throw new UserNotFound()
  return account
}
