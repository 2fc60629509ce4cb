import { sql } from 'kysely'
import t from 'tap'
import { givenPost, testApp } from '../test/app.ts'
import { likesCount } from './counts.ts'

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

  const count = db.selectFrom('posts').where('id', '=', id).select(likesCount(ana).as('likes'))
  t.equal(Number((await count.executeTakeFirstOrThrow()).likes), 5_000)
  const { rows: [explained] } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>`
    explain (analyze, buffers, format json) ${count}`.execute(db)
  const blocksRead = explained!['QUERY PLAN'][0].Plan['Shared Hit Blocks']
  t.ok(blocksRead < 40, `${blocksRead} blocks of 8 KiB`)
})
