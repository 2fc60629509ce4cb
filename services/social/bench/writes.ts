import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { likePost } from '../likes/actions.ts'
import { openPost, publishPost } from '../posts/actions.ts'
import type { Db } from '../schema.ts'
import { person } from './fill.ts'
import { rate } from './measure.ts'

const AT_ONCE = 8
const SECONDS = 2

/** Likes, views and posts a second, beside the least that Postgres could do for each: one UPDATE of a counter, committed. */
export async function measureWrites (db: Db) {
  const ids = (await db.selectFrom('posts').select('id').where('visibility', '=', 'PUBLIC').orderBy('id', 'desc').limit(2_000).execute()).map((post) => post.id)
  const [hot] = ids
  const any = (turn: number) => ids[turn % ids.length]!
  const post = {
    type: 'TEXT' as const, visibility: 'PUBLIC' as const, content: 'Morning run with @person7 #running', mediaUrls: [], mediaType: null, activityId: null, workoutId: null,
    achievementId: null, locationName: null, latitude: null, longitude: null, poll: null
  }
  const count = (id: string) => sql`update posts set views_count = views_count + 1 where id = ${id}`.execute(db)

  const rows: [string, (turn: number) => Promise<unknown>][] = [
    ['one UPDATE of a counter, many posts', (turn) => count(any(turn))],
    ['likes, many posts', (turn) => likePost(db, { postId: any(turn), accountId: randomUUID() })],
    ['one UPDATE of a counter, one post', () => count(hot!)],
    ['likes, one post', () => likePost(db, { postId: hot!, accountId: randomUUID() })],
    ['single posts read and counted', (turn) => openPost(db, any(turn), person(turn % 1_000))],
    ['posts with a tag and a mention', (turn) => db.transaction().execute((trx) => publishPost(trx, { ...post, authorId: person(turn % 1_000) }))]
  ]
  for (const [name, work] of rows) {
    await rate(AT_ONCE, SECONDS / 4, work)
    const rounds = [await rate(AT_ONCE, SECONDS, work), await rate(AT_ONCE, SECONDS, work), await rate(AT_ONCE, SECONDS, work)].sort((one, other) => one - other)
    console.log(`${name.padEnd(58)} ${Math.round(rounds[1]!).toLocaleString('en').padStart(7)} a second`)
  }
}
