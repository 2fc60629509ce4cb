import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { likePost } from '../likes/actions.ts'
import { viewPost, createPost } from '../posts/actions.ts'
import { createViewCounter } from '../posts/views.ts'
import type { Db } from '../tables.ts'
import { person } from './fill.ts'
import { rate } from './measure.ts'

const WRITERS = 8
const SECONDS = 2
const ROUNDS = 3

/**
 * Likes, views and posts per second, compared with the minimum that Postgres could do for each: one committed UPDATE of
 * a counter.
 */
export async function measureWrites (db: Db) {
  const ids =
    (await db.selectFrom('posts').select('id').where('visibility', '=', 'PUBLIC').orderBy('id', 'desc').limit(2_000)
      .execute()).map((post) => post.id)
  const [hot] = ids
  const any = (turn: number) => ids[turn % ids.length]!
  const post = {
    type: 'TEXT' as const,
    visibility: 'PUBLIC' as const,
    content: 'Morning run with @person7 #running',
    mediaUrls: [],
    mediaType: null,
    activityId: null,
    workoutId: null,
    achievementId: null,
    locationName: null,
    latitude: null,
    longitude: null,
    poll: null
  }
  const count = (id: string) => sql`update posts set views_count = views_count + 1 where id = ${id}`.execute(db)
  const countView = createViewCounter(db)

  const rows: [string, (turn: number) => Promise<unknown>, number?][] = [
    ['one UPDATE of a counter, many posts', (turn) => count(any(turn))],
    ['likes, many posts', (turn) => likePost(db, { postId: any(turn), accountId: randomUUID() })],
    ['one UPDATE of a counter, one post', () => count(hot!)],
    ['likes, one post', () => likePost(db, { postId: hot!, accountId: randomUUID() })],
    ['views, 8 at once', (turn) => countView(any(turn))],
    ['views, 64 at once', (turn) => countView(any(turn)), 64],
    ['views, 512 at once', (turn) => countView(any(turn)), 512],
    ['single posts read and counted', (turn) => viewPost(db, countView, any(turn), person(turn % 1_000))],
    [
      'posts with a tag and a mention',
      (turn) => createPost(db, { ...post, authorId: person(turn % 1_000) })
    ]
  ]
  // Interleaved, so that other load on the machine affects all of them equally.
  const rounds = rows.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, [, work, width = WRITERS]] of rows.entries()) {
      await rate(width, SECONDS / 4, work)
      rounds[index]!.push(await rate(width, SECONDS, work))
    }
  }
  for (const [index, [name]] of rows.entries()) {
    const median = rounds[index]!.sort((one, other) => one - other)[(ROUNDS - 1) / 2]!
    console.log(`${name.padEnd(58)} ${Math.round(median).toLocaleString('en').padStart(7)} per second`)
  }
}
