import { sql } from 'kysely'
import { FitMatchModeration, PeopleNamed, SocialModeration } from '@tandem/contracts'
import { isUuid } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import { readAccountId } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { UserNotFound } from '../errors.ts'
import { orderDigest } from '../purchases/actions.ts'
import { listLinks } from '../provider-links/queries.ts'
import { readStanding, strikesCount } from '../decisions/queries.ts'
import type { Db } from '../tables.ts'

// Of Google Play, and the transaction ids of the App Store.
const ORDER_ID = /^(GPA\.[\d.-]+|\d{10,20})$/

/** The account of an exact address, username, id or order id of a store. @throws UserNotFound, Unavailable */
export async function findPerson ({ db, callRpc, secrets }: Pick<Deps, 'db' | 'callRpc' | 'secrets'>, text: string) {
  if (ORDER_ID.test(text)) {
    const purchase = await db.selectFrom('purchases').where('order_digest', '=', orderDigest({ secrets }, text))
      .where('account_id', 'is not', null).select('account_id').executeTakeFirst()
    if (!purchase?.account_id) throw new UserNotFound()
    return purchase.account_id
  }
  if (text.includes('@') && !text.startsWith('@')) return await readAccountId(db, { email: text })
  if (isUuid(text)) return await readAccountId(db, { id: text })
  const [person] = await callRpc(PeopleNamed, { usernames: [text.replace(/^@/, '').toLowerCase()] })
  if (!person) throw new UserNotFound()
  return person.accountId
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
      sql<boolean>`leaving_at is not null`.as('isDeletionPending'),
      strikesCount.as('strikes'),
      sql<number>`(select count(*) from sessions where account_id = accounts.id and ended_at is null)`.as('sessions')
    ]).executeTakeFirst()
  if (!account) throw new UserNotFound()
  const { status, restrictions } = await readStanding(db, accountId)
  const providers = await listLinks(db, accountId)
  return { ...account, email: maskEmail(account.email), status, restrictions, providers }
}

/**
 * The cases about a person and their reports, as the services count them that have some; null for one that is
 * unavailable.
 */
export async function readModeration ({ callRpc }: Pick<Deps, 'callRpc'>, accountId: string) {
  const nullIfUnavailable = (error: unknown) => {
    if (error instanceof Unavailable) return null
    throw error
  }
  const [social, fitmatch] = await Promise.all([
    callRpc(SocialModeration, { accountId }).catch(nullIfUnavailable),
    callRpc(FitMatchModeration, { accountId }).catch(nullIfUnavailable)
  ])
  return { social, fitmatch }
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
