import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { keepPeople } from '../people/actions.ts'
import { askPeople } from '../people/asking.ts'
import type { Categories, Db, Platform } from '../schema.ts'
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
 * Those of `to` who may be told of what `actorId` did: not himself, nobody who has blocked him or whom he has blocked, nobody without an account.
 * @throws Unavailable when somebody is not known here and whoever knows him is away
 */
export async function findRecipients ({ db, ask }: Deps, { to, actorId }: Wanted): Promise<Recipient[]> {
  const wanted = to.filter((accountId) => accountId !== actorId)
  if (wanted.length === 0) return []
  const { recipients, isActorKnown } = await readRecipients(db, { to: wanted, actorId })
  const strangers = recipients.filter((each) => each.timezone === null).map((each) => each.accountId)
  if (strangers.length === 0 && isActorKnown) return recipients

  const met = await askPeople(ask, [...strangers, ...!isActorKnown && actorId ? [actorId] : []])
  await keepPeople(db, met)
  const zones = new Map(met.map((person) => [person.accountId, person.timezone]))
  return recipients
    .map((each) => ({ ...each, timezone: each.timezone ?? zones.get(each.accountId) ?? null }))
    .filter((each) => each.timezone !== null)
}

async function readRecipients (db: Db, { to, actorId }: Wanted) {
  const { rows } = await sql<Recipient & { isActorKnown: boolean }>`
    select wanted.account_id as "accountId", ${recipientColumns},
      ${actorId}::uuid is null or exists (select from people where account_id = ${actorId}) as "isActorKnown"
    from unnest(${to}::uuid[]) as wanted (account_id)
    left join people on people.account_id = wanted.account_id
    left join preferences on preferences.account_id = wanted.account_id
    where ${actorId}::uuid is null or not ${areBlocked(sql`wanted.account_id`, sql`${actorId}::uuid`)}`.execute(db)
  return { recipients: rows, isActorKnown: rows[0]?.isActorKnown ?? true }
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
