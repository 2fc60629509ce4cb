import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export interface Filled {
  posts: number
  readers: Record<string, string[]>
  star: string
}

const PEOPLE = 100_000
const BATCH_SIZE = 20_000

/** A person's id, derived from a number so that no lookup is needed. */
const accountId = (number: string) =>
  sql.raw<string>(`('00000000-0000-7000-8000-' || lpad((${number})::bigint::text, 12, '0'))::uuid`)
export const person = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

/**
 * Creates `total` posts over a year by 100,000 people, most of them by the first ones, and readers who follow few
 * people, many people, and people without posts.
 */
export async function fill (db: Db, total: number): Promise<Filled> {
  await inSteps(PEOPLE, async (from, to) =>
    await sql`
    insert into people (account_id, name, username, locale, timezone, search_name, changed_at)
    select ${accountId('n')}, 'Person ' || n, 'person' || n, 'en', 'UTC', 'person ' || n, now()
    from generate_series(${from}::int, ${to}::int) n`.execute(db))

  await inSteps(total, async (from, to) =>
    await sql`
    with made as (
      select n, (${total} - n) * (365 * 86400.0 / ${total}) as age, floor(${PEOPLE} * random() ^ 2)::int as author,
        random() as dice
      from generate_series(${from}::int, ${to}::int) n)
    insert into posts (id, author_id, type, visibility, content, media_urls, likes_count, comments_count, views_count,
      created_at)
    select uuidv7(make_interval(secs => -age)), ${accountId('author')},
      (array['TEXT', 'TEXT', 'IMAGE', 'IMAGE', 'WORKOUT', 'ACTIVITY'])[1 + floor(random() * 6)],
      case when dice < 0.8 then 'PUBLIC' when dice < 0.95 then 'FOLLOWERS' else 'PRIVATE' end,
      repeat('Some words about a run. ', 1 + n % 8), '{}', floor(random() * 50), floor(random() * 10),
      floor(random() * 500), now() - make_interval(secs => age)
    from made`.execute(db))
  await sql`
    insert into post_hashtags (tag, post_id) select 'tag' || floor(1000 * random() ^ 2)::int, id
    from (select id from posts order by id desc limit ${total / 10}) tagged`.execute(db)

  const readers: Record<string, string[]> = {}
  let next = PEOPLE
  const add = async (name: string, count: number, follows: number, of: string) => {
    readers[name] = []
    for (let each = 0; each < count; each++) {
      const reader = person(next++)
      readers[name].push(reader)
      await inSteps(follows, async (from, to) =>
        await sql`
        insert into follows (follower_id, followed_id) select ${reader}::uuid, ${accountId(of)}
        from generate_series(${from}::int, ${to}::int) n on conflict do nothing`.execute(db))
    }
  }
  await add('44 followed', 200, 44, `floor(${PEOPLE} * random() ^ 2)::int`)
  await add('2,000 followed', 20, 2_000, `floor(${PEOPLE} * random())::int`)
  await add('10,000 followed', 5, 10_000, `floor(${PEOPLE} * random())::int`)
  await add('10,000 followed without posts', 2, 10_000, '500000 + n')
  await add('nobody followed', 20, 0, '0')

  const star = person(next++)
  await inSteps(10_000, async (from, to) =>
    await sql`
    insert into follows (follower_id, followed_id) select ${accountId('n')}, ${star}::uuid
    from generate_series(${from}::int, ${to}::int) n`.execute(db))
  // Enough likes that reading all of them, or all of one reader's, for a page would be visible in the figures.
  await inSteps(total / 10, async (from, to) =>
    await sql`
    insert into likes (post_id, account_id)
    select id, ${accountId(`${PEOPLE + 250} * random()`)}
    from (select id from posts order by id desc limit ${to - from + 1} offset ${from - 1}) liked, generate_series(1, 10)
    on conflict do nothing`.execute(db))
  await sql`insert into follow_counts (account_id, following_count) select follower_id, count(*)
    from follows group by 1`
    .execute(db)
  for (const table of ['people', 'posts', 'likes', 'follows', 'post_hashtags', 'follow_counts']) {
    await analyze(db, table)
  }
  return { posts: total, readers, star }
}

async function inSteps (total: number, step: (from: number, to: number) => Promise<unknown>) {
  for (let from = 1; from <= total; from += BATCH_SIZE) await step(from, Math.min(from + BATCH_SIZE - 1, total))
}

async function analyze (db: Db, table: string) {
  // Vacuum, as autovacuum would do after a while: otherwise there are no index-only scans.
  await sql.raw(`vacuum (analyze) ${table}`).execute(db)
}
