import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import type { Categories, Db, Platform } from '../tables.ts'
import type { QuietHours } from '../preferences/quiet-hours.ts'

/** Somebody who may be told, and how he wants it. */
export interface Recipient {
  accountId: string
  timezone: string | null
  categories: Categories | null
  quietHours: QuietHours | null
  devices: { id: string, sessionId: string, platform: Platform, name: string | null }[]
}

interface Wanted { to: string[], actorId: string | null }

/**
 * For each of `wanted` those of `to` who may be told of what `actorId` did: not himself, nobody who has blocked him or whom he has blocked, nobody without an account.
 * @throws Unavailable when somebody is not known here and whoever knows him is away
 */
export async function findRecipients ({ db, findPeople }: Deps, wanted: Wanted[]): Promise<Recipient[][]> {
  const found = await readRecipients(db, wanted)
  const unknown = found.flatMap(({ accountId, timezone, actorId, isActorKnown }) => [
    ...timezone === null ? [accountId] : [], ...actorId !== null && !isActorKnown ? [actorId] : []
  ])
  const zones = new Map((await findPeople(unknown)).map((person) => [person.accountId, person.timezone]))

  const recipients: Recipient[][] = wanted.map(() => [])
  for (const { number, accountId, timezone, categories, quietHours, devices } of found) {
    const zone = timezone ?? zones.get(accountId)
    if (zone) recipients[number]!.push({ accountId, timezone: zone, categories, quietHours, devices })
  }
  return recipients
}

async function readRecipients (db: Db, wanted: Wanted[]) {
  const pairs = wanted.flatMap(({ to, actorId }, number) =>
    to.filter((accountId) => accountId !== actorId).map((accountId) => ({ number, accountId, actorId })))
  if (pairs.length === 0) return []
  const { rows } = await sql<Recipient & { number: number, actorId: string | null, isActorKnown: boolean }>`
    select wanted.number, wanted.account_id as "accountId", ${recipientColumns},
      wanted.actor_id as "actorId", exists (select from people where account_id = wanted.actor_id) as "isActorKnown"
    from unnest(${pairs.map((pair) => pair.number)}::integer[], ${pairs.map((pair) => pair.accountId)}::uuid[], ${pairs.map((pair) => pair.actorId)}::uuid[])
      as wanted (number, account_id, actor_id)
    left join people on people.account_id = wanted.account_id
    left join preferences on preferences.account_id = wanted.account_id
    where wanted.actor_id is null or not ${areBlocked(sql`wanted.account_id`, sql`wanted.actor_id`)}`.execute(db)
  return rows
}

/** How somebody wants to be told, of tables `people`, `preferences` and `wanted`. */
export const recipientColumns = sql`
  people.timezone, preferences.categories,
  case when preferences.quiet then json_build_object('enabled', true, 'start', quiet_start, 'end', quiet_end) end as "quietHours",
  coalesce((
    select json_agg(json_build_object('id', id, 'sessionId', session_id, 'platform', platform, 'name', device_name))
    from devices where devices.account_id = wanted.account_id
  ), '[]') as devices`

/** Whether one of the two does not exist for the other. */
export const areBlocked = (one: ReturnType<typeof sql>, other: ReturnType<typeof sql>) => sql<boolean>`(
  exists (select from blocks where blocker_id = ${one} and blocked_id = ${other} and not lifted)
  or exists (select from blocks where blocker_id = ${other} and blocked_id = ${one} and not lifted))`
