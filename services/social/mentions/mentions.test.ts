import t from 'tap'
import { examplePerson, testApp } from '../test/app.ts'
import { findHashtags } from '../hashtags/parsing.ts'
import { findMentions, parseMentions } from './parsing.ts'

t.test('mentions are parsed in all spellings', async (t) => {
  const cases: [string, string[]][] = [
    ['Hi @ben, and @Ana.b. (@cara)!', ['ben', 'ana.b', 'cara']],
    ['@ben @BEN @ben_', ['ben', 'ben_']],
    ['mail ana@ben.com or @ben@host.org, @bent.x@host', []],
    ['https://x.com/@ben www.y.z/@ana x/@cara', []],
    ['@benさん と話す こんにちは@cara', ['ben', 'cara']],
    ['.@ben -@ana "@cara" @öxx @benö', ['ben', 'ana', 'cara']],
    [`@ab @abc @${'x'.repeat(30)} @${'y'.repeat(31)}`, ['abc', 'x'.repeat(30)]],
    ['a@@ben @ @.. ＠ben', ['ben']],
    ['@ben.. @ana.b... @x. @x..xyz @ben.@cara @.dora', ['ben', 'ana.b', 'cara']],
    ['🏃‍♀️@ben ❤️@cara 1️⃣@dora サッカー@ana', ['ben', 'cara', 'dora', 'ana']],
    ['見てhttps://a.b/c、@ben https://a.b/@x。＠cara https://пример.рф/?q=@dora', ['ben', 'cara']]
  ]
  for (const [text, names] of cases) t.same(parseMentions(text), names, text.slice(0, 60))
  t.equal(parseMentions(Array.from({ length: 60 }, (_, index) => `@name${index}`).join(' ')).length, 50)
})

t.test('a mention has its position in UTF-16 code units', async (t) => {
  const text = '👋🏽 @Ben. see https://x.com/@cara, @ana.b!'
  const found = findMentions(text)
  t.same(found.map(({ start, end }) => text.slice(start, end)), ['@Ben', '@ana.b'])
  t.same(found.map(({ username }) => username), ['ben', 'ana.b'])
  const tags = '🏃 #Run#Fun，＃１０Ｋ #10 www.x.com/#no'
  t.same(findHashtags(tags).map(({ tag, start, end }) => [tag, tags.slice(start, end)]), [
    ['run', '#Run'],
    ['fun', '#Fun'],
    ['10k', '＃１０Ｋ']
  ])
})

t.test('mentions', async (t) => {
  const { db, get, post, put, publishedEvents, person, follows, blocks, profiles, rank } = await testApp(t)
  const ana = await person('Ana')
  const ben = await person('Ben')
  const cara = await person('Cara')
  await follows(ben, ana)
  const mentionEvents = async () => await publishedEvents('social.people.mentioned.v1')

  t.test('only people who can read the post are in the event, each once, never its author', async (t) => {
    const publish = async (visibility: string) =>
      (await post(ana, '/feed', { type: 'TEXT', visibility, content: '@ana @ben @Ben @cara @nobody' })).data.post.id
    const open = await publish('PUBLIC')
    const first = (await mentionEvents()).at(-1)!
    t.match(first, { postId: open, commentId: null, authorId: ana, excerpt: '@ana @ben @Ben @cara @nobody' })
    t.same((first['mentioned'] as string[]).toSorted(), [ben, cara].toSorted())
    const followers = await publish('FOLLOWERS')
    t.same((await mentionEvents()).at(-1), {
      postId: followers,
      commentId: null,
      authorId: ana,
      postAuthorId: ana,
      mentioned: [ben],
      excerpt: null
    })
    const count = (await mentionEvents()).length
    await publish('PRIVATE')
    t.equal((await mentionEvents()).length, count)
    await blocks(cara, ana)
    await publish('PUBLIC')
    t.same((await mentionEvents()).at(-1)?.['mentioned'], [ben])
  })

  t.test('a post lists its mentions with positions, also after a change of username', async (t) => {
    const [jan, kim] = [await person('Jan'), await person('Kim')]
    const content = '👍 @Jan and @kim #Run, again @jan @nobody'
    const { id, ...created } = (await post(ana, '/feed', { type: 'TEXT', content })).data.post
    const mentionsOf = async (viewer: string): Promise<{ userId: string, username: string, start: number }[]> =>
      (await get(viewer, `/feed/${id}`)).data.post.mentions
    const expected = [
      { userId: jan, username: 'jan', start: 3, end: 7 },
      { userId: kim, username: 'kim', start: 12, end: 16 },
      { userId: jan, username: 'jan', start: 29, end: 33 }
    ]
    t.same(created.mentions, expected)
    t.same(created.hashtags, [{ tag: 'run', start: 17, end: 21 }])
    await db.updateTable('people').set({ username: 'jan_new' }).where('account_id', '=', jan).execute()
    t.same(await mentionsOf(ben), expected)
    await blocks(ben, kim)
    t.same(await mentionsOf(ben), expected.filter(({ userId }) => userId !== kim), 'but nobody in a block')
    const mentioning = async (who: string, query = '') =>
      (await get(ben, `/feed?mentioned=${who}${query}`)).data.posts.map((post: { id: string }) => post.id)
    await rank()
    for (const query of ['', '&feedType=following', '&feedType=trending']) {
      t.same([await mentioning(jan, query), await mentioning(kim, query)], [[id], []], query)
    }
    await put(ana, `/feed/${id}`, { content: '@jan_new' })
    t.same(await mentionsOf(ben), [{ userId: jan, username: 'jan_new', start: 0, end: 8 }])
    await put(ana, `/feed/${id}`, { content: 'nobody' })
    t.same(await mentionsOf(ben), [])
  })

  t.test('a mention keeps the person it meant through an edit, although another person has the name by now', async (t) => {
    const lee = await person('Lee')
    const { id } = (await post(ana, '/feed', { type: 'TEXT', content: 'Run with @lee' })).data.post
    await db.updateTable('people').set({ username: 'lee_new' }).where('account_id', '=', lee).execute()
    const stranger = await person('Lee')
    const count = (await mentionEvents()).length
    await put(ana, `/feed/${id}`, { content: 'Run with @lee today' })
    const { mentions } = (await get(ben, `/feed/${id}`)).data.post
    t.same(mentions, [{ userId: lee, username: 'lee', start: 9, end: 13 }])
    t.equal((await mentionEvents()).length, count, 'the stranger gets nothing of the text')
    t.same(
      (await publishedEvents('social.people.unmentioned.v1')).filter(({ postId }) => postId === id),
      [],
      'and the notification of the person stays'
    )
    await put(ana, `/feed/${id}`, { content: 'alone' })
    await put(ana, `/feed/${id}`, { content: 'with @lee' })
    t.same(
      (await mentionEvents()).at(-1)?.['mentioned'],
      [stranger],
      'a mention that is written again means the person who has the name'
    )
  })

  t.test('a mention of a person who is hidden stays through an edit, and is back with them', async (t) => {
    const mia = await person('Mia')
    const { id } = (await post(ana, '/feed', { type: 'TEXT', content: 'Run with @mia' })).data.post
    const hide = async (isHidden: boolean) =>
      await db.insertInto('hidden_people').values({ account_id: mia, is_hidden: isHidden, changed_at: new Date() })
        .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ is_hidden: isHidden })).execute()
    await hide(true)
    const count = (await publishedEvents()).length
    t.same((await put(ana, `/feed/${id}`, { content: 'Run with @mia and @mia again' })).data.post.mentions, [])
    t.same((await publishedEvents()).slice(count).map(({ mentioned, unmentioned }) => mentioned ?? unmentioned), [
      undefined
    ])
    await hide(false)
    t.match((await get(ben, `/feed/${id}`)).data.post.mentions, [{ userId: mia }, { userId: mia }])
    t.equal((await get(ben, `/feed?mentioned=${mia}`)).data.posts.length, 1)
    await hide(true)
    await put(ana, `/feed/${id}`, { content: 'alone' })
    await hide(false)
    t.same((await get(ben, `/feed/${id}`)).data.post.mentions, [])
  })

  t.test('an edit publishes only who is mentioned or unmentioned by it, also after a change of the audience', async (t) => {
    const dora = await person('Dora')
    const { data } = await post(ana, '/feed', { type: 'TEXT', visibility: 'FOLLOWERS', content: '@ben @dora' })
    const count = (await mentionEvents()).length
    const unmentioned = async () =>
      (await publishedEvents('social.people.unmentioned.v1')).filter(({ postId }) => postId === data.post.id)
        .map((event) => event['unmentioned'])
    await put(ana, `/feed/${data.post.id}`, { content: '@ben again' })
    t.same(await unmentioned(), [])
    await put(ana, `/feed/${data.post.id}`, { content: 'nobody' })
    t.same(await unmentioned(), [[ben]])
    t.same(
      (await get(ana, `/feed?mentioned=${ben}`)).data.posts.filter((found: { id: string }) =>
        found.id === data.post.id
      ),
      []
    )
    await put(ana, `/feed/${data.post.id}`, { content: '@ben @dora' })
    t.match((await mentionEvents()).slice(count), [{ mentioned: [ben] }])
    await put(ana, `/feed/${data.post.id}`, { visibility: 'PUBLIC' })
    t.same((await mentionEvents()).slice(count + 1), [{
      postId: data.post.id,
      commentId: null,
      authorId: ana,
      postAuthorId: ana,
      mentioned: [dora],
      excerpt: '@ben @dora'
    }])
    t.match((await get(ben, `/feed?mentioned=${dora}`)).data.posts, [{ id: data.post.id }])
    await put(ana, `/feed/${data.post.id}`, { visibility: 'FOLLOWERS' })
    t.same(await unmentioned(), [[ben], [dora]])
    for (const reader of [ben, cara]) t.same((await get(reader, `/feed?mentioned=${dora}`)).data.posts, [])
  })

  t.test('of the people that an account mentions, 500 a day are notified', async (t) => {
    const max = await person('Max')
    for (const name of ['Lea', 'Tom']) await person(name)
    await post(max, '/feed', { type: 'TEXT', content: '@ben' })
    await db.updateTable('daily_quotas').set({ used: 498 }).where('account_id', '=', max).execute()
    const mentioned = async (content: string) => {
      const count = (await mentionEvents()).length
      const { data } = await post(max, '/feed', { type: 'TEXT', content })
      t.equal(data.post.mentions.length, content.split('@').length - 1, 'the text mentions them all the same')
      return (await mentionEvents()).slice(count).length
    }
    t.same([await mentioned('@ben @lea @tom'), await mentioned('@ben @lea'), await mentioned('@ben')], [0, 1, 0])
    await db.updateTable('daily_quotas').set({ ends_at: new Date(0) }).where('account_id', '=', max).execute()
    t.equal(await mentioned('@ben'), 1, 'on the next day')
  })

  t.test('a person missing from the local copy is fetched by username and mentioned', async (t) => {
    const [eve, fay, gil] = [examplePerson('Eve'), examplePerson('Fay'), examplePerson('Gil')]
    for (const each of [eve, fay, gil]) profiles.people.set(each.accountId, each)
    profiles.calls.length = 0
    const { id } = (await post(ana, '/feed', { type: 'TEXT', content: '@EVE @ben @nobody' })).data.post
    t.same(new Set((await mentionEvents()).at(-1)?.['mentioned'] as string[]), new Set([ben, eve.accountId]))
    t.same(profiles.calls[0], ['eve', 'nobody'], 'in one call, and only missing people')
    await post(ana, `/feed/${id}/comment`, { content: 'and @fay' })
    t.match((await mentionEvents()).at(-1), { postId: id, mentioned: [fay.accountId], excerpt: 'and @fay' })
    await put(ana, `/feed/${id}`, { content: '@gil' })
    t.same((await mentionEvents()).at(-1)?.['mentioned'], [gil.accountId])
  })

  t.test('a mention by a new username finds its holder before the event of the change arrives', async (t) => {
    for (let number = 0; number < 30; number++) {
      const ivy = await person(`Ivy${number}`, { changedAt: '2026-01-01T00:00:00.000001Z' })
      profiles.people.set(ivy, {
        ...profiles.people.get(ivy)!,
        username: `ivy_new_${number}`,
        changedAt: '2026-01-01T00:00:00.000002Z'
      })
      await post(ana, '/feed', { type: 'TEXT', content: `Welcome @ivy_new_${number}` })
      t.same((await mentionEvents()).at(-1)?.['mentioned'], [ivy])
    }
  })

  t.test('while profile is unavailable a text is stored, and people in the local copy are mentioned', async (t) => {
    const hal = examplePerson('Hal')
    profiles.people.set(hal.accountId, hal)
    profiles.isUnavailable = true
    t.match(await post(ana, '/feed', { type: 'TEXT', content: '@hal @ben' }), {
      status: 201,
      data: { post: { content: '@hal @ben' } }
    })
    t.same((await mentionEvents()).at(-1)?.['mentioned'], [ben])
    profiles.isUnavailable = false
  })
})
