import { runConcurrently } from '@tandem/test-kit'
import pg from 'pg'
import { settle } from '../kit/settled-people.ts'
import { matchPairs, type Runner } from '../kit/runners.ts'
import type { Stack } from '../kit/stack.ts'

const ACTIVE = 40
const OTHERS = 5_000
const POSTS = 20_000
const FOLLOWED_BY_EACH = 25

export interface World {
  /** Those who use the app. Each has matched with another. */
  active: Runner[]
  /** The ids of everybody else. */
  others: string[]
  /** The ids of public posts, the newest first. */
  posts: string[]
}

/** Creates people through the API, and copies the rows of one of them to make everybody else. */
export async function fillWorld (stack: Stack): Promise<World> {
  const active = await matchPairs(
    await runConcurrently(
      Array.from({ length: ACTIVE }, (_, number) => async () => await settle(stack, `active_${number}`)),
      4
    )
  )
  const db = new pg.Client({ connectionString: stack.postgres.url })
  await db.connect()
  try {
    const model = active[0]!
    await copyPerson(db, model.id)
    await copyPosts(db, model.postId)
    await follow(db, active.map(({ id }) => id))
    await db.query('analyze')
    return {
      active,
      others: Array.from({ length: OTHERS }, (_, number) => otherId(number + 1)),
      posts: await readPosts(db)
    }
  } finally {
    await db.end()
  }
}

const otherId = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
const idOf = (number: string) => `('00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`

async function copyPerson (db: pg.Client, id: string) {
  const me = `live.account_id = '${id}'`
  for (const service of ['profile', 'social', 'dashboard', 'notification', 'fitmatch']) {
    await copyRows(db, `${service}.people`, me, OTHERS, {
      account_id: idOf('n'),
      name: `'Person ' || n`,
      username: `'person' || n`,
      search_name: `'person ' || n`
    })
  }
  await copyRows(db, 'fitmatch.members', me, OTHERS, { account_id: idOf('n') })
  await copyRows(db, 'fitmatch.profiles', me, OTHERS, {
    id: idOf('n'),
    account_id: idOf('n'),
    display_name: `'Person ' || n`,
    // Ten cities, each 20 km wide.
    latitude: '-600 + n % 10 * 100 + (random() * 20)::int',
    longitude: '10600 + (random() * 20)::int'
  })
  await copyRows(
    db,
    'fitmatch.photos',
    `live.profile_id = (select id from fitmatch.profiles live where ${me})`,
    OTHERS,
    {
      id: 'uuidv7()',
      profile_id: idOf('n')
    }
  )
  // Near the others.
  await db.query(`update fitmatch.profiles set latitude = -600 + hashtext(id::text) % 10 * 100, longitude = 10610
    where account_id::text not like '00000000-%'`)
}

/** Copies a post for each of POSTS, over sixty days; a few people write most of them. */
async function copyPosts (db: pg.Client, id: string) {
  const age = `make_interval(secs => (${POSTS} - n) * ${60 * 86_400 / POSTS})`
  await copyRows(db, 'social.posts', `live.id = '${id}'`, POSTS, {
    id: `uuidv7(-${age})`,
    author_id: idOf(`1 + floor(${OTHERS} * random() ^ 2)::int`),
    type: `'TEXT'`,
    content: `repeat('Some words about a run. ', 1 + n % 8)`,
    media_urls: `'{}'`,
    media_type: 'null',
    created_at: `now() - ${age}`
  })
}

async function follow (db: pg.Client, active: string[]) {
  await db.query(
    `insert into social.follows (follower_id, followed_id)
      select follower, ${idOf(`1 + floor(${OTHERS} * random() ^ 2)::int`)}
      from unnest($1::uuid[]) follower, generate_series(1, ${FOLLOWED_BY_EACH}) on conflict do nothing`,
    [active]
  )
  await db.query(`insert into social.follow_counts (account_id, followers_count)
    select followed_id, count(*) from social.follows group by 1
    on conflict (account_id) do update set followers_count = excluded.followers_count`)
  await db.query(`insert into social.follow_counts (account_id, following_count)
    select follower_id, count(*) from social.follows group by 1
    on conflict (account_id) do update set following_count = excluded.following_count`)
}

async function readPosts (db: pg.Client) {
  const { rows } = await db.query<{ id: string }>(
    `select id from social.posts where visibility = 'PUBLIC' and deleted_at is null order by id desc limit 3000`
  )
  return rows.map(({ id }) => id)
}

/** Copies one row `count` times, with other values in some columns, if the table has them. `n` is the number of the copy. */
async function copyRows (
  db: pg.Client,
  table: string,
  where: string,
  count: number,
  values: Record<string, string>
) {
  const { rows } = await db.query<{ name: string }>(
    `select column_name as name from information_schema.columns
      where table_schema || '.' || table_name = $1 and is_generated = 'NEVER'`,
    [table]
  )
  const names = rows.map(({ name }) => name)
  await db.query(`insert into ${table} (${names.join()})
    select ${names.map((name) => values[name] ?? `live.${name}`).join()}
    from ${table} live, generate_series(1, ${count}) n where ${where}`)
}
