import { sql, type Expression } from 'kysely'
import t, { type Test } from 'tap'
import { givenPost, testApp } from '../test/app.ts'
import type { Db } from '../tables.ts'
import { commentsCount, likesCount } from './counts.ts'

t.test('to leave out the likes of blocked people, Postgres reads theirs only, however many a post has', async (t) => {
  const { db, blocks, person } = await testApp(t)
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { id } = await givenPost(db, { author_id: ana, likes_count: 5_001 })
  await sql`insert into likes (post_id, account_id) select ${id}, gen_random_uuid() from generate_series(1, 5000)`
    .execute(db)
  await sql`insert into likes (post_id, account_id) values (${id}, ${ben})`.execute(db)
  // Most posts have few, which is what Postgres expects of each.
  await sql`
    with others as (
      insert into posts (author_id, type, visibility, content, media_urls)
      select ${ana}, 'TEXT', 'PUBLIC', 'hello', '{}' from generate_series(1, 2000) returning id)
    insert into likes (post_id, account_id) select id, gen_random_uuid() from others`.execute(db)
  await blocks(ana, ben)
  await sql`analyze likes, posts, blocks`.execute(db)

  const likes = db.selectFrom('posts').where('id', '=', id).select(likesCount(ana).as('count'))
  t.equal(Number((await likes.executeTakeFirstOrThrow()).count), 5_000)
  await readsFew(t, db, likes)
})

t.test('of a person in blocks with very many, Postgres reads the rows of a post, which are fewer', async (t) => {
  const { db, blocks, person } = await testApp(t)
  const [ana, ben, cleo] = [await person('Ana'), await person('Ben'), await person('Cleo')]
  const { id } = await givenPost(db, { author_id: ana, likes_count: 2, comments_count: 3 })
  await sql`insert into likes (post_id, account_id) values (${id}, ${ben}), (${id}, ${cleo})`.execute(db)
  await sql`insert into comments (post_id, author_id, content) select ${id}, author, 'x'
    from unnest(array[${ben}, ${ben}, ${cleo}]::uuid[]) as author`.execute(db)
  await sql`insert into blocks (account_id, other_id, blocker_id, is_lifted, changed_at)
    select ${ana}, other, other, false, now() from (select gen_random_uuid() as other from generate_series(1, 5000)) others`
    .execute(db)
  await blocks(ben, ana)
  await blocks(ana, ben)
  await sql`analyze likes, comments, posts, blocks`.execute(db)
  const post = db.selectFrom('posts').where('id', '=', id)
  for (const [viewer, counts] of [[ana, [1, 1]], [ben, [2, 3]], [cleo, [2, 1]]] as const) {
    const [likes, comments] = [likesCount, commentsCount].map((count) => post.select(count(viewer).as('count')))
    for (const [index, query] of [likes!, comments!].entries()) {
      t.equal(Number((await query.executeTakeFirstOrThrow()).count), counts[index])
      await readsFew(t, db, query)
    }
  }
})

async function readsFew (t: Test, db: Db, query: Expression<unknown>) {
  const { rows: [explained] } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>`
    explain (analyze, buffers, format json) ${query}`.execute(db)
  const blocksRead = explained!['QUERY PLAN'][0].Plan['Shared Hit Blocks']
  t.ok(blocksRead < 40, `${blocksRead} blocks of 8 KiB`)
}
