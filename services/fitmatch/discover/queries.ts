import { sql } from 'kysely'
import { ProfileNotFound } from '../errors.ts'
import { isVisibleTo, type Caller } from '../profiles/queries.ts'
import type { Db, MatchType, SwipeType } from '../schema.ts'
import { measuredBy, selectShown, toCandidate, type Candidate } from './candidate.ts'
import { cellsAround } from './cells.ts'
import { distanceFrom, scoreFor, sharedWith } from './score.ts'

interface Search { limit: number, excluded: string[], minAge: number }

const bitsIn = (mask: number) => [1, 2, 4, 8].filter((bit) => mask & bit)

/** Written into the text, so that each search is planned for what it is about. Only numbers and ids of the database come here. */
const list = (values: (number | string)[], type: 'int' | 'uuid') => sql`${sql.lit(`{${values.join(',')}}`)}::${sql.raw(type)}[]`

/**
 * Those who fit, best first, and how many there are: both sides' wishes hold, within the caller's distance, nobody twice. The ranking
 * reads one index and nothing else of the profiles; whole profiles are read for the page alone. Whoever is matched has been swiped.
 */
export async function discover (db: Db, me: Caller, { limit, excluded, minAge }: Search): Promise<{ profiles: Candidate[], total: number }> {
  if (me.age === null) return { profiles: [], total: 0 }
  const id = sql.lit(me.accountId)
  const today = sql`(now() at time zone 'UTC')::date`
  const years = (age: number) => sql`make_interval(years => ${sql.raw(String(age))})`

  const { rows } = await sql<{ id: string, score: number, km: number | null, total: number }>`
    select id, ${scoreFor(me)} as score, km, count(*) over ()::int as total
    from (
      select id, account_id, ${sharedWith(me)}, ${distanceFrom(me)} as km
      from profiles
      where is_shown
        and cell = any(${list(cellsAround(me, me.maxDistance), 'int')})
        and gender_bit = any(${list(bitsIn(me.wishedGenders), 'int')})
        and birth_date > ${today} - ${years(me.ageMax + 1)}
        and birth_date <= ${today} - ${years(Math.max(me.ageMin, minAge))}
        and wished_genders & ${sql.raw(String(me.genderBit))} <> 0
        and ${sql.raw(String(me.age))} between age_min and age_max
        and account_id <> ${id}
      -- Keeps Postgres from working out again what is used more than once.
      offset 0
    ) as near
    where coalesce(km <= ${sql.raw(String(me.maxDistance))}, true)
      and not exists (select from swipes where swiper_id = ${id} and target_id = near.account_id)
      and not exists (select from blocks where blocker_id = ${id} and blocked_id = near.account_id)
      and not exists (select from blocks where blocked_id = ${id} and blocker_id = near.account_id)
      and id <> all(${list(excluded, 'uuid')})
    order by score desc, km, id
    limit ${sql.raw(String(limit))}`.execute(db)
  if (rows.length === 0) return { profiles: [], total: 0 }

  const shown = await selectShown(db.selectFrom('profiles')).where('profiles.id', 'in', rows.map((row) => row.id)).execute()
  const byId = new Map(shown.map((row) => [row.id, row]))
  return {
    total: rows[0]?.total ?? 0,
    profiles: rows.flatMap((row) => {
      const profile = byId.get(row.id)
      return profile ? [toCandidate(profile, row.km, row.score)] : []
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
export async function readView (db: Db, me: Caller, profileId: string): Promise<ProfileView> {
  const row = await selectShown(db.selectFrom('profiles'))
    .innerJoinLateral(measuredBy(me), (join) => join.onTrue())
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
