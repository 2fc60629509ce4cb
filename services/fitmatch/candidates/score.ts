import { sql, type RawBuilder } from 'kysely'
import { masks } from './traits.ts'

/** What the score is computed from. Positions are on the grid, so no result reveals a finer one. */
export interface CompatibilityInputs {
  /** Of the profile. */
  id: string
  latitude: number | null
  longitude: number | null
  maxDistance: number
  traitBits: number
  sportBits: string
}

const EARTH_RADIUS_KM = 6371

// Postgres would otherwise compute in decimals, which takes ten times as long.
const float = (value: number) => sql`${value}::float8`

type GridPosition = Pick<CompatibilityInputs, 'latitude' | 'longitude'>
interface GridColumns {
  latitude: RawBuilder<unknown>
  longitude: RawBuilder<unknown>
}

/** Great-circle distance in kilometres from `me` to a position in hundredths of a degree; null if either has none. */
export function distanceKmBetween ({ latitude, longitude }: GridPosition, to: GridColumns): RawBuilder<number | null> {
  if (latitude === null || longitude === null) return sql<null>`null::float8`
  const toRadians = Math.PI / 180 / 100
  // The cosine is imprecise for short distances. Neighbouring grid positions are a kilometre apart, where the error is
  // a hundredth of a millimetre.
  // `least` and `greatest` ignore null.
  return sql`case when ${to.latitude} is not null then ${float(EARTH_RADIUS_KM)} * acos(greatest(-1, least(1,
    ${float(Math.sin(latitude * toRadians))} * sin(${to.latitude} * ${float(toRadians)}) +
    ${float(Math.cos(latitude * toRadians))} * cos(${to.latitude} * ${float(toRadians)}) *
      cos((${to.longitude} - ${float(longitude)}) * ${float(toRadians)})))) end`
}

const publicPosition = {
  latitude: sql.ref('profiles.public_latitude'),
  longitude: sql.ref('profiles.public_longitude')
}

/** The distance from `me` to the public position of the current profile. */
export const distanceKmFrom = (me: GridPosition) => distanceKmBetween(me, publicPosition)

const countBits = (bits: string) => bits.replaceAll('0', '').length
const ownBits = (me: CompatibilityInputs, mask: string) => BigInt(me.traitBits) & BigInt(mask)

/**
 * For each kind of trait: its weight, the number of bits of `me`, and SQL for the other profile's bits and for the
 * shared ones.
 */
const traitKindsOf = (me: CompatibilityInputs) => [
  ...([['interest', 25, masks.interests], ['goal', 20, masks.goals], ['time', 20, masks.times], [
    'day',
    15,
    masks.days
  ]] as const).map(([kind, weight, mask]) => ({
    weight,
    mine: countBits(ownBits(me, mask).toString(2)),
    theirs: sql.ref(`${kind}_count`),
    shared: sql`bit_count((trait_bits & ${String(ownBits(me, mask))}::bigint)::bit(64))`
  })),
  {
    weight: 10,
    mine: countBits(me.sportBits),
    theirs: sql.ref('sport_count'),
    shared: sql`bit_count(sport_bits & ${me.sportBits}::bit(128))`
  }
]

/**
 * The score for shared traits, 0 to 90: interests 25, goals 20, times 20, days 15, sports 10, each weighted by shared /
 * union (Jaccard). With a = mine + theirs and s = shared, s / (a - s) equals a / (a - s) - 1, which needs the shared
 * bits only once.
 */
export function sharedScoreWith (me: CompatibilityInputs): RawBuilder<number> {
  const kinds = traitKindsOf(me).filter(({ mine }) => mine > 0)
  if (kinds.length === 0) return sql`${float(0)}`
  const terms = kinds.map(({ weight, mine, theirs, shared }) => {
    const sum = sql`(${theirs} + ${mine}::int)`
    return sql`${float(weight)} * ${sum} / (${sum} - ${shared})`
  })
  return sql`${sql.join(terms, sql` + `)} - ${float(kinds.reduce((total, { weight }) => total + weight, 0))}`
}

/** The distance that is shown, scored and ranked by: null for people who hide it, as for people without a position. */
export const visibleKm = sql<number | null>`case when show_distance then km end`

/**
 * Whether the current profile has a gym of `me`: the same place, or the same branch of a chain. Both show their venues,
 * so it reveals nothing else.
 */
export const sharesGymWith = ({ id }: Pick<CompatibilityInputs, 'id'>): RawBuilder<boolean> =>
  sql`profiles.account_id in (
    select others.account_id from venues as mine
    join venues as theirs on theirs.gym_keys && mine.gym_keys
    join profiles as others on others.id = theirs.profile_id
    where mine.profile_id = ${id} and mine.gym_keys <> '{}')`

/**
 * compatibilityScore, 0 to 100: the score for shared traits, plus up to 10 points for distance. These are all 10 for
 * people who share a gym. Otherwise they fall linearly to 0 at the caller's maxDistance, and without a position, or with
 * a hidden distance, there are none. The sum is rounded.
 */
export const compatibilityScoreFor = ({ maxDistance }: CompatibilityInputs): RawBuilder<number> =>
  sql`round(shared + case when shares_gym then ${float(10)}
    else coalesce(${float(10)} * greatest(0, 1 - ${visibleKm} / ${float(maxDistance)}), 0) end)::int`
