import { sql, type RawBuilder } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import { scoredAgainst, selectCandidates, toCandidate, type StoredCandidate } from '../candidates/candidate.ts'
import {
  distanceKmFrom,
  compatibilityScoreFor,
  sharedScoreWith,
  sharesGymWith,
  visibleKm
} from '../candidates/score.ts'
import { ProfileNotFound } from '../errors.ts'
import { isTooYoung, type Caller } from '../people/queries.ts'
import { isVisibleTo } from '../people/visibility.ts'
import type { Db, MatchType, SwipeType } from '../tables.ts'
import { cellRangesAround } from './cells.ts'

interface Search {
  limit: number
  excluded: string[]
  minAge: number
}

// All values of the columns gender_bit and preferred_gender_bits.
const genderBits = [1, 2, 4, 8]
const genderPreferences = [1, 2, 3, 4, 5, 6, 7, 15]
const overlaps = (bits: number) => (each: number) => (each & bits) !== 0

/**
 * Accounts that the caller has swiped (which includes all matches), accounts blocked in either direction, and those of
 * the `excluded` profiles.
 */
function excludedAccounts (accountId: string, excluded: string[]) {
  const excludedProfiles = excluded.length === 0
    ? sql``
    : sql`union all select account_id from profiles where id = any(${excluded}::uuid[])`
  return sql`
    select target_id from swipes where swiper_id = ${accountId}
    union all select blocked_id from blocks where blocker_id = ${accountId}
    union all select blocker_id from blocks where blocked_id = ${accountId}
    ${excludedProfiles}`
}

// Scoring one sixteenth of the candidates costs a sixteenth, and is enough to find a score threshold.
const SAMPLE_DIVISOR = 16

/**
 * The best candidates for the caller, best first (by score, then distance, then account), and how many there are in
 * total. Candidates satisfy both people's preferences, are within the caller's distance (or, without positions, in
 * cities of the same name), and appear once. They are ACTIVE, with two photos and a birth date, and neither swiped,
 * matched, blocked in either direction, hidden nor excluded. Ranking reads a single index; full profiles are read only for the
 * returned page.
 *
 * All candidates are scored and counted, but only a few are kept and sorted. The score of the sample's `limit`-th best
 * is a lower bound for the best `limit` overall, so lower scores are dropped. If the sample has fewer than `limit`
 * candidates, all are kept.
 */
export async function discover (
  db: Db,
  me: Caller,
  { limit, excluded, minAge }: Search
): Promise<{ profiles: StoredCandidate[], total: number }> {
  if (me.age === null) return { profiles: [], total: 0 }
  const today = sql`(now() at time zone 'UTC')::date`
  const born = (years: number) => sql`(${today} - make_interval(years => ${years}::int))::date`
  const [oldest, youngest] = [born(me.ageMax + 1), born(Math.max(me.ageMin, minAge))]
  const middle = sql`(${oldest} + (${youngest} - ${oldest}) / 2)`
  const score = compatibilityScoreFor(me)
  const ranges = cellRangesAround(me, me.maxDistance)

  const candidatesBornIn = (bornAfter: RawBuilder<unknown>, bornUntil: RawBuilder<unknown>) =>
    sql`
    unnest(${ranges.map(({ first }) => first)}::int[], ${ranges.map(({ last }) => last)}::int[])
      as range (first_cell, last_cell)
    cross join lateral (
      select account_id, show_distance, ${sharedScoreWith(me)} as shared, ${distanceKmFrom(me)} as km,
        ${sharesGymWith(me)} as shares_gym
      from profiles
      where is_discoverable and not hidden
        and cell between first_cell and last_cell
        and gender_bit = any(${genderBits.filter(overlaps(me.preferredGenderBits))}::int[])
        and preferred_gender_bits = any(${genderPreferences.filter(overlaps(me.genderBit))}::int[])
        and birth_date > ${bornAfter} and birth_date <= ${bornUntil}
        and ${me.age}::int between age_min and age_max
        and account_id <> ${me.accountId}
        and account_id not in (${excludedAccounts(me.accountId, excluded)})
      -- Keeps Postgres from computing reused expressions twice, and from joining all profiles with all ranges.
      offset 0
    ) as nearby where coalesce(km <= ${me.maxDistance}, true)`

  const { rows } = await sql<{ accountId: string, score: number, km: number | null, total: number }>`
    with threshold as materialized (
      select ${score} as score from
        ${candidatesBornIn(middle, sql`${middle} + (${youngest} - ${oldest}) / ${sql.lit(SAMPLE_DIVISOR)}`)}
      order by 1 desc offset ${sql.lit(limit - 1)} limit 1
    ), scored as materialized (
      select count(*)::int as total,
        jsonb_agg(jsonb_build_array(account_id, ${score}, ${visibleKm}))
          filter (where ${score} >= coalesce((select score from threshold), 0)) as best
      from ${candidatesBornIn(oldest, youngest)}
    )
    select (each->>0)::uuid as "accountId", (each->>1)::int as score, (each->>2)::float8 as km, total
    from scored, jsonb_array_elements(best) as each
    order by score desc, km, "accountId"
    limit ${sql.lit(limit)}`.execute(db)
  if (rows.length === 0) return { profiles: [], total: 0 }

  const pageRows = await selectCandidates(db.selectFrom('profiles'), me)
    .where('profiles.account_id', '=', sql<string>`any(${rows.map(({ accountId }) => accountId)}::uuid[])`)
    // A profile that was created while its owner was being hidden.
    .where(isNotHidden(sql.ref('profiles.account_id'))).execute()
  const byId = new Map(pageRows.map((row) => [row.accountId, row]))
  return {
    total: rows[0]?.total ?? 0,
    profiles: rows.flatMap(({ accountId, km, score }) => {
      const profile = byId.get(accountId)
      return profile ? [toCandidate(profile, km, score)] : []
    })
  }
}

export interface ProfileView extends StoredCandidate {
  lastActiveAt: Date | null
  isMatch: boolean
  matchId: string | null
  matchType: MatchType | null
  mySwipe: SwipeType | null
}

/** A profile as the caller sees it when they have its id. @throws ProfileNotFound */
export async function readProfileView (
  { db, minAge }: { db: Db, minAge: number },
  me: Caller,
  profileId: string
): Promise<ProfileView> {
  const row = await selectCandidates(db.selectFrom('profiles'), me)
    .innerJoinLateral(scoredAgainst(me), (join) => join.onTrue())
    .leftJoin('matches', (join) =>
      join
        .on('ended_at', 'is', null)
        .on('low_id', '=', sql<string>`least(profiles.account_id, ${me.accountId})`)
        .on('high_id', '=', sql<string>`greatest(profiles.account_id, ${me.accountId})`))
    .leftJoin(
      'swipes',
      (join) => join.on('swiper_id', '=', me.accountId).onRef('target_id', '=', 'profiles.account_id')
    )
    .where('profiles.id', '=', profileId)
    .where(isVisibleTo(me.accountId))
    .where((eb) => eb.or([eb('profiles.id', '=', me.id), eb.not(isTooYoung(minAge))]))
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
