import { sql, type Expression } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import type { ParticipantState } from '../tables.ts'

/** An account id, or an expression that yields one. */
type AccountId = string | Expression<string>

/**
 * Whether the current profile's owner has not blocked `accountId`. Ignores whether the profile is paused or suspended.
 */
export const hasNotBlocked = (accountId: AccountId) =>
  sql<boolean>`
  not exists (select from blocks where blocked_id = ${accountId} and blocker_id = profiles.account_id)`

/** Whether `accountId` has blocked the current profile's owner. */
export const isBlockedBy = (accountId: AccountId) =>
  sql<boolean>`
  exists (select from blocks where blocker_id = ${accountId} and blocked_id = profiles.account_id)`

/** Whether either of the two has blocked the other. */
export const isBlockedBetween = (one: AccountId, other: AccountId) =>
  sql<boolean>`exists (select from blocks
    where (blocker_id = ${one} and blocked_id = ${other}) or (blocker_id = ${other} and blocked_id = ${one}))`

/** Whether `accountId` is matched with the current profile's owner. */
export const isMatchedWith = (accountId: AccountId) =>
  sql<boolean>`
  exists (select from matches
    where ended_at is null and low_id = least(profiles.account_id, ${accountId})
      and high_id = greatest(profiles.account_id, ${accountId}))`

/** Whether `accountId` is or was matched with the current profile's owner. */
export const wereMatched = (accountId: AccountId) =>
  sql<boolean>`
  exists (select from matches
    where low_id = least(profiles.account_id, ${accountId}) and high_id = greatest(profiles.account_id, ${accountId}))`

/** Whether `accountId` and the current profile's owner chose each other: they are matched, or sport buddies. */
export const isConnectedWith = (accountId: AccountId) =>
  sql<boolean>`(${isMatchedWith(accountId)} or exists (select from buddies
    where low_id = least(profiles.account_id, ${accountId}) and high_id = greatest(profiles.account_id, ${accountId})))`

/** Whether an account is suspended from FitMatch, with or without a profile. */
export const isSuspended = (accountId: AccountId) =>
  sql<boolean>`exists (
    select from members suspended where suspended.account_id = ${accountId} and suspended.suspended_at is not null)`

/** Whether two people have finished an activity together. */
export const haveTrainedTogether = (one: AccountId, other: AccountId) =>
  sql<boolean>`exists (
    select from activity_participants mine
    join activity_participants theirs on theirs.activity_id = mine.activity_id and theirs.account_id = ${other}
    join activities past on past.id = mine.activity_id
    where mine.account_id = ${one} and mine.state = 'GOING' and theirs.state = 'GOING' and past.status = 'FINISHED')`

/** The states of people who have seen who takes part in an activity. */
export const havingBeenIn: ParticipantState[] = ['INVITED', 'GOING', 'LEFT', 'REMOVED']

/**
 * Whether two people have both been in an activity that was not over 30 days ago, even if one has left it since.
 * Without `other`: whether `one` has been in one with anybody.
 */
export const haveMet = (one: AccountId, other?: AccountId) =>
  sql<boolean>`exists (
    select from activity_participants mine
    join activity_participants theirs on theirs.activity_id = mine.activity_id
      and ${other === undefined ? sql`theirs.account_id <> mine.account_id` : sql`theirs.account_id = ${other}`}
    join activities met on met.id = mine.activity_id and met.ends_at > now() - interval '30 days'
    where mine.account_id = ${one} and mine.state = any(${havingBeenIn}::text[])
      and theirs.state = any(${havingBeenIn}::text[]))`

/**
 * Whether `viewer` can see the current profile. Every path from one person to another checks this. Blocked people, in
 * either direction, suspended profiles and hidden people are invisible. A paused profile is visible only to its owner
 * and its matches.
 */
export const isVisibleTo = (viewer: AccountId) =>
  sql<boolean>`(
  not profiles.suspended
  and (not profiles.paused or profiles.account_id = ${viewer} or ${isMatchedWith(viewer)})
  and not ${isBlockedBy(viewer)}
  and (profiles.account_id = ${viewer} or ${isNotHidden(sql`profiles.account_id`)})
  and ${hasNotBlocked(viewer)})`
