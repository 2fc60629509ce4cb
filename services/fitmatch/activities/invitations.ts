import { sql } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { ActivityInvited, Connection, ParticipationChanged } from '@tandem/contracts'
import { useDailyQuota } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import { ActivityNotFound, CannotInvite, InviteeNotFound, TooManyInvitations } from '../errors.ts'
import { lockMember } from '../people/actions.ts'
import { lockPair, pairOf } from '../people/pairs.ts'
import { isOfAge, readAdult } from '../people/queries.ts'
import { isBlockedBetween, isConnectedWith } from '../people/visibility.ts'
import { todayIn } from '../today.ts'
import type { Trx } from '../tables.ts'
import { lockPlanned, shareProfiles, type LockedActivity } from './locks.ts'
import { eventFieldsOf, listAccounts, readCard } from './places.ts'
import { readActivity } from './queries.ts'

const INVITATIONS_PER_DAY = 30

export interface Invitees {
  userIds?: string[]
  profileIds?: string[]
}

/** The people that a host wants to invite, as they were found before the transaction. */
export interface Candidates {
  accountIds: string[]
  /** Those that nothing but a follow connects with the host. */
  followerIds: Set<string>
}

/**
 * Finds the people to invite. Unknown and hidden people, and those with a block between them and the host, do not
 * exist for the host. Social is only asked about people who are neither matched with the host nor their buddies, and
 * are named by their account alone: a follow of somebody who is named by their profile would say whose it is.
 * `count` is how many were named, also if two names are one person. The host's own names do not count.
 * @throws InviteeNotFound, or Unavailable if only a follow could connect somebody and social or profile is unavailable
 */
export async function findCandidates (
  { db, callRpc, findPeople }: Pick<Deps, 'db' | 'callRpc' | 'findPeople'>,
  hostId: string,
  { userIds = [], profileIds = [] }: Invitees
): Promise<Candidates & { count: number }> {
  const wanted = new Set([...userIds, ...profileIds])
  if (wanted.size === 0) return { accountIds: [], followerIds: new Set(), count: 0 }
  const ofProfiles = sql`array(select account_id from profiles where id = any(${profileIds}::uuid[]))`
  const rows = await db.selectFrom('members').leftJoin('profiles', 'profiles.account_id', 'members.account_id')
    .leftJoin('people', 'people.account_id', 'members.account_id')
    // One list of accounts, which an index finds. A condition on either table would read all members.
    .where('members.account_id', '=', sql<string>`any(${userIds}::uuid[] || ${ofProfiles})`)
    .where(isNotHidden(sql.ref('members.account_id')))
    .where((eb) => eb.not(isBlockedBetween(hostId, sql<string>`members.account_id`)))
    .select([
      'members.account_id as accountId',
      'profiles.id as profileId',
      isConnectedWith(hostId).as('isConnected'),
      sql<boolean>`people.account_id is not null`.as('hasCopy')
    ])
    .execute()
  const found = new Set(rows.flatMap(({ accountId, profileId }) => [accountId, profileId]))
  if ([...wanted].some((id) => !found.has(id))) throw new InviteeNotFound()
  const others = rows.filter(({ accountId }) => accountId !== hostId)
  const own = rows.find(({ accountId }) => accountId === hostId)
  const unconnected = others.filter(({ accountId, profileId, isConnected }) =>
    profileId !== null && !isConnected && userIds.includes(accountId) && !profileIds.includes(profileId)
  )
  const followers = (await Promise.all(unconnected.map(async ({ accountId, hasCopy }) => {
    const { isFollower = false } = await callRpc(Connection, { accountId: hostId, otherId: accountId })
    return isFollower ? [{ accountId, hasCopy }] : []
  }))).flat()
  // The host sees them under the names of their accounts.
  await findPeople(followers.filter(({ hasCopy }) => !hasCopy).map(({ accountId }) => accountId))
  return {
    accountIds: others.map(({ accountId }) => accountId),
    followerIds: new Set(followers.map(({ accountId }) => accountId)),
    count: wanted.difference(new Set([own?.accountId, own?.profileId])).size
  }
}

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
    .where((eb) => eb.not(isBlockedBetween(hostId, sql<string>`profiles.account_id`)))
    .where(isNotBlockedByAny(accountIds))
    .where((eb) =>
      eb.or([
        isConnectedWith(hostId),
        // A paused profile is shown to nobody but matches, so others do not find out that there is one.
        eb.and([eb('account_id', '=', sql<string>`any(${[...followerIds]}::uuid[])`), eb('paused', '=', false)]),
        eb.val(isConnected)
      ])
    )
    .$if(activityId !== undefined, (query) => query.where(isNotBlockedInside(activityId ?? '')))
    .select('account_id as accountId').orderBy('account_id')
    .execute()
  return rows.map(({ accountId }) => accountId)
}

/** Nobody of these people has blocked the person: invited one after the other, the second would be refused. */
const isNotBlockedByAny = (accountIds: string[]) =>
  sql<boolean>`not exists (
    select from blocks where blocker_id = any(${accountIds}::uuid[]) and blocked_id = profiles.account_id)`

/** Nobody who takes part in the activity has blocked the person. */
const isNotBlockedInside = (activityId: string) =>
  sql<boolean>`not exists (
    select from activity_participants other join blocks on blocker_id = other.account_id
    where other.activity_id = ${activityId}::uuid and other.state in ('INVITED', 'GOING')
      and blocked_id = profiles.account_id)`

/** Invites people to a locked activity. People who take part already, or have asked, stay as they are. */
export async function insertInvitations (
  trx: Trx,
  activity: LockedActivity,
  { accountIds, followerIds }: Candidates
) {
  if (accountIds.length === 0) return
  const invited = await trx.insertInto('activity_participants')
    .values(accountIds.map((accountId) => ({
      activity_id: activity.id,
      account_id: accountId,
      state: 'INVITED' as const,
      version: activity.version,
      by_account: followerIds.has(accountId)
    })))
    .onConflict((conflict) =>
      conflict.columns(['activity_id', 'account_id'])
        .doUpdateSet((eb) => ({
          state: 'INVITED',
          version: activity.version,
          by_account: eb.ref('excluded.by_account')
        }))
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
  { db, callRpc, findPeople, minAge, now }: Deps,
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
  const candidates = await findCandidates({ db, callRpc, findPeople }, hostId, invitees)
  const { accountIds, count } = candidates
  const activity = await db.transaction().execute(async (trx) => {
    const unsuspended = await lockPeople(trx, hostId, accountIds)
    if (!unsuspended.includes(hostId)) await readAdult({ db: trx, minAge }, hostId)
    const locked = await lockPlanned(trx, hostId, activityId, now())
    const invitable = await listInvitable(trx, candidates, { hostId, activityId, minAge })
    const isRefused = invitable.length < accountIds.length
    const present = new Set(await listAccounts(trx, activityId, ['INVITED', 'ASKED', 'GOING']))
    // A request that is sent again invites nobody.
    if (isRefused || accountIds.some((each) => !present.has(each))) await countInvitations(trx, me, count)
    // The transaction commits, for the quota.
    if (isRefused) return
    await insertInvitations(trx, locked, candidates)
    return await readActivity(trx, me, activityId, now())
  })
  if (!activity) throw new CannotInvite()
  return activity
}
