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

/** How much of two sets, taken together, is in both: 0 to `weight`, and 0 where both are empty. */
function shared (weight: number, mine: number, mask: string) {
  const own = String(BigInt(mine) & BigInt(mask))
  if (own === '0') return sql`0`
  return sql`${number(weight)} * bit_count((traits & ${sql.raw(own)})::bit(64)) / bit_count((traits & ${sql.raw(mask)} | ${sql.raw(own)})::bit(64))`
}

function sharedSports (weight: number, mine: string) {
  if (!mine.includes('1')) return sql`0`
  const own = sql`${sql.lit(mine)}::bit(128)`
  return sql`${number(weight)} * bit_count(sports & ${own}) / bit_count(sports | ${own})`
}

/**
 * compatibilityScore, 0 to 100: shared interests 25, goals 20, times 20, days 15, sports 10, each the part that both have of what either
 * has; and 10 for being near, less with each kilometre up to the own greatest distance. @param km the distance to the profile at hand
 */
export function scoreFor (me: Measured, km: RawBuilder<number | null>): RawBuilder<number> {
  return sql`round((${shared(25, me.traits, masks.interests)} + ${shared(20, me.traits, masks.goals)} + ${shared(20, me.traits, masks.times)}
    + ${shared(15, me.traits, masks.days)} + ${sharedSports(10, me.sports)}
    + coalesce(10 * greatest(0, 1 - (${km}) / ${number(me.maxDistance)}), 0))::float8)::int`
}
