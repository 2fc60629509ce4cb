import { sql, type RawBuilder } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import type { Page } from '@tandem/http-kit'
import { pairOf } from '../people/pairs.ts'
import { haveTrainedTogether, isSuspended } from '../people/visibility.ts'
import type { Db } from '../tables.ts'

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
  const { rows: [relation] } = await sql<Record<'isKnown' | 'isInvisible' | 'areConnected', boolean>>`
    select
      exists (select from people where account_id = ${otherId}) as "isKnown",
      not ${isNotHidden(sql`${otherId}::uuid`)} or ${isSuspended(otherId)} or exists (
        select from blocks where (blocker_id, blocked_id) in ((${accountId}, ${otherId}), (${otherId}, ${accountId}))
      ) as "isInvisible",
      exists (select from buddies where low_id = ${pair.low_id} and high_id = ${pair.high_id})
        or exists (select from buddy_requests where ${isBetween(accountId, otherId)} and ${isOpen})
        or ${haveTrainedTogether(accountId, otherId)} as "areConnected"`
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
      'sport',
      sql.lit('PENDING').$castTo<'PENDING'>().as('status'),
      'created_at as createdAt'
    ])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
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
