import { sql, type RawBuilder } from 'kysely'
import { masks } from '../profiles/traits.ts'

/** What a person is compared by. Positions are snapped, so nothing computed from them tells a finer one. */
export interface Measured { latitude: number | null, longitude: number | null, maxDistance: number, traits: number, sports: string }

const EARTH = 6371

// As text and not as parameters: how many cells and whose wishes decides the plan, so it is made for each search anew. Said to be
// double precision, or Postgres would reckon in decimals, ten times as long.
const number = (value: number) => sql.raw(`'${Number(value)}'::float8`)

/** Kilometres on a great circle from `me` to the profile at hand; null where one of the two has no position. */
export function distanceFrom ({ latitude, longitude }: Measured): RawBuilder<number | null> {
  if (latitude === null || longitude === null) return sql<null>`null::float8`
  const toRadians = Math.PI / 180 / 100
  const half = toRadians / 2
  return sql`${number(2 * EARTH)} * asin(least(1, sqrt(
    sin((profiles.latitude - ${number(latitude)}) * ${number(half)}) ^ 2 +
    ${number(Math.cos(latitude * toRadians))} * cos(profiles.latitude * ${number(toRadians)}) * sin((profiles.longitude - ${number(longitude)}) * ${number(half)}) ^ 2)))`
}

const kinds = [['interest', 25], ['goal', 20], ['time', 20], ['day', 15]] as const
const maskOf = { interest: masks.interests, goal: masks.goals, time: masks.times, day: masks.days }
const columnOf = (kind: string) => sql.ref(`${kind}_count`)

const ownBits = (me: Measured, kind: keyof typeof maskOf) => BigInt(me.traits) & BigInt(maskOf[kind])
const countBits = (bits: string) => bits.replaceAll('0', '').length
const ownCount = (me: Measured, kind: keyof typeof maskOf) => countBits(ownBits(me, kind).toString(2))

/** How many bits of each kind the profile at hand shares with `me`: columns for `scoreFor`. */
export function sharedWith (me: Measured) {
  return sql.join([
    ...kinds.map(([kind]) => sql`bit_count((traits & ${sql.raw(String(ownBits(me, kind)))})::bit(64)) as ${sql.ref(`shared_${kind}s`)}`),
    sql`bit_count(sports & ${sql.lit(me.sports)}::bit(128)) as shared_sports`,
    sql.raw('interest_count, goal_count, time_count, day_count, sport_count')
  ])
}

/** The part that both have of what either has: 0 to `weight`, and 0 where one has nothing. */
const part = (weight: number, kind: string, mine: number) =>
  mine === 0 ? sql`0` : sql`${number(weight)} * ${sql.ref(`shared_${kind}s`)} / (${sql.raw(String(mine))} + ${columnOf(kind)} - ${sql.ref(`shared_${kind}s`)})`

/**
 * compatibilityScore, 0 to 100: shared interests 25, goals 20, times 20, days 15, sports 10, each the part that both have of what either
 * has; and 10 for being near, less with each kilometre up to the own greatest distance. To be selected from `sharedWith` and `km`.
 */
export function scoreFor (me: Measured): RawBuilder<number> {
  const parts = [...kinds.map(([kind, weight]) => part(weight, kind, ownCount(me, kind))), part(10, 'sport', countBits(me.sports))]
  return sql`round((${sql.join(parts, sql` + `)} + coalesce(10 * greatest(0, 1 - km / ${number(me.maxDistance)}), 0))::float8)::int`
}
