import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export interface Filled { posts: number, readers: Record<string, string[]>, star: string }

const PEOPLE = 100_000
const AT_ONCE = 20_000

/** A person's id from his number, so that he need not be looked up. */
const idOf = (number: string) => sql.raw<string>(`('00000000-0000-7000-8000-' || lpad((${number})::bigint::text, 12, '0'))::uuid`)
export const person = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

/** `total` posts over a year by 100,000 people, of whom the first write most; readers who follow few, many, and people who hardly write. */
export async function fill (db: Db, total: number): Promise<Filled> {
  await inSteps(PEOPLE, async (from, to) => await sql`
    insert into people (account_id, name, username, locale, timezone, folded, changed_at)
    select ${idOf('n')}, 'Person ' || n, 'person' || n, 'en', 'UTC', 'person ' || n, now() from generate_series(${from}::int, ${to}::int) n`.execute(db))

  await inSteps(total, async (from, to) => await sql`
    with made as (
      select n, (${total} - n) * (365 * 86400.0 / ${total}) as age, floor(${PEOPLE} * random() ^ 2)::int as author, random() as dice from generate_series(${from}::int, ${to}::int) n)
    insert into posts (id, author_id, type, visibility, content, media_urls, likes_count, comments_count, views_count, created_at)
    select uuidv7(make_interval(secs => -age)), ${idOf('author')},
      (array['TEXT', 'TEXT', 'IMAGE', 'IMAGE', 'WORKOUT', 'ACTIVITY'])[1 + floor(random() * 6)],
      case when dice < 0.8 then 'PUBLIC' when dice < 0.95 then 'FOLLOWERS' else 'PRIVATE' end,
      repeat('Some words about a run. ', 1 + n % 8), '{}', floor(random() * 50), floor(random() * 10), floor(random() * 500), now() - make_interval(secs => age)
    from made`.execute(db))
  await sql`
    insert into post_hashtags (tag, post_id) select 'tag' || floor(1000 * random() ^ 2)::int, id from (select id from posts order by id desc limit ${total / 10}) tagged`.execute(db)

  const readers: Record<string, string[]> = {}
  let next = PEOPLE
  const add = async (name: string, count: number, follows: number, of: string) => {
    readers[name] = []
    for (let each = 0; each < count; each++) {
      const reader = person(next++)
      readers[name].push(reader)
      await inSteps(follows, async (from, to) => await sql`
        insert into follows (follower_id, followed_id) select ${reader}::uuid, ${idOf(of)} from generate_series(${from}::int, ${to}::int) n on conflict do nothing`.execute(db))
    }
  }
  await add('44 followed', 200, 44, `floor(${PEOPLE} * random() ^ 2)::int`)
  await add('2,000 followed', 20, 2_000, `floor(${PEOPLE} * random())::int`)
  await add('10,000 followed', 5, 10_000, `floor(${PEOPLE} * random())::int`)
  await add('10,000 who never write', 2, 10_000, '500000 + n')
  await add('nobody followed', 20, 0, '0')

  const star = person(next++)
  await inSteps(10_000, async (from, to) => await sql`
    insert into follows (follower_id, followed_id) select ${idOf('n')}, ${star}::uuid from generate_series(${from}::int, ${to}::int) n`.execute(db))
  // So many that to read all of them, or all of one reader's, for the posts of a page would show.
  await inSteps(total / 10, async (from, to) => await sql`
    insert into likes (post_id, account_id)
    select id, ${idOf(`${PEOPLE + 250} * random()`)} from (select id from posts order by id desc limit ${to - from + 1} offset ${from - 1}) liked, generate_series(1, 10)
    on conflict do nothing`.execute(db))
  await sql`insert into standings (account_id, following_count) select follower_id, count(*) from follows group by 1`.execute(db)
  for (const table of ['people', 'posts', 'likes', 'follows', 'post_hashtags', 'standings']) await analyze(db, table)
  return { posts: total, readers, star }
}

async function inSteps (total: number, step: (from: number, to: number) => Promise<unknown>) {
  for (let from = 1; from <= total; from += AT_ONCE) await step(from, Math.min(from + AT_ONCE - 1, total))
}

async function analyze (db: Db, table: string) {
  // Vacuumed, as autovacuum would have it after a while: or no index answers alone.
  await sql.raw(`vacuum (analyze) ${table}`).execute(db)
}
