import { sql } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import { isOfAge } from '../people/queries.ts'
import { isBlockedBetween, isSuspended } from '../people/visibility.ts'

/** Whether `viewer` takes part in the current activity: hosts it, goes to it, or is invited. */
export const isInside = (viewer: string) =>
  sql<boolean>`exists (select from activity_participants inside
    where inside.activity_id = activities.id and inside.account_id = ${viewer} and inside.state in ('INVITED', 'GOING'))`

/** Whether the host of the current activity is old enough to meet people. */
export const hasHostOfAge = (minAge: number) =>
  sql<boolean>`not exists (
    select from profiles where profiles.account_id = activities.host_id and ${isOfAge(minAge)} is not true)`

/** Whether the person has a place in the current activity, an invitation or a request. They can always end that. */
export const hasPart = (accountId: string) =>
  sql<boolean>`exists (select from activity_participants part
    where part.activity_id = activities.id and part.account_id = ${accountId}
      and part.state in ('INVITED', 'GOING', 'ASKED'))`

/**
 * Whether `viewer` can see the current activity. Every endpoint of activities checks this. A block between the viewer
 * and the host hides it in every case. People who do not take part see open activities that are still planned, and
 * those that they asked for or declined, unless somebody who takes part has blocked them.
 */
export const canSeeActivity = (viewer: string, now: Date) =>
  sql<boolean>`(activities.host_id = ${viewer} or (
    not ${isBlockedBetween(sql<string>`activities.host_id`, viewer)}
    and ${isNotHidden(sql`activities.host_id`)}
    and (${isInside(viewer)} or (
      coalesce(
        (select own.state in ('ASKED', 'DECLINED') from activity_participants own
          where own.activity_id = activities.id and own.account_id = ${viewer}),
        activities.visibility = 'OPEN' and activities.status = 'PLANNED' and activities.ends_at > ${now}::timestamptz)
      and not exists (select from activity_participants other join blocks on blocker_id = other.account_id
        where other.activity_id = activities.id and other.state in ('INVITED', 'GOING') and blocked_id = ${viewer})))))`

/**
 * Whether `viewer` can see the profile of `participant`, the row of another person in the same activity. Somebody who
 * was invited because they follow the host shows it by accepting.
 */
export const canSeeParticipant = (viewer: string) =>
  sql<boolean>`(participant.account_id = ${viewer} or (not participant.by_account and ${isParticipantFor(viewer)}))`

/**
 * Whether `participant` exists for `viewer`. A suspension ends places in activities to come; in past ones it hides the
 * person, as everywhere in FitMatch.
 */
export const isParticipantFor = (viewer: string) =>
  sql<boolean>`(
    not ${isBlockedBetween(sql<string>`participant.account_id`, viewer)}
    and ${isNotHidden(sql`participant.account_id`)}
    and not ${isSuspended(sql<string>`participant.account_id`)})`
