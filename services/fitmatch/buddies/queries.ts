import { sql, type RawBuilder } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import type { Page } from '@tandem/http-kit'
import { pairOf } from '../people/pairs.ts'
import { haveTrainedTogether, isBlockedBetween, isSuspended } from '../people/visibility.ts'
import type { Db } from '../tables.ts'
import type { Deps } from '../deps.ts'
import { withUsers } from '../people/lookup.ts'
import { mainPhotoOf } from '../photos/queries.ts'

/** How long a request stays open, and how long a refusal holds. */
export const OPEN_DAYS = 90
const openSince = sql<Date>`now() - ${sql.lit(`${OPEN_DAYS} days`)}::interval`

/** Whether a request can still be answered. A declined one can be, because people change their minds. */
export const isOpen = sql<boolean>`(buddy_requests.status <> 'ACCEPTED' and buddy_requests.created_at > ${openSince})`

export const isExpired = sql<boolean>`buddy_requests.created_at <= ${openSince}`
export const hasRefusalExpired = sql<boolean>`refused_at <= ${openSince}`

export const requestColumns = [
  'buddy_requests.id',
  'from_id as fromId',
  'to_id as toId',
  'by_profile as byProfile',
  'buddy_requests.sport',
  'status',
  'created_at as createdAt'
] as const

/** Both directions between two people. */
export const isBetween = (one: string, other: string) =>
  sql<boolean>`((from_id = ${one} and to_id = ${other}) or (from_id = ${other} and to_id = ${one}))`

/**
 * What is already between the caller and another person. Somebody who is hidden, suspended or blocked either way is
 * invisible, so that a refusal does not reveal which.
 */
export async function readRelation (db: Db, accountId: string, otherId: string) {
  const pair = pairOf(accountId, otherId)
  const { rows: [relation] } = await sql<Record<'isKnown' | 'isInvisible' | 'areConnected' | 'haveTrained', boolean>>`
    select
      exists (select from people where account_id = ${otherId}) as "isKnown",
      not ${isNotHidden(sql`${otherId}::uuid`)} or ${isSuspended(otherId)}
        or ${isBlockedBetween(accountId, otherId)} as "isInvisible",
      exists (select from buddies where low_id = ${pair.low_id} and high_id = ${pair.high_id})
        or exists (select from buddy_requests where ${isBetween(accountId, otherId)} and ${isOpen})
        as "areConnected",
      ${haveTrainedTogether(accountId, otherId)} as "haveTrained"`
    .execute(db)
  return relation!
}

/** The open requests of one box, newest first. A declined request is only shown to the person who sent it. */
export async function listRequests (db: Db, accountId: string, box: 'in' | 'out', { cursor, limit }: Page) {
  const [own, other] = box === 'in' ? ['to_id', 'from_id'] as const : ['from_id', 'to_id'] as const
  return await db.selectFrom('buddy_requests')
    .where(own, '=', accountId).where(isOpen).where(isNotHidden(sql.ref(other)))
    .$if(box === 'in', (requests) => requests.where('status', '=', 'PENDING'))
    .$if(cursor !== undefined, (requests) => requests.where('id', '<', cursor as string))
    .select([
      'id',
      `${other} as userId`,
      (box === 'in' ? sql.lit(false) : sql<boolean>`by_profile`).as('showsProfile'),
      'sport',
      sql.lit('PENDING').$castTo<'PENDING'>().as('status'),
      'created_at as createdAt'
    ])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Requests with the other person: of a profile that has not agreed yet, what FitMatch shows. */
export async function withPeople<Row extends { userId: string, showsProfile: boolean }> (deps: Deps, rows: Row[]) {
  const shown = rows.filter(({ showsProfile }) => showsProfile).map(({ userId }) => userId)
  const profiles = shown.length === 0 ? [] : await deps.db.selectFrom('profiles')
    .where('account_id', '=', sql<string>`any(${shown}::uuid[])`)
    .select(['account_id', 'id', 'display_name as name', mainPhotoOf('profiles.id').as('image')])
    .execute()
  const people = await withUsers(deps, rows)
  return people.map(({ showsProfile, user, ...row }) => {
    if (!showsProfile) return { ...row, user }
    const profile = profiles.find(({ account_id }) => account_id === user.id)
    return {
      ...row,
      user: { id: profile?.id ?? '', name: profile?.name ?? 'Someone', image: deps.media.urlOf(profile?.image ?? null) }
    }
  })
}

/** The buddies of an account, newest first. */
export async function listBuddies (db: Db, accountId: string, { cursor, limit }: Page) {
  const other: RawBuilder<string> = sql`case when low_id = ${accountId} then high_id else low_id end`
  return await db.selectFrom('buddies')
    .where((eb) => eb.or([eb('low_id', '=', accountId), eb('high_id', '=', accountId)]))
    .where(isNotHidden(other))
    .$if(cursor !== undefined, (buddies) => buddies.where('id', '<', cursor as string))
    .select(['id', other.as('userId'), 'sport', 'created_at as since'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
