import { sql, type RawBuilder } from 'kysely'
import { ProfileNotFound } from '../errors.ts'
import { isVisibleTo, type Caller } from '../profiles/queries.ts'
import type { Db, MatchType, SwipeType } from '../tables.ts'
import { scoredAgainst, selectCandidates, toCandidate, type Candidate } from './candidate.ts'
import { cellRangesAround } from './cells.ts'
import { distanceKmFrom, compatibilityScoreFor, sharedScoreWith, visibleKm } from './score.ts'

interface Search { limit: number, excluded: string[], minAge: number }

// As the columns gender_bit and preferred_gender_bits have them.
const genderBits = [1, 2, 4, 8]
const genderPreferences = [1, 2, 3, 4, 5, 6, 7, 15]
const overlaps = (bits: number) => (each: number) => (each & bits) !== 0

/** Written into the text, so that each search is planned for what it is about. Only numbers and ids of the database come here. */
const arrayLiteral = (values: (number | string)[], type: 'int' | 'uuid') => sql`${sql.lit(`{${values.join(',')}}`)}::${sql.raw(type)}[]`

/** Whom the caller is not to meet, and those of the `excluded` profiles. Whoever is matched has been swiped. */
function excludedAccounts (accountId: string, excluded: string[]) {
  const id = sql.lit(accountId)
  return sql`
    select target_id from swipes where swiper_id = ${id}
    union all select blocked_id from blocks where blocker_id = ${id}
    union all select blocker_id from blocks where blocked_id = ${id}
    ${excluded.length > 0 ? sql`union all select account_id from profiles where id = any(${arrayLiteral(excluded, 'uuid')})` : sql``}`
}

// A sixteenth of them is enough to learn how good one has to be, and costs a sixteenth.
const SAMPLE_FRACTION = 16

/**
 * Those who fit, best first, and how many there are: both sides' wishes hold, within the caller's distance, nobody twice. The ranking
 * reads one index and nothing else of the profiles; whole profiles are read for the page alone.
 *
 * All are scored and counted, but only a few are kept and sorted: whoever scores less than the last of the best `limit` among some of
 * them is none of the best `limit` among all of them. If those some are too few, everybody is kept.
 */
export async function discover (db: Db, me: Caller, { limit, excluded, minAge }: Search): Promise<{ profiles: Candidate[], total: number }> {
  if (me.age === null) return { profiles: [], total: 0 }
  const today = sql`(now() at time zone 'UTC')::date`
  const born = (years: number) => sql`(${today} - make_interval(years => ${sql.raw(String(years))}))::date`
  const [oldest, youngest] = [born(me.ageMax + 1), born(Math.max(me.ageMin, minAge))]
  const middle = sql`(${oldest} + (${youngest} - ${oldest}) / 2)`
  const score = compatibilityScoreFor(me)
  const ranges = cellRangesAround(me, me.maxDistance)

  const matchesBornIn = (bornAfter: RawBuilder<unknown>, bornUntil: RawBuilder<unknown>) => sql`
    unnest(${arrayLiteral(ranges.map(({ first }) => first), 'int')}, ${arrayLiteral(ranges.map(({ last }) => last), 'int')}) as range (first_cell, last_cell)
    cross join lateral (
      select account_id, show_distance, ${sharedScoreWith(me)} as shared, ${distanceKmFrom(me)} as km
      from profiles
      where is_discoverable
        and cell between first_cell and last_cell
        and gender_bit = any(${arrayLiteral(genderBits.filter(overlaps(me.preferredGenderBits)), 'int')})
        and preferred_gender_bits = any(${arrayLiteral(genderPreferences.filter(overlaps(me.genderBit)), 'int')})
        and birth_date > ${bornAfter} and birth_date <= ${bornUntil}
        and ${sql.raw(String(me.age))} between age_min and age_max
        and account_id <> ${sql.lit(me.accountId)}
        and account_id not in (${excludedAccounts(me.accountId, excluded)})
      -- Keeps Postgres from working out again what is used more than once, and from reading all profiles beside all ranges.
      offset 0
    ) as near where coalesce(km <= ${sql.raw(String(me.maxDistance))}, true)`

  const { rows } = await sql<{ accountId: string, score: number, km: number | null, total: number }>`
    with threshold as materialized (
      select ${score} as score from ${matchesBornIn(middle, sql`${middle} + (${youngest} - ${oldest}) / ${sql.lit(SAMPLE_FRACTION)}`)}
      order by 1 desc offset ${sql.lit(limit - 1)} limit 1
    ), scored as materialized (
      select count(*)::int as total,
        jsonb_agg(jsonb_build_array(account_id, ${score}, ${visibleKm})) filter (where ${score} >= coalesce((select score from threshold), 0)) as best
      from ${matchesBornIn(oldest, youngest)}
    )
    select (each->>0)::uuid as "accountId", (each->>1)::int as score, (each->>2)::float8 as km, total
    from scored, jsonb_array_elements(best) as each
    order by score desc, km, "accountId"
    limit ${sql.lit(limit)}`.execute(db)
  if (rows.length === 0) return { profiles: [], total: 0 }

  const shown = await selectCandidates(db.selectFrom('profiles')).where('profiles.account_id', 'in', rows.map(({ accountId }) => accountId)).execute()
  const byId = new Map(shown.map((row) => [row.accountId, row]))
  return {
    total: rows[0]?.total ?? 0,
    profiles: rows.flatMap(({ accountId, km, score }) => {
      const profile = byId.get(accountId)
      return profile ? [toCandidate(profile, km, score)] : []
    })
  }
}

export interface ProfileView extends Candidate {
  lastActiveAt: Date | null
  isMatch: boolean
  matchId: string | null
  matchType: MatchType | null
  mySwipe: SwipeType | null
}

/** Somebody as one may see him who was given his profile's id. @throws ProfileNotFound */
export async function readProfileView (db: Db, me: Caller, profileId: string): Promise<ProfileView> {
  const row = await selectCandidates(db.selectFrom('profiles'))
    .innerJoinLateral(scoredAgainst(me), (join) => join.onTrue())
    .leftJoin('matches', (join) => join
      .on('ended_at', 'is', null)
      .on('low_id', '=', sql<string>`least(profiles.account_id, ${me.accountId})`)
      .on('high_id', '=', sql<string>`greatest(profiles.account_id, ${me.accountId})`))
    .leftJoin('swipes', (join) => join.on('swiper_id', '=', me.accountId).onRef('target_id', '=', 'profiles.account_id'))
    .where('profiles.id', '=', profileId)
    .where(isVisibleTo(me.accountId))
    .select(['km', 'score', 'matches.id as matchId', 'match_type as matchType', 'swipe_type as mySwipe'])
    .executeTakeFirst()
  if (!row) throw new ProfileNotFound()
  const { lastActiveAt, showLastActive, matchId, matchType, mySwipe } = row
  return {
    ...toCandidate(row, row.km, row.score),
    lastActiveAt: showLastActive ? lastActiveAt : null,
    isMatch: matchId !== null,
    matchId,
    matchType,
    mySwipe
  }
}
