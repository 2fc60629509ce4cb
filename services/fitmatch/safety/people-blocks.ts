import { sql } from 'kysely'
import { hasTombstone } from '@tandem/account-kit'
import { claimOnce, type CallRpc } from '@tandem/bus-kit'
import { People } from '@tandem/contracts'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PersonNotBlocked, PersonNotFound } from '../errors.ts'
import { lockPair } from '../people/pairs.ts'
import type { TimePosition } from '../schemas.ts'
import type { Db, Trx } from '../tables.ts'
import { block, canBeBlockedBy, removeBlock } from './blocks.ts'

// Blocks by account, for people with and without a matching profile. They are the same rows as blocks by profile.

interface PersonBlock {
  blockerId: string
  blockedId: string
  reason: string | null
}

/** Blocks a person who has not blocked the caller. @throws PersonNotFound, Unavailable */
export async function blockPerson ({ db, callRpc }: Deps, personBlock: PersonBlock) {
  const { blockerId, blockedId } = personBlock
  if (blockedId === blockerId) {
    throw new ValidationError('userIdMustNotBeYourOwn', ['userId'])
  }
  const { rows } = await sql`
    select from (select ${blockedId}::uuid as account_id) as profiles where ${canBeBlockedBy(blockerId)}`.execute(db)
  const name = rows.length === 0 ? undefined : await findName(callRpc, blockedId)
  if (name === undefined) throw new PersonNotFound()
  await db.transaction().execute(async (trx) => await insertBlock(trx, personBlock, name))
}

/**
 * Blocks a person because of a report in another service. An event that comes again after the person was unblocked
 * changes nothing.
 * @throws Unavailable
 */
export async function blockReported ({ db, callRpc }: Deps, eventId: string, personBlock: PersonBlock) {
  const name = await findName(callRpc, personBlock.blockedId)
  await db.transaction().execute(async (trx) => {
    if (!await claimOnce(trx, eventId, 'reported person')) return
    const people = [personBlock.blockerId, personBlock.blockedId]
    for (const each of people) if (await hasTombstone(trx, each)) return
    if (name !== undefined) await insertBlock(trx, personBlock, name)
  })
}

async function insertBlock (trx: Trx, { blockerId, blockedId, reason }: PersonBlock, displayName: string) {
  await lockPair(trx, blockerId, blockedId)
  await block(trx, { blockerId, blockedId, profileId: null, displayName, reason })
}

/** The name of the account, never that of the FitMatch profile. Undefined for an unknown person. */
async function findName (callRpc: CallRpc, accountId: string) {
  const [person] = await callRpc(People, { accountIds: [accountId] })
  return person?.name
}

/** Removes a block by account. One in FitMatch stays, and alone is none here. @throws PersonNotBlocked */
export async function unblockPerson (db: Db, blockerId: string, blockedId: string) {
  await db.transaction().execute(async (trx) => {
    // Like `block`: a block in FitMatch at the same time must not go with this one.
    await lockPair(trx, blockerId, blockedId)
    const found = await trx.selectFrom('blocks').where('blocker_id', '=', blockerId)
      .where('blocked_id', '=', blockedId)
      .where((eb) => eb.or([eb.ref('by_account'), eb('profile_id', 'is', null)]))
      .select('profile_id as profileId')
      .executeTakeFirst()
    if (!found) throw new PersonNotBlocked()
    if (found.profileId === null) return await removeBlock(trx, blockerId, blockedId)
    await trx.updateTable('blocks').where('blocker_id', '=', blockerId).where('blocked_id', '=', blockedId)
      .set({ by_account: false })
      .execute()
  })
}

// As precise as a Date, and so as the cursor.
const blockedAt = sql<Date>`date_trunc('milliseconds', created_at)`

/**
 * The people that an account has blocked outside of FitMatch, most recent first. Those that it blocked there are left
 * out: the list would say whose profile it was. The cursor names no block, because that can be gone by the next page.
 */
export async function listBlockedPeople (
  { db, callRpc }: Pick<Deps, 'db' | 'callRpc'>,
  accountId: string,
  { cursor, limit }: { cursor: TimePosition | undefined, limit: number }
) {
  const rows = await db.selectFrom('blocks').where('blocker_id', '=', accountId)
    .$if(
      cursor !== undefined,
      (blocks) => blocks.where(sql<boolean>`(${blockedAt}, blocked_id) < (${cursor?.time}, ${cursor?.id}::uuid)`)
    )
    .where((eb) => eb.or([eb.ref('by_account'), eb('profile_id', 'is', null)]))
    .select([
      'blocked_id as userId',
      sql<string>`case when profile_id is null then display_name else 'Someone' end`.as('displayName'),
      blockedAt.as('blockedAt')
    ])
    .orderBy(blockedAt, 'desc').orderBy('blocked_id', 'desc')
    .limit(limit + 1)
    .execute()
  // A list of blocks must not fail because profile is unavailable.
  const people = rows.length === 0 ?
    [] :
    await callRpc(People, { accountIds: rows.map(({ userId }) => userId) }).catch(() => [])
  return rows.map(({ userId, displayName, blockedAt }) => {
    const person = people.find((each) => each.accountId === userId)
    return { userId, name: person?.name ?? displayName, image: person?.image ?? null, blockedAt }
  })
}
