import { sql } from 'kysely'
import { isHidden } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { ActivityConfirmed } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { ParticipantNotFound } from '../errors.ts'
import { readAdult, readParticipant } from '../people/queries.ts'
import { endPlace } from './endings.ts'
import { listInvitable, lockPeople, publishInvited } from './invitations.ts'
import { findParticipant, lockPlanned, setState } from './locks.ts'
import { eventFieldsOf, readCard, takePlace } from './places.ts'
import { readActivity } from './queries.ts'
import type { Db } from '../tables.ts'

/**
 * The account of a participant, who is named as the host sees them: by their profile, or, while they are invited as a
 * follower, by their account. Any other account does not exist here: the answer would say whose profile it is.
 */
async function findNamed (db: Db, activityId: string, userId: string) {
  const participant = await db.selectFrom('activity_participants as participant')
    .leftJoin('profiles', 'profiles.account_id', 'participant.account_id')
    .where('activity_id', '=', activityId)
    .where(sql<boolean>`case when by_account then participant.account_id else profiles.id end = ${userId}`)
    .select('participant.account_id as accountId')
    .executeTakeFirst()
  return participant?.accountId
}

type HostDeps = Pick<Deps, 'db' | 'minAge' | 'now'>

/**
 * Answers a person who asked for a place. If the time or the place changed after they asked, a yes invites them: nobody
 * goes to a version that they have not seen. A no is never published.
 */
export async function answerRequest (
  { db, minAge, now }: HostDeps,
  hostId: string,
  activityId: string,
  { userId, accept }: { userId: string, accept: boolean }
) {
  const me = accept ? await readAdult({ db, minAge }, hostId) : await readParticipant(db, hostId)
  const accountId = await findNamed(db, activityId, userId)
  return await db.transaction().execute(async (trx) => {
    await lockPeople(trx, hostId, accountId === undefined ? [] : [accountId])
    const activity = await lockPlanned(trx, hostId, activityId, now())
    if (accountId === undefined) throw new ParticipantNotFound()
    const participant = await findParticipant(trx, activityId, accountId)
    const isRepeated = participant?.state === (accept ? 'GOING' : 'REFUSED')
    if (isRepeated) return await readActivity(trx, me, activityId, now())
    if (participant?.state !== 'ASKED') throw new ParticipantNotFound()
    const candidates = { accountIds: [accountId], followerIds: new Set<string>() }
    const [allowed] = await listInvitable(trx, candidates, { hostId, activityId, minAge, isConnected: true })
    if (!allowed) throw new ParticipantNotFound()
    if (!accept) {
      await setState(trx, { activityId, accountId, state: 'REFUSED' })
    } else if (participant.version !== activity.version) {
      await setState(trx, { activityId, accountId, state: 'INVITED', version: activity.version })
      await publishInvited(trx, activity, [accountId])
    } else {
      await takePlace(trx, activityId)
      await setState(trx, { activityId, accountId, state: 'GOING' })
      await publish(trx, ActivityConfirmed, activityId, {
        ...eventFieldsOf(activity),
        accountId,
        confirmedBy: hostId,
        ...await readCard(trx, hostId)
      })
    }
    return await readActivity(trx, me, activityId, now())
  })
}

/** Removes a guest, or withdraws their invitation. Those who had a place are notified. */
export async function removeParticipant (
  { db, now }: HostDeps,
  hostId: string,
  activityId: string,
  userId: string
) {
  const me = await readParticipant(db, hostId)
  return await db.transaction().execute(async (trx) => {
    const activity = await lockPlanned(trx, hostId, activityId, now())
    const accountId = await findNamed(trx, activityId, userId)
    if (!accountId || accountId === hostId || await isHidden(trx, accountId)) throw new ParticipantNotFound()
    await endPlace(trx, activity, { accountId, isNotified: true })
    return await readActivity(trx, me, activityId, now())
  })
}
