import { sql, type RawBuilder } from 'kysely'
import { masks } from '../profiles/traits.ts'

/** What a person is compared by. Positions are snapped, so nothing computed from them tells a finer one. */
export interface MatchInputs { latitude: number | null, longitude: number | null, maxDistance: number, traitBits: number, sportBits: string }

const EARTH_RADIUS_KM = 6371

// As text and not as parameters: how many cells and whose wishes decides the plan, so it is made for each search anew. Said to be
// double precision, or Postgres would reckon in decimals, ten times as long.
const float = (value: number) => sql.raw(`'${Number(value)}'::float8`)

/** Kilometres on a great circle from `me` to where the profile at hand may be found; null where one of the two has no position. */
export function distanceKmFrom ({ latitude, longitude }: MatchInputs): RawBuilder<number | null> {
  if (latitude === null || longitude === null) return sql<null>`null::float8`
  const toRadians = Math.PI / 180 / 100
  // The cosine loses its last digits between two places of the grid, which are a kilometre apart: a hundredth of a millimetre.
  return sql`${float(EARTH_RADIUS_KM)} * acos(greatest(-1, least(1,
    ${float(Math.sin(latitude * toRadians))} * sin(profiles.public_latitude * ${float(toRadians)}) +
    ${float(Math.cos(latitude * toRadians))} * cos(profiles.public_latitude * ${float(toRadians)}) * cos((profiles.public_longitude - ${float(longitude)}) * ${float(toRadians)}))))`
}

const countBits = (bits: string) => bits.replaceAll('0', '').length
const ownBits = (me: MatchInputs, mask: string) => BigInt(me.traitBits) & BigInt(mask)

/** Which bits of a kind `me` has, how they are counted in the profile at hand, and how much the kind is worth. */
const traitKindsOf = (me: MatchInputs) => [
  ...([['interest', 25, masks.interests], ['goal', 20, masks.goals], ['time', 20, masks.times], ['day', 15, masks.days]] as const).map(([kind, worth, mask]) => ({
    worth,
    mine: countBits(ownBits(me, mask).toString(2)),
    theirs: sql.ref(`${kind}_count`),
    shared: sql`bit_count((trait_bits & ${sql.raw(String(ownBits(me, mask)))})::bit(64))`
  })),
  { worth: 10, mine: countBits(me.sportBits), theirs: sql.ref('sport_count'), shared: sql`bit_count(sport_bits & ${sql.lit(me.sportBits)}::bit(128))` }
]

/**
 * What `me` and the profile at hand share, 0 to 90: interests 25, goals 20, times 20, days 15, sports 10, each the part that both have of
 * what either has. With a = mine + theirs and s = shared, that part s / (a - s) is a / (a - s) - 1, which counts the bits only once.
 */
export function sharedScoreWith (me: MatchInputs): RawBuilder<number> {
  const kinds = traitKindsOf(me).filter(({ mine }) => mine > 0)
  if (kinds.length === 0) return sql`${float(0)}`
  const sums = kinds.map(({ worth, mine, theirs, shared }) => {
    const all = sql`(${theirs} + ${sql.raw(String(mine))})`
    return sql`${float(worth)} * ${all} / (${all} - ${shared})`
  })
  return sql`${sql.join(sums, sql` + `)} - ${float(kinds.reduce((sum, { worth }) => sum + worth, 0))}`
}

/** Of `km` what is told, scored and ranked by: nothing of people who hide it, as if they had no position. */
export const visibleKm = sql<number | null>`case when show_distance then km end`

/** compatibilityScore, 0 to 100: what is `shared`, and 10 for being near, less with each kilometre up to the own greatest distance. */
export const compatibilityScoreFor = ({ maxDistance }: MatchInputs): RawBuilder<number> =>
  sql`round(shared + coalesce(${float(10)} * greatest(0, 1 - ${visibleKm} / ${float(maxDistance)}), 0))::int`
