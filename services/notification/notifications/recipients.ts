import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import { isNotHidden } from '@tandem/account-kit'
import type { FindPeople } from '../people/lookup.ts'
import type { Categories, Db, Platform } from '../tables.ts'
import { isAboutAccount, type Kind } from '../texts/kinds.ts'
import type { QuietHours } from './quiet-hours.ts'

/** An account to notify, with its preferences and devices. */
export interface Recipient {
  accountId: string
  timezone: string | null
  categories: Categories | null
  quietHours: QuietHours | null
  /** The match whose chat is on a screen of the account, as its realtime connection says. */
  focusedMatchId: string | null
  devices: { id: string, sessionId: string, platform: Platform, name: string | null }[]
}

/** The part of a request that decides who is notified: see `NotificationRequest`. */
interface Addressed {
  kind: Kind
  to: string[]
  actorId?: string | null
  ownerId?: string
}

/**
 * Returns for each request the accounts of `to` that can be notified. It leaves out the actor, accounts in a block with
 * the actor or the owner, and accounts that do not exist. Nobody is notified of hidden people, nor are they of others.
 * @throws Unavailable if an account is unknown here and the profile service is unavailable
 */
export async function findRecipients (
  { db, findPeople }: { db: Db, findPeople: FindPeople },
  requests: Addressed[]
): Promise<Recipient[][]> {
  const found = await readRecipients(db, requests)
  const unknown = found.flatMap(({ accountId, timezone, actorId, isActorKnown }) => [
    ...timezone === null ? [accountId] : [],
    ...actorId !== null && !isActorKnown ? [actorId] : []
  ])
  const timezones = new Map((await findPeople(unknown)).map((person) => [person.accountId, person.timezone]))

  const recipients: Recipient[][] = requests.map(() => [])
  for (const { number, accountId, timezone: known, categories, quietHours, focusedMatchId, devices } of found) {
    const timezone = known ?? timezones.get(accountId)
    if (timezone) recipients[number]!.push({ accountId, timezone, categories, quietHours, focusedMatchId, devices })
  }
  return recipients
}

async function readRecipients (db: Db, requests: Addressed[]) {
  const pairs = requests.flatMap(({ kind, to, actorId = null, ownerId = null }, number) =>
    to.filter((accountId) => accountId !== actorId).map((accountId) => ({
      number,
      accountId,
      actorId,
      ownerId: ownerId === accountId ? null : ownerId,
      isAboutAccount: isAboutAccount(kind)
    }))
  )
  if (pairs.length === 0) return []
  const { rows } = await sql<Recipient & { number: number, actorId: string | null, isActorKnown: boolean }>`
    select requested.number, requested.account_id as "accountId", ${recipientColumns},
      requested.actor_id as "actorId",
      exists (select from people where account_id = requested.actor_id) as "isActorKnown"
    from unnest(
      ${lookupArray(pairs.map((pair) => pair.number), 'integer')},
      ${lookupArray(pairs.map((pair) => pair.accountId), 'uuid')},
      ${lookupArray(pairs.map((pair) => pair.actorId), 'uuid')},
      ${lookupArray(pairs.map((pair) => pair.ownerId), 'uuid')},
      ${lookupArray(pairs.map((pair) => pair.isAboutAccount), 'boolean')}
    ) as requested (number, account_id, actor_id, owner_id, is_about_account)
    left join people on people.account_id = requested.account_id
    left join preferences on preferences.account_id = requested.account_id
    where (requested.is_about_account or ${isNotHidden(sql`requested.account_id`)})
      and ${canBeNotifiedOf(sql`requested.actor_id`)} and ${canBeNotifiedOf(sql`requested.owner_id`)}`
    .execute(db)
  return rows
}

/** Whether the account of a row `requested` can be notified of what another person, who may be null, did or has. */
const canBeNotifiedOf = (person: ReturnType<typeof sql>) =>
  sql<boolean>`(${person} is null or (
  not ${hasBlockBetween(sql`requested.account_id`, person)} and ${isNotHidden(person)}))`

/** The columns of a `Recipient`, for a query that joins `requested`, `people` and `preferences`. */
export const recipientColumns = sql`
  people.timezone, preferences.categories,
  case when preferences.quiet_hours_enabled
    then json_build_object('enabled', true, 'start', quiet_hours_start, 'end', quiet_hours_end)
  end as "quietHours",
  (
    select realtime_focus_match from inboxes
    where inboxes.account_id = requested.account_id and realtime_focus_until > now()
  ) as "focusedMatchId",
  coalesce((
    select json_agg(json_build_object('id', id, 'sessionId', session_id, 'platform', platform, 'name', device_name))
    from devices where devices.account_id = requested.account_id
  ), '[]') as devices`

/** Whether either of two accounts has blocked the other. */
export const hasBlockBetween = (one: ReturnType<typeof sql>, other: ReturnType<typeof sql>) =>
  sql<boolean>`(
  exists (select from blocks where blocker_id = ${one} and blocked_id = ${other} and not lifted)
  or exists (select from blocks where blocker_id = ${other} and blocked_id = ${one} and not lifted))`
