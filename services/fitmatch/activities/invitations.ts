import { sql } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import { publish, type CallRpc } from '@tandem/bus-kit'
import { ActivityInvited, Connection, ParticipationChanged } from '@tandem/contracts'
import { useDailyQuota } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import { ActivityNotFound, CannotInvite, InviteeNotFound, TooManyInvitations } from '../errors.ts'
import { lockMember } from '../people/actions.ts'
import { lockPair, pairOf } from '../people/pairs.ts'
import { isOfAge, readAdult } from '../people/queries.ts'
import { isBlockedBy, isConnectedWith } from '../people/visibility.ts'
import { todayIn } from '../today.ts'
import type { Db, Trx } from '../tables.ts'
import { lockPlanned, shareProfiles, type LockedActivity } from './locks.ts'
import { eventFieldsOf, readCard } from './places.ts'
import { readActivity } from './queries.ts'

const INVITATIONS_PER_DAY = 30

export interface Invitees {
  userIds?: string[]
  profileIds?: string[]
}

/** The people that a host wants to invite, as they were found before the transaction. */
interface Candidates {
  accountIds: string[]
  followerIds: Set<string>
}

/**
 * Finds the people to invite. Unknown and hidden people, and those with a block between them and the host, do not
 * exist for the host. Social is only asked about people who are neither matched with the host nor their buddies.
 * @throws InviteeNotFound, or Unavailable if only a follow could connect somebody and social is unavailable
 */
export async function findCandidates (
  { db, callRpc }: { db: Db, callRpc: CallRpc },
  hostId: string,
  { userIds = [], profileIds = [] }: Invitees
): Promise<Candidates> {
  const wanted = new Set([...userIds, ...profileIds])
  wanted.delete(hostId)
  if (wanted.size === 0) return { accountIds: [], followerIds: new Set() }
  const rows = await db.selectFrom('members').leftJoin('profiles', 'profiles.account_id', 'members.account_id')
    .where((eb) =>
      eb.or([
        eb('members.account_id', '=', sql<string>`any(${userIds}::uuid[])`),
        eb('profiles.id', '=', sql<string>`any(${profileIds}::uuid[])`)
      ])
    )
    .where('members.account_id', '<>', hostId)
    .where(isNotHidden(sql.ref('members.account_id')))
    .where(sql<boolean>`not ${isBlockBetween(hostId)}`)
    .select(['members.account_id as accountId', 'profiles.id as profileId', isConnectedWith(hostId).as('isConnected')])
    .execute()
  const found = new Set(rows.flatMap(({ accountId, profileId }) => [accountId, profileId]))
  if ([...wanted].some((id) => !found.has(id))) throw new InviteeNotFound()
  const unconnected = rows.filter(({ profileId, isConnected }) => profileId !== null && !isConnected)
  const followerIds = await Promise.all(unconnected.map(async ({ accountId }) => {
    const { isFollower = false } = await callRpc(Connection, { accountId: hostId, otherId: accountId })
    return isFollower ? [accountId] : []
  }))
  return { accountIds: rows.map(({ accountId }) => accountId), followerIds: new Set(followerIds.flat()) }
}

const isBlockBetween = (hostId: string) =>
  sql<boolean>`exists (select from blocks where (blocker_id = ${hostId} and blocked_id = members.account_id)
    or (blocker_id = members.account_id and blocked_id = ${hostId}))`

/** Uses one of the day's invitations for each person. @throws TooManyInvitations */
export async function countInvitations (
  trx: Trx,
  { accountId, timezone }: { accountId: string, timezone: string },
  amount: number
) {
  if (amount === 0) return
  const quota = { name: 'invitations', accountId, day: todayIn(timezone), limit: INVITATIONS_PER_DAY }
  if (await useDailyQuota(trx, { ...quota, amount }) === undefined) throw new TooManyInvitations()
}

/** Locks the host and everyone to invite, so that they stay matched, unblocked and unsuspended. */
export async function lockPeople (trx: Trx, hostId: string, accountIds: string[]) {
  const pairs = accountIds.map((accountId) => pairOf(hostId, accountId))
    .sort((one, other) => `${one.low_id}${one.high_id}` < `${other.low_id}${other.high_id}` ? -1 : 1)
  for (const { low_id, high_id } of pairs) await lockPair(trx, low_id, high_id)
  await lockMember(trx, hostId)
  return await shareProfiles(trx, [hostId, ...accountIds])
}

interface InvitationCheck {
  hostId: string
  /** Undefined for an activity that does not exist yet. */
  activityId?: string
  minAge: number
  /** Whether no match or follow is needed, because the person asked for a place or had one before. */
  isConnected?: boolean
}

/** The candidates that can be invited now. Call it under the locks of `lockPeople`. */
export async function listInvitable (
  trx: Trx,
  { accountIds, followerIds }: Candidates,
  { hostId, activityId, minAge, isConnected = false }: InvitationCheck
) {
  if (accountIds.length === 0) return []
  const rows = await trx.selectFrom('profiles')
    .where('account_id', '=', sql<string>`any(${accountIds}::uuid[])`)
    .where('suspended', '=', false)
    .where(isNotHidden(sql.ref('account_id')))
    .where(isOfAge(minAge))
    .where((eb) => eb.not(isBlockedBy(hostId)))
    .where(hasNotBlocked(hostId))
    .where((eb) =>
      eb.or([
        isConnectedWith(hostId),
        eb('account_id', '=', sql<string>`any(${[...followerIds]}::uuid[])`),
        eb.val(isConnected)
      ])
    )
    .$if(activityId !== undefined, (query) => query.where(isNotBlockedInside(activityId ?? '')))
    .select('account_id as accountId').orderBy('account_id')
    .execute()
  return rows.map(({ accountId }) => accountId)
}

const hasNotBlocked = (accountId: string) =>
  sql<boolean>`not exists (select from blocks where blocked_id = ${accountId} and blocker_id = profiles.account_id)`

/** Nobody who takes part in the activity has blocked the person. */
const isNotBlockedInside = (activityId: string) =>
  sql<boolean>`not exists (
    select from activity_participants other join blocks on blocker_id = other.account_id
    where other.activity_id = ${activityId}::uuid and other.state in ('INVITED', 'GOING')
      and blocked_id = profiles.account_id)`

/** Invites people to a locked activity. People who take part already, or have asked, stay as they are. */
export async function insertInvitations (trx: Trx, activity: LockedActivity, accountIds: string[]) {
  if (accountIds.length === 0) return
  const invited = await trx.insertInto('activity_participants')
    .values(accountIds.map((accountId) => ({
      activity_id: activity.id,
      account_id: accountId,
      state: 'INVITED' as const,
      version: activity.version
    })))
    .onConflict((conflict) =>
      conflict.columns(['activity_id', 'account_id']).doUpdateSet({ state: 'INVITED', version: activity.version })
        .where('activity_participants.state', 'in', ['DECLINED', 'REFUSED', 'LEFT', 'REMOVED'])
    )
    .returning('account_id as accountId')
    .execute()
  const invitedIds = invited.map(({ accountId }) => accountId)
  if (invitedIds.length === 0) return
  await publish(trx, ParticipationChanged, activity.id, { activityId: activity.id, accountIds: invitedIds })
  await publishInvited(trx, activity, invitedIds)
}

export async function publishInvited (trx: Trx, activity: LockedActivity, accountIds: string[]) {
  const { id, hostId } = activity
  const card = await readCard(trx, hostId)
  for (const accountId of accountIds) {
    await publish(trx, ActivityInvited, id, { ...eventFieldsOf(activity), accountId, hostId, ...card })
  }
}

/**
 * Invites people to an activity of the caller: all of them or nobody. Refused invitations count too, so that the
 * refusal cannot be used to find out about many people.
 */
export async function invite (
  { db, callRpc, minAge, now }: Deps,
  hostId: string,
  activityId: string,
  invitees: Invitees
) {
  const me = await readAdult({ db, minAge }, hostId)
  const hosted = await db.selectFrom('activities').where('id', '=', activityId).where('host_id', '=', hostId).select(
    'id'
  )
    .executeTakeFirst()
  if (!hosted) throw new ActivityNotFound()
  const candidates = await findCandidates({ db, callRpc }, hostId, invitees)
  const { accountIds } = candidates
  const activity = await db.transaction().execute(async (trx) => {
    const unsuspended = await lockPeople(trx, hostId, accountIds)
    if (!unsuspended.includes(hostId)) await readAdult({ db: trx, minAge }, hostId)
    const locked = await lockPlanned(trx, hostId, activityId, now())
    await countInvitations(trx, me, accountIds.length)
    const invitable = await listInvitable(trx, candidates, { hostId, activityId, minAge })
    // The transaction commits, for the quota.
    if (invitable.length < accountIds.length) return
    await insertInvitations(trx, locked, accountIds)
    return await readActivity(trx, me, activityId, now())
  })
  if (!activity) throw new CannotInvite()
  return activity
}
