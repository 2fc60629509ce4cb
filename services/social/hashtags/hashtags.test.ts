import { sql } from 'kysely'
import t from 'tap'
import { hide } from '@tandem/account-kit'
import { givenPost, testApp } from '../test/app.ts'
import { updateTagCounts } from './actions.ts'
import { parseHashtags } from './parsing.ts'

t.test('hashtags are parsed in all spellings', async (t) => {
  const cases: [string, string[]][] = [
    ['#Run,#swim#bike #run (#in) #a_b.', ['run', 'swim', 'bike', 'in', 'a_b']],
    ['#123 #1st # ## C#sharp &#39; a/#b', ['1st']],
    ['https://a.b/c#frag www.x.y/#z', []],
    ["#лето #朝ラン。#don't ＃Ｆｕｌｌ #café!", ['лето', '朝ラン', 'don', 'full', 'café']],
    ['🏃‍♀️#running 1️⃣#one ❤️#love', ['running', 'one', 'love']],
    ['#می\u200Cشود #ශ්\u200Dරී #end\u200D', ['می\u200Cشود', 'ශ්\u200Dරී', 'end']],
    ['#col·lecció #צה״ל #dot·', ['col·lecció', 'צה״ל', 'dot']],
    ['#️⃣x #\u0301x', []],
    ['#İstanbul #ISTANBUL #I\u0307STANBUL', ['istanbul']],
    ['見てhttps://a.b/c#frag、#走る https://a.b/c＃泳ぐ https://пример.рф/?q=#x', ['走る', '泳ぐ']],
    [`#${'x'.repeat(100)} #${'y'.repeat(101)}`, ['x'.repeat(100)]]
  ]
  for (const [text, tags] of cases) t.same(parseHashtags(text), tags, text.slice(0, 60))
  t.equal(parseHashtags(Array.from({ length: 40 }, (_, index) => `#t${index}`).join(' ')).length, 30)
})

t.test('hashtags', async (t) => {
  const { get, post, put, del, person, blocks, rank } = await testApp(t)
  const ana = await person('Ana')
  const ben = await person('Ben')
  const publish = async (content: string, others: object = {}) =>
    (await post(ana, '/feed', { type: 'TEXT', content, ...others })).data.post.id as string
  const found = async (tag: string, others = '') =>
    (await get(ben, `/feed?hashtag=${encodeURIComponent(tag)}${others}`)).data.posts.map((each: { id: string }) =>
      each.id
    )
  const trending = async (viewer = ben) => (await get(viewer, '/hashtags/trending')).data.hashtags

  t.test('posts are found by their current tags in any spelling', async (t) => {
    const first = await publish('#Läufer am Morgen')
    const second = await publish('#läufer #zwei', { type: 'ACTIVITY' })
    await publish('#läufer secret', { visibility: 'PRIVATE' })
    t.same(await found('LÄUFER'), [second, first])
    t.same(await found('#läufer'), [second, first])
    t.same(await found('läufer', '&type=ACTIVITY'), [second])
    t.same(await found('läufer', '&limit=1'), [second])
    t.same(await found('läufer', `&limit=1&cursor=${second}`), [first])
    t.same(await found('läufer', '&feedType=discover'), [second, first])
    t.same(await found('läufer', '&feedType=following'), [])
    await rank()
    t.same((await found('läufer', '&feedType=trending')).sort(), [first, second].sort())
    await put(ana, `/feed/${first}`, { content: 'no tags' })
    t.same(await found('läufer'), [second])
    t.match(await get(ben, '/feed?hashtag='), { status: 400, code: 'VALIDATION_ERROR' })
    const long = await publish(`#${'x'.repeat(100)}`)
    t.same(await found(`#${'x'.repeat(100)}`), [long])
    t.match(await get(ben, `/feed?hashtag=${'x'.repeat(102)}`), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('trending tags count the public posts that the viewer can see', async (t) => {
    for (let each = 0; each < 3; each++) await publish('#week #rare' + each)
    const deleted = await publish('#gone #week')
    await del(ana, `/feed/${deleted}`)
    await publish('#hidden #week', { visibility: 'FOLLOWERS' })
    const tags = await trending()
    t.same(tags[0], { tag: 'week', postsCount: 3 })
    for (const tag of ['gone', 'hidden']) t.notOk(tags.some((each: { tag: string }) => each.tag === tag), tag)
    await blocks(ben, ana)
    t.same(await trending(), [])
    t.same(await found('week'), [])
  })
})

t.test('the tag of most people is first, however often one account uses another', async (t) => {
  const { db, get, post, person, blocks } = await testApp(t)
  const [ana, ben, cat] = [await person('Ana'), await person('Ben'), await person('Cat')]
  const publish = async (author: string, content: string) => await post(author, '/feed', { type: 'TEXT', content })
  for (let each = 0; each < 25; each++) await publish(ana, '#mine #ours')
  for (const author of [ana, ben, cat]) await publish(author, '#ours #all')
  const trending = async (viewer: string) =>
    (await get(viewer, '/hashtags/trending')).data.hashtags.map(({ tag }: { tag: string }) => tag)
  t.same(await trending(ben), ['ours', 'all', 'mine'])
  await blocks(cat, ben)
  await updateTagCounts(db)
  await db.updateTable('hashtag_counts').set({ uses: 2_001 }).execute()
  t.same(await trending(ana), ['ours', 'all', 'mine'])
  t.same(await trending(ben), ['ours', 'all', 'mine'])
  await blocks(ana, ben)
  t.same((await get(ben, '/hashtags/trending')).data.hashtags, [
    { tag: 'all', postsCount: 1 },
    { tag: 'ours', postsCount: 1 }
  ])
})

t.test('tags of many posts are counted in the background, and read from the last count', async (t) => {
  const { db, get, post, del, person, blocks } = await testApp(t)
  const [ana, ben, cat, dan] = [await person('Ana'), await person('Ben'), await person('Cat'), await person('Dan')]
  const publish = async (author: string, content: string) =>
    (await post(author, '/feed', { type: 'TEXT', content })).data.post.id as string
  const trending = async (viewer: string) => (await get(viewer, '/hashtags/trending')).data.hashtags
  const setCount = async (change: { uses?: number, duration_ms?: number, counted_at?: ReturnType<typeof sql<Date>> }) =>
    await db.updateTable('hashtag_counts').set(change).execute()
  const countedAt = async () =>
    (await db.selectFrom('hashtag_counts').select('counted_at').executeTakeFirst())?.counted_at.getTime()

  for (const author of [ana, ana, ben]) await publish(author, '#run #early')
  await publish(ben, '#swim')
  const hidden = await person('Eve')
  await publish(hidden, '#run')
  await hide(db, hidden, true, new Date())
  await Promise.all(Array.from({ length: 20 }, async () => await updateTagCounts(db)))
  t.equal((await db.selectFrom('hashtag_counts').select('uses').executeTakeFirstOrThrow()).uses, 8)
  await setCount({ uses: 2_001, duration_ms: 1_000 })
  const first = await countedAt()
  const all = [{ tag: 'early', postsCount: 3 }, { tag: 'run', postsCount: 3 }, { tag: 'swim', postsCount: 1 }]
  t.same(await trending(cat), all)

  const later = await publish(ana, '#run #later')
  t.same(await trending(cat), all, 'a later post is not counted yet')
  await blocks(dan, ana)
  await blocks(dan, hidden)
  t.same(
    await trending(dan),
    [{ tag: 'early', postsCount: 1 }, { tag: 'run', postsCount: 1 }, { tag: 'swim', postsCount: 1 }],
    'a viewer with blocks sees it without the posts of those people, of which the later one was not in it'
  )

  await setCount({ counted_at: sql<Date>`now() - interval '40 seconds'` })
  await updateTagCounts(db)
  t.same(await trending(cat), all, 'a count that took a second is not made again for 50 s')
  await setCount({ counted_at: sql<Date>`now() - interval '60 seconds'` })
  await Promise.all(Array.from({ length: 20 }, async () => await updateTagCounts(db)))
  t.not(await countedAt(), first)
  await setCount({ uses: 2_001 })
  t.same((await trending(cat))[0], { tag: 'run', postsCount: 4 })

  await setCount({ uses: 2_000, duration_ms: 1 })
  await del(ana, `/feed/${later}`)
  t.same(await trending(cat), all, 'while there are few, each request counts for itself')
  const few = await countedAt()
  await updateTagCounts(db)
  t.equal(await countedAt(), few, 'and they are counted once a minute')
})

t.test('of a week with very many tags, the newest uses are counted', async (t) => {
  const { db, get, person } = await testApp(t)
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const [old, recent] = [await givenPost(db, { author_id: ana }), await givenPost(db, { author_id: ana })]
  const tag = async (postId: string, name: string, uses: number) =>
    await sql`insert into post_hashtags (tag, post_id)
      select ${name}::text || n, ${postId}::uuid from generate_series(1, ${uses}) n`.execute(db)
  await tag(old.id, 'old', 3)
  await tag(recent.id, 'recent', 100_000)
  await updateTagCounts(db)
  const { data: { hashtags } } = await get(ben, '/hashtags/trending')
  t.equal(hashtags.length, 20)
  t.notOk(hashtags.some(({ tag }: { tag: string }) => tag.startsWith('old')))
})
