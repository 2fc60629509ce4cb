import { sql } from 'kysely'
import { scoredAgainst, selectCandidates, toCandidate, type StoredCandidate } from '../candidates/candidate.ts'
import { isTooYoung, type Caller } from '../people/queries.ts'
import { isVisibleTo } from '../people/visibility.ts'
import type { Db } from '../tables.ts'

const MAX_SHOWN = 50

/**
 * People who like the caller and that the caller has not swiped yet, newest first. Without a subscription, only their
 * number.
 */
export async function readLikes (
  { db, minAge }: { db: Db, minAge: number },
  me: Caller
): Promise<{ count: number, profiles: StoredCandidate[] }> {
  const pending = db.selectFrom('profiles').innerJoin('swipes', 'swiper_id', 'profiles.account_id')
    .where('target_id', '=', me.accountId)
    .where('swipe_type', '<>', 'PASS')
    .where(isVisibleTo(me.accountId))
    .where((eb) => eb.not(isTooYoung(minAge)))
    .where(
      sql<
        boolean
      >`not exists (select from swipes as replies where replies.swiper_id = ${me.accountId}
        and replies.target_id = profiles.account_id)`
    )
  const { count } = await pending.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  if (!me.canSeeLikes || count === 0) return { count, profiles: [] }

  const newest = await pending.select('profiles.id').orderBy('swipes.created_at', 'desc').limit(MAX_SHOWN).execute()
  const rows = await selectCandidates(db.selectFrom('profiles'), me).innerJoinLateral(
    scoredAgainst(me),
    (join) => join.onTrue()
  )
    // Nobody may be left of those that were counted.
    .where('profiles.id', '=', sql<string>`any(${newest.map(({ id }) => id)}::uuid[])`)
    .select(['km', 'score'])
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return {
    count,
    profiles: newest.flatMap(({ id }) => {
      const row = byId.get(id)
      return row ? [toCandidate(row, row.km, row.score)] : []
    })
  }
}
