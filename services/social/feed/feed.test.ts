import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { PersonHidden } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import type { Tables } from '../tables.ts'
import { createApp, givenPost, testApp, type TestApp } from '../test/app.ts'
import { readAll } from './queries.ts'
import { rankPosts, updateRanking } from './ranking.ts'

const ids = (posts: { id: string }[]) => posts.map((post) => post.id)

/** Reads a feed to its end and calls `between` after each page. */
async function leaf (
  { get }: TestApp,
  viewer: string,
  query: string,
  between: () => Promise<unknown> = async () => {}
) {
  const seen: string[] = []
  let cursor: string | null = ''
  do {
    const { status, data } = await get(viewer, `/feed?${query}${cursor && `&cursor=${cursor}`}`)
    if (status !== 200) throw new Error(`unexpected status ${status}`)
    seen.push(...ids(data.posts))
    cursor = data.nextCursor
    await between()
  } while (cursor)
  return seen
}

t.test('feeds', async (t) => {
  const app = await testApp(t)
  const { db, get, post, person, follows, matches, blocks, rank } = app
  const me = await person('Me')
  const [followed, matched, stranger, blocked] = [
    await person('Followed'),
    await person('Matched'),
    await person('Stranger'),
    await person('Blocked')
  ]
  await follows(me, followed)
  await matches(me, matched)
  await blocks(blocked, me)
  const byName = new Map<string, string>()
  for (const [name, author_id] of Object.entries({ me, followed, matched, stranger, blocked })) {
    for (const visibility of ['PUBLIC', 'FOLLOWERS', 'PRIVATE'] as const) {
      byName.set(`${name} ${visibility}`, (await givenPost(db, { author_id, visibility, type: 'ACTIVITY' })).id)
    }
    byName.set(`${name} deleted`, (await givenPost(db, { author_id, deleted_at: new Date() })).id)
  }
  await rank()
  const names = async (query: string) =>
    ids((await get(me, `/feed?${query}`)).data.posts).map((id) => [...byName].find(([, each]) => each === id)?.[0])
      .reverse()

  t.test('each feed contains its posts, newest first', async (t) => {
    t.same(await names(''), ['me PUBLIC', 'followed PUBLIC', 'followed FOLLOWERS', 'matched PUBLIC', 'stranger PUBLIC'])
    t.same(await names('feedType=all&type=ACTIVITY'), await names(''))
    t.same(await names('type=POLL'), [])
    t.same(await names('feedType=following'), ['followed PUBLIC', 'followed FOLLOWERS'])
    t.same(await names('feedType=following&type=ACTIVITY'), ['followed PUBLIC', 'followed FOLLOWERS'])
    t.same(await names('feedType=following&type=TEXT'), [])
    t.same(await names('feedType=discover'), ['stranger PUBLIC'])
    t.same(
      new Set(await names('feedType=trending')),
      new Set(['followed PUBLIC', 'matched PUBLIC', 'me PUBLIC', 'stranger PUBLIC'])
    )
    t.same(await names(`userId=${me}`), ['me PUBLIC', 'me FOLLOWERS', 'me PRIVATE'])
    t.same(await names(`userId=${followed}`), ['followed PUBLIC'])
    t.same(await names(`userId=${stranger}&feedType=following`), ['stranger PUBLIC'])
    t.same(await names(`userId=${blocked}`), [])
    t.same(await names('userId=garbage'), [])
  })

  t.test("a post contains the caller's like and poll vote", async (t) => {
    const { id } = await givenPost(db, { author_id: followed })
    await post(me, `/feed/${id}/like`)
    await rank()
    for (const query of ['', 'feedType=following', 'feedType=trending', `userId=${followed}`]) {
      t.match((await get(me, `/feed?${query}`)).data.posts.find((each: { id: string }) => each.id === id), {
        isLiked: true,
        likesCount: 1,
        user: { id: followed, name: 'Followed', username: 'followed', image: null }
      }, query)
      t.match(
        (await get(stranger, `/feed?${query}`)).data.posts.find((each: { id: string }) => each.id === id) ??
          { isLiked: false },
        { isLiked: false },
        query
      )
    }
    await db.deleteFrom('posts').where('id', '=', id).execute()
  })

  t.test('limits are exact at both ends', async (t) => {
    for (const good of ['limit=1', 'limit=50']) t.equal((await get(me, `/feed?${good}`)).status, 200)
    for (const bad of ['limit=0', 'limit=51', 'limit=x', 'cursor=x', 'feedType=mine', 'type=SONG']) {
      t.match(await get(me, `/feed?${bad}`), { status: 400, code: 'VALIDATION_ERROR' }, bad)
    }
  })
})

t.test('pages have no gap and no repeat while posts arrive, and end', async (t) => {
  const app = await testApp(t)
  const { db, person, follows } = app
  const me = await person('Me')
  const authors = [await person('A1'), await person('A2'), await person('A3')]
  const stranger = await person('Stranger')
  for (const author of authors) await follows(me, author)
  const posted: string[] = []
  for (let each = 0; each < 23; each++) posted.unshift((await givenPost(db, { author_id: authors[each % 7 % 3]! })).id)
  const other: string[] = []
  for (let each = 0; each < 7; each++) other.unshift((await givenPost(db, { author_id: stranger })).id)
  const arrive = async () => {
    await givenPost(db, { author_id: authors[0]! })
    await givenPost(db, { author_id: stranger })
  }

  t.same(await leaf(app, me, 'feedType=following&limit=5', arrive), posted)
  t.same((await leaf(app, me, 'feedType=all&limit=4', arrive)).filter((id) => posted.includes(id)), posted)
  t.same((await leaf(app, me, 'feedType=discover&limit=3', arrive)).filter((id) => other.includes(id)), other)
  t.same((await leaf(app, me, `userId=${stranger}&limit=1`)).filter((id) => other.includes(id)), other)
  const followed = await leaf(app, me, 'feedType=following&limit=50')
  t.equal((await leaf(app, me, `feedType=following&limit=${followed.length}`)).length, followed.length)
  t.same(
    (await app.get(me, '/feed?feedType=following&limit=1')).data.nextCursor,
    followed[0],
    'the cursor is the last id'
  )
  t.same((await app.get(stranger, '/feed?feedType=following')).data, { posts: [], nextCursor: null })
})

t.test('a reader who follows many people gets the same pages, whether or not the newest posts of all fill a page', async (t) => {
  const app = await testApp(t)
  const { db, person, follows } = app
  const me = await person('Me')
  const [often, rare, stranger] = [await person('Often'), await person('Rare'), await person('Stranger')]
  await follows(me, often)
  await follows(me, rare)
  const expected: string[] = []
  for (let each = 0; each < 12; each++) expected.unshift((await givenPost(db, { author_id: rare })).id)
  await db.insertInto('posts').columns(['author_id', 'type', 'visibility', 'content', 'media_urls'])
    .expression(sql`select ${stranger}::uuid, 'TEXT', 'PUBLIC', 'x', '{}' from generate_series(1, 2500)`).execute()
  for (let each = 0; each < 12; each++) expected.unshift((await givenPost(db, { author_id: often })).id)
  t.same(await leaf(app, me, 'feedType=following&limit=5'), expected)
  await db.updateTable('follow_counts').where('account_id', '=', me).set({ following_count: 501 }).execute()
  t.same(await leaf(app, me, 'feedType=following&limit=5'), expected)
})

t.test('a reader finds what they can see behind any number of posts that they cannot see, which are not read', async (t) => {
  const app = await testApp(t)
  const { db, person, follows, handlers } = app
  const [me, friend, stranger, hidden] = [
    await person('Me'),
    await person('Friend'),
    await person('Stranger'),
    await person('Hidden')
  ]
  await follows(me, friend)
  const fill = async (author: string, visibility: string) =>
    await sql`insert into posts (author_id, type, visibility, content, media_urls)
      select ${author}, 'TEXT', ${visibility}, 'x', '{}' from generate_series(1, 3000)`.execute(db)
  const expected: string[] = []
  for (let each = 0; each < 5; each++) {
    expected.unshift((await givenPost(db, { author_id: friend, visibility: 'FOLLOWERS' })).id)
    expected.unshift((await givenPost(db, { author_id: me })).id)
    expected.unshift((await givenPost(db, { author_id: stranger })).id)
  }
  await fill(hidden, 'PUBLIC')
  await fill(stranger, 'FOLLOWERS')
  await deliver(handlers, PersonHidden.type, { accountId: hidden, hidden: true })
  await sql`analyze posts`.execute(db)
  expected.unshift((await givenPost(db, { author_id: friend })).id)

  for (const filter of ['', '&type=TEXT']) t.same(await leaf(app, me, `limit=5${filter}`), expected, filter)
  await db.transaction().execute(async (trx) => {
    const countReads = async () => {
      const { rows: [posts] } = await sql<{ reads: number }>`
        select (seq_tup_read + idx_tup_fetch)::integer as reads from pg_stat_xact_user_tables where relname = 'posts'`
        .execute(trx)
      return posts!.reads
    }
    const before = await countReads()
    t.same(ids(await readAll(trx, me, { limit: 20 })), expected)
    const reads = await countReads() - before
    t.ok(reads < 2_200, `${reads} posts were read`)
  })
})

t.test('trending', async (t) => {
  const app = await testApp(t)
  const { db, get, post, del, person, rank, handlers } = app
  const me = await person('Me')
  const ana = await person('Ana')
  const aged = async (hours: number, counts: object = {}) => {
    const { id } = await givenPost(
      db,
      {
        author_id: ana,
        id: sql`uuidv7(make_interval(hours => -${sql.lit(hours)}))`,
        created_at: sql`now() - make_interval(hours => ${hours})`,
        ...counts
      } as never
    )
    return id
  }

  /** Comments and readers by so many people. */
  async function engage (postId: string, commenters: number, readers: number) {
    await sql`insert into comments (post_id, author_id, content)
      select ${postId}, gen_random_uuid(), 'x' from generate_series(1, ${commenters}::int)`.execute(db)
    await sql`insert into post_readers (post_id, account_id)
      select ${postId}, gen_random_uuid() from generate_series(1, ${readers}::int)`.execute(db)
  }

  t.test('nobody makes a trend alone, and hidden people do not help', async (t) => {
    const [loud, quiet] = [await aged(1), await aged(1, { likes_count: 1 })]
    const [zoe, bot] = [await person('Zoe'), await person('Bot')]
    await db.insertInto('likes').values({ post_id: quiet, account_id: zoe }).execute()
    await post(ana, `/feed/${loud}/like`)
    for (let each = 0; each < 12; each++) await post(ana, `/feed/${loud}/comment`, { content: 'me' })
    for (let each = 0; each < 60; each++) await get(me, `/feed/${loud}`)
    const trending = async () => {
      await rank()
      return ids((await get(me, '/feed?feedType=trending')).data.posts)
    }
    t.same(await trending(), [quiet, loud])
    for (let each = 0; each < 3; each++) await post(bot, `/feed/${loud}/comment`, { content: 'bot' })
    await post(bot, `/feed/${loud}/like`)
    t.same(await trending(), [loud, quiet], 'another person counts, once')
    await deliver(handlers, PersonHidden.type, { accountId: bot, hidden: true })
    t.same(await trending(), [quiet, loud])
    await db.deleteFrom('posts').execute()
  })

  t.test('the score weighs engagement by age and ignores posts older than a week', async (t) => {
    const score = (likes: number, comments: number, views: number, hours: number) =>
      (likes + 2 * comments + 0.1 * views + 1) / (hours + 2) ** 1.5
    const given = [[0, 0, 0, 1], [9, 0, 0, 2], [0, 9, 0, 3], [0, 0, 90, 4], [200, 10, 5, 100], [30, 3, 3, 20], [
      1,
      1,
      1,
      167
    ]] as const
    const expected: { id: string, score: number }[] = []
    for (const [likes, comments, views, hours] of given) {
      const id = await aged(hours, { likes_count: likes, comments_count: comments, views_count: views })
      await engage(id, comments, views)
      expected.push({ id, score: score(likes, comments, views, hours) })
    }
    await aged(169, { likes_count: 10_000 })
    expected.sort((one, other) => other.score - one.score)
    await rank()
    t.same(ids((await get(me, '/feed?feedType=trending')).data.posts), ids(expected))
    await db.deleteFrom('posts').execute()
  })

  t.test('pages have no gap and no repeat while scores change and posts are created and deleted', async (t) => {
    const posts: string[] = []
    for (let each = 0; each < 20; each++) posts.push(await aged(each + 1))
    await rank()
    let page = 0
    const deleted = posts[12]!
    const seen = await leaf(app, me, 'feedType=trending&limit=4', async () => {
      page++
      // The last post of the old ranking is now first, and a new post precedes it.
      await db.updateTable('posts').where('id', '=', posts[20 - page]!).set({ likes_count: 100 * page }).execute()
      await givenPost(db, { author_id: ana, likes_count: 1_000 })
      await rank()
      await get(ana, '/feed?feedType=trending&limit=4')
      if (page === 1) await del(ana, `/feed/${deleted}`)
    })
    t.same(seen, posts.filter((id) => id !== deleted))
    t.same((await get(me, `/feed?feedType=trending&cursor=${crypto.randomUUID()}`)).data, {
      posts: [],
      nextCursor: null
    })
  })

  t.test('the id of the last post works as a cursor', async (t) => {
    await rank()
    const first = ids((await get(me, '/feed?feedType=trending&limit=3')).data.posts)
    const all = ids((await get(me, '/feed?feedType=trending&limit=10')).data.posts)
    t.same(ids((await get(me, `/feed?feedType=trending&limit=3&cursor=${first[2]}`)).data.posts), all.slice(3, 6))
  })

  t.test('an expired cursor continues at its position in the newest ranking', async (t) => {
    const { nextCursor } = (await get(me, '/feed?feedType=trending&limit=2')).data
    await aged(1, { likes_count: 70_000 })
    await db.updateTable('trending_rankings').set({ confirmed_at: sql`now() - interval '1 hour'` }).execute()
    await updateRanking(db)
    t.same(
      ids((await get(me, `/feed?feedType=trending&cursor=${nextCursor}&limit=3`)).data.posts),
      ids((await get(me, '/feed?feedType=trending&limit=5')).data.posts).slice(2)
    )
  })
})

t.test('of a week with very many public posts, the newest are ranked', async (t) => {
  const { db, person } = await testApp(t)
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ana, likes_count: 1 })
  await db.insertInto('likes').values({ post_id: id, account_id: ben }).execute()
  const add = async (count: number) =>
    await sql`
      insert into posts (author_id, type, visibility, content, media_urls)
      select ${ana}, 'TEXT', 'PUBLIC', 'x', '{}' from generate_series(1, ${count}::int)`.execute(db)
  const ranked = async () => await db.transaction().execute(async (trx) => await rankPosts(trx, 300))
  await add(299)
  t.equal((await ranked())[0], id, 'the first of 300')
  await add(1)
  t.notOk((await ranked()).includes(id))
})

t.test('reading trending posts writes nothing, also for unknown hashtags', async (t) => {
  const app = await testApp(t)
  const { db, url, deps, person, post, rank } = app
  const ana = await person('Ana')
  for (let each = 0; each < 30; each++) {
    await post(ana, '/feed', { type: 'TEXT', content: each % 2 ? 'Up early #running' : 'Late' })
  }
  await rank()
  // A write would fail here.
  const readOnly = connect<Tables>(url.replace('-c', '-c default_transaction_read_only=on -c').replaceAll(' ', '%20'), {
    log: silentLog
  })
  t.teardown(() => readOnly.destroy())
  await t.rejects(readOnly.deleteFrom('posts').execute(), { message: /read-only/ })
  const reader = await createApp({ ...deps, db: readOnly }, { log: silentLog, keys: testKeys })
  t.teardown(() => reader.close())
  const sizes = async () =>
    (await sql`
    select relname, pg_total_relation_size(oid) as bytes from pg_class where relnamespace = current_schema()::regnamespace order by relname`
      .execute(db)).rows

  const headers = bearer(await person('Ben'))
  const before = await sizes()
  for (let round = 0; round < 50; round++) {
    const responses = await Promise.all(Array.from({ length: 20 }, async (_, number) => {
      const query = ['', '&hashtag=running', `&hashtag=made_up_${round}_${number}`, '&type=POLL'][number % 4]
      return await reader.inject({ url: `/feed?feedType=trending&limit=5${query}`, headers })
    }))
    t.ok(responses.every(({ statusCode }) => statusCode === 200))
    t.strictSame(responses.slice(0, 4).map((response) => response.json().data.posts.length), [5, 5, 0, 0])
  }
  t.strictSame(await sizes(), before)
})

t.test('one ranking is computed for everybody, at most once every few seconds, and written only if the order changes', async (t) => {
  const { db, person } = await testApp(t)
  const ana = await person('Ana')
  await givenPost(db, { author_id: ana })
  const numbers =
    async () => (await db.selectFrom('trending_rankings').select(['number', 'confirmed_at']).orderBy('number')
      .execute())
  await Promise.all(Array.from({ length: 20 }, async () => await updateRanking(db)))
  t.equal((await numbers()).length, 1)

  await givenPost(db, { author_id: ana, likes_count: 9 })
  await updateRanking(db)
  t.equal((await numbers()).length, 1, 'no new ranking is due')
  // On a busy machine a ranking takes long, and the next one is due later.
  const age = async (interval: string) =>
    await db.updateTable('trending_rankings').set({ duration_ms: 1, confirmed_at: sql`now() - ${interval}::interval` })
      .execute()
  await age('4 seconds')
  await Promise.all(Array.from({ length: 20 }, async () => await updateRanking(db)))
  t.equal((await numbers()).length, 2)
  await age('4 seconds')
  await updateRanking(db)
  t.equal((await numbers()).length, 2, 'the order has not changed')
  await db.updateTable('trending_rankings').set({
    duration_ms: 1_000,
    confirmed_at: sql`now() - interval '40 seconds'`
  }).execute()
  await givenPost(db, { author_id: ana, likes_count: 99 })
  await updateRanking(db)
  t.equal((await numbers()).length, 2, 'a slow ranking is computed less often')
  await age('1 hour')
  await updateRanking(db)
  t.equal((await numbers()).length, 1, 'expired rankings are deleted')
})

t.test('a process that serves nobody ranks once a minute, and at once when somebody returns', async (t) => {
  const { app, deps, db, person, send } = await testApp(t)
  const ana = await person('Ana')
  const stop = deps.ranking.start(silentLog)
  t.teardown(stop)
  const confirmed = async () =>
    (await db.selectFrom('trending_rankings').select('confirmed_at').executeTakeFirst())?.confirmed_at
      .getTime()
  await until(async () => await confirmed() !== undefined)
  const age = async () => {
    await db.updateTable('trending_rankings').set({ confirmed_at: sql`now() - interval '4 seconds'` }).execute()
    return await confirmed()
  }

  const aged = await age()
  for (const url of ['/health/ready', '/health/live']) await app.inject(url)
  await sleep(3_500)
  t.equal(await confirmed(), aged, 'probes are no readers')
  await send(ana, 'GET', '/feed?feedType=trending')
  await until(async () => await confirmed() !== aged)
  const again = await age()
  await until(async () => await confirmed() !== again)
})
