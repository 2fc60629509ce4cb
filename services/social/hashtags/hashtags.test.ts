import t from 'tap'
import { testApp } from '../test/app.ts'
import { parseHashtags } from './parsing.ts'

t.test('hashtags are parsed in all spellings', async (t) => {
  const cases: [string, string[]][] = [
    ['#Run,#swim#bike #run (#in) #a_b.', ['run', 'swim', 'bike', 'in', 'a_b']],
    ['#123 #1st # ## C#sharp &#39; a/#b', ['1st']],
    ['https://a.b/c#frag www.x.y/#z', []],
    ["#лето #朝ラン。#don't ＃Ｆｕｌｌ #café!", ['лето', '朝ラン', 'don', 'full', 'café']],
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
    t.match(await get(ben, `/feed?hashtag=${'x'.repeat(101)}`), { status: 400, code: 'VALIDATION_ERROR' })
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
