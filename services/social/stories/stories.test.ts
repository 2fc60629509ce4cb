import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { bearer } from '@tandem/http-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { givenStory, testApp } from '../test/app.ts'
import { selectRings } from './queries.ts'

const image = { mediaUrl: 'https://images.example/a.webp', mediaType: 'IMAGE' }

t.test('stories', async (t) => {
  const { app, db, deps, get, post, del, publishedEvents, person, follows, matches, blocks, profiles } = await testApp(
    t
  )
  const ana = await person('Ana')
  const ben = await person('Ben')
  const cara = await person('Cara')
  const stranger = await person('Stranger')
  await follows(ben, ana)
  await matches(cara, ana)
  const passHours = async (id: string, hours: number, seconds = 0) =>
    await db.updateTable('stories').where('id', '=', id)
      .set({
        created_at: sql`created_at - make_interval(hours => ${hours}, secs => ${seconds})`,
        expires_at: sql`expires_at - make_interval(hours => ${hours}, secs => ${seconds})`
      }).execute()

  t.test('a story lasts 24 hours and contains the submitted fields', async (t) => {
    const sent = {
      ...image,
      mediaType: 'VIDEO',
      caption: ' Top ',
      textColor: '#ffffff',
      bgColor: '#000',
      fontStyle: 'bold',
      duration: 60
    }
    const { status, data } = await post(ana, '/stories', sent)
    t.equal(status, 201)
    t.same(Object.keys(data.story).sort(), ['expiresAt', 'id', 'mediaUrl'])
    const { story } = (await get(ben, `/stories/${data.story.id}`)).data
    t.match(story, {
      ...sent,
      caption: 'Top',
      userId: ana,
      user: { id: ana, name: 'Ana', username: 'ana', image: null },
      viewCount: 1,
      reactionCount: 0,
      isViewed: true,
      myReaction: null
    })
    t.equal(Date.parse(story.expiresAt) - Date.parse(story.createdAt), 24 * 60 * 60 * 1_000)
    await del(ana, `/stories/${data.story.id}`)
  })

  t.test('limits are exact at both ends', async (t) => {
    const who = await person('Edge')
    for (
      const good of [{ caption: 'x'.repeat(500) }, { mediaType: 'VIDEO', duration: 1 }, { textColor: '#12345678' }]
    ) t.equal((await post(who, '/stories', { ...image, ...good })).status, 201)
    const bads = [
      { mediaUrl: undefined },
      { mediaUrl: 'ftp://x/y' },
      { mediaType: undefined },
      { mediaType: 'GIF' },
      { caption: 'x'.repeat(501) },
      { duration: 0.5 },
      { duration: 61 },
      { textColor: 'red' },
      { bgColor: '#12345' }
    ]
    for (const bad of bads) {
      t.match(
        await post(who, '/stories', { ...image, ...bad }),
        { status: 400, code: 'VALIDATION_ERROR' },
        JSON.stringify(bad).slice(0, 40)
      )
    }
  })

  t.test('a story is visible to its author, their followers and their matches', async (t) => {
    const { id } = await givenStory(db, { author_id: ana })
    for (const viewer of [ana, ben, cara]) {
      t.equal((await get(viewer, `/stories/${id}`)).status, 200)
      t.match((await get(viewer, `/stories?userId=${ana}`)).data.stories, [{ id }])
    }
    for (
      const [method, path] of [[get, `/stories/${id}`], [get, `/stories?userId=${ana}`], [del, `/stories/${id}`], [
        get,
        `/stories/${id}/viewers`
      ]] as const
    ) {
      t.match(await method(stranger, path), { status: 404, code: 'NOT_FOUND' })
    }
    t.match(await post(stranger, `/stories/${id}/react`, { emoji: '🔥' }), { status: 404, code: 'NOT_FOUND' })
    t.same((await get(stranger, '/stories')).data.storyRings, [])
    t.match(await del(ben, `/stories/${id}`), { status: 403, code: 'FORBIDDEN' })
    t.match(await get(ben, `/stories/${id}/viewers`), { status: 403, code: 'FORBIDDEN' })
    t.match(await get(ana, '/stories/garbage'), { status: 404 })
    t.match(await get(ana, `/stories?userId=${randomUUID()}`), { status: 404 })
    t.match(await del(ana, `/stories/${id}`), { status: 200, message: 'The story was deleted' })
    t.match(await get(ana, `/stories/${id}`), { status: 404 })
  })

  t.test('a story expires after exactly 24 hours, and then is 410 for people who could see it', async (t) => {
    const { id } = await givenStory(db, { author_id: ana })
    await passHours(id, 23, 3_598)
    t.equal((await get(ben, `/stories/${id}`)).status, 200)
    t.match((await get(ben, '/stories')).data.storyRings, [{ userId: ana }])
    await passHours(id, 0, 3)
    for (const viewer of [ana, ben, cara]) {
      t.match(await get(viewer, `/stories/${id}`), { status: 410, code: 'EXPIRED' })
    }
    t.match(await get(stranger, `/stories/${id}`), { status: 404, code: 'NOT_FOUND' })
    t.match(await post(ben, `/stories/${id}/react`, { emoji: '🔥' }), { status: 410, code: 'EXPIRED' })
    t.match(await get(ana, `/stories/${id}/viewers`), { status: 410, code: 'EXPIRED' })
    t.same((await get(ben, '/stories')).data.storyRings, [])
    t.same((await get(ben, `/stories?userId=${ana}`)).data.stories, [])

    await passHours(id, 25)
    await runHousekeeping(deps)
    t.match(await db.selectFrom('stories').select(['media_url', 'caption']).where('id', '=', id).executeTakeFirst(), {
      media_url: '',
      caption: null
    })
    t.same(await db.selectFrom('story_views').select('id').where('story_id', '=', id).execute(), [])
    t.match(await get(ben, `/stories/${id}`), { status: 410, code: 'EXPIRED' }, 'also after its content was deleted')
  })

  t.test('each viewer other than the author counts once, also with repeated and concurrent reads', async (t) => {
    const { id } = await givenStory(db, { author_id: ana })
    t.equal((await app.inject({ method: 'HEAD', url: `/stories/${id}`, headers: bearer(ben) })).statusCode, 200)
    t.match((await get(ana, `/stories/${id}`)).data.story, { viewCount: 0 }, 'HEAD shows it to nobody')
    await Promise.all(
      [ben, cara, ana].flatMap((viewer) => Array.from({ length: 10 }, () => get(viewer, `/stories/${id}`)))
    )
    t.match((await get(ana, `/stories/${id}`)).data.story, { viewCount: 2, isViewed: false })
    t.match((await get(ben, `/stories?userId=${ana}`)).data.stories, [{ viewCount: 2, isViewed: true }])
    t.equal((await db.selectFrom('story_views').select('id').where('story_id', '=', id).execute()).length, 2)
    await del(ana, `/stories/${id}`)
  })

  t.test('each person has one reaction, the latest, and every new one is published', async (t) => {
    const { id } = await givenStory(db, { author_id: ana })
    const { status, data } = await post(ben, `/stories/${id}/react`, { emoji: '🔥' })
    t.equal(status, 200)
    t.same(Object.keys(data.reaction).sort(), ['createdAt', 'emoji'])
    await Promise.all(Array.from({ length: 10 }, () => post(ben, `/stories/${id}/react`, { emoji: '🔥' })))
    t.match(await post(ben, `/stories/${id}/react`, { emoji: '👨‍👩‍👧‍👦' }), {
      status: 200,
      data: { reaction: { emoji: '👨‍👩‍👧‍👦' } }
    })
    await get(ben, `/stories/${id}`)
    t.match((await get(ben, `/stories?userId=${ana}`)).data.stories, [{ reactionCount: 1, myReaction: '👨‍👩‍👧‍👦' }])
    t.same(await publishedEvents('social.story.reacted.v1'), [
      { storyId: id, authorId: ana, reactedBy: ben, emoji: '🔥' },
      { storyId: id, authorId: ana, reactedBy: ben, emoji: '👨‍👩‍👧‍👦' }
    ])
    for (const emoji of ['👍🏽👨‍👩‍👧‍👦🇮🇩❤️', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🧌‍🔥', '❤']) {
      t.equal((await post(cara, `/stories/${id}/react`, { emoji })).status, 200)
    }
    for (
      const emoji of [
        '',
        ' ',
        'KYS',
        'abcde',
        '7',
        '👍a',
        '🇮',
        '\u2800',
        '👍\u0301',
        '👍👍👍👍👍',
        'e' + '\u0301'.repeat(100),
        undefined,
        5
      ]
    ) {
      t.match(await post(cara, `/stories/${id}/react`, { emoji }), { status: 400, code: 'VALIDATION_ERROR' })
    }
    const viewers = await get(ana, `/stories/${id}/viewers`)
    t.match(viewers.data.viewers, [{ user: { id: cara }, reaction: '❤' }, {
      user: { id: ben, name: 'Ben', username: 'ben', image: null },
      reaction: '👨‍👩‍👧‍👦'
    }], 'a reaction counts as a view')
    await post(ana, `/stories/${id}/react`, { emoji: '🔥' })
    t.match((await get(ana, `/stories/${id}`)).data.story, { viewCount: 2, reactionCount: 3 })
    t.match((await get(cara, `/stories?userId=${ana}`)).data.stories, [{ isViewed: true, myReaction: '❤' }])
    t.same(Object.keys(viewers.data.viewers[0]).sort(), ['reaction', 'user', 'viewedAt'])
    await del(ana, `/stories/${id}`)
  })

  t.test('a reaction can be removed, also when the story can no longer be seen', async (t) => {
    const { id } = await givenStory(db, { author_id: ana })
    const react = async () => (await post(cara, `/stories/${id}/react`, { emoji: '🔥' })).status
    t.match(await del(cara, `/stories/${id}/react`), { status: 400, code: 'NOT_REACTED' })
    t.match(await del(stranger, `/stories/${id}/react`), { status: 404, code: 'NOT_FOUND' })
    t.equal(await react(), 200)
    const removals = await Promise.all(Array.from({ length: 5 }, () => del(cara, `/stories/${id}/react`)))
    t.equal(removals.filter(({ status }) => status === 200).length, 1)
    t.match((await get(ana, `/stories/${id}`)).data.story, { viewCount: 1, reactionCount: 0 })
    t.same(await publishedEvents('social.story.unreacted.v1'), [{ storyId: id, authorId: ana, unreactedBy: cara }])
    t.equal(await react(), 200)
    await db.updateTable('stories').set({ expires_at: new Date() }).where('id', '=', id).execute()
    t.equal((await del(cara, `/stories/${id}/react`)).status, 200)
    t.match(await del(cara, `/stories/${id}/react`), { status: 410, code: 'EXPIRED' })
  })

  t.test('concurrent reactions by one person leave one, and a concurrently deleted story is not found', async (t) => {
    const { id } = await givenStory(db, { author_id: ana })
    const sent = await Promise.all(
      ['🔥', '👍', '🎉', '🔥', '👏'].map(async (emoji) => await post(ben, `/stories/${id}/react`, { emoji }))
    )
    t.same(sent.map(({ status }) => status), [200, 200, 200, 200, 200])
    t.equal((await get(ana, `/stories/${id}`)).data.story.reactionCount, 1)
    t.equal((await db.selectFrom('story_reactions').select('emoji').where('story_id', '=', id).execute()).length, 1)
    const [gone, ...others] = await Promise.all([
      del(ana, `/stories/${id}`),
      post(cara, `/stories/${id}/react`, { emoji: '🔥' }),
      get(cara, `/stories/${id}`)
    ])
    t.equal(gone.status, 200)
    t.same((await publishedEvents('social.story.deleted.v1')).at(-1), { storyId: id, authorId: ana })
    for (const { status } of others) t.ok([200, 404].includes(status), String(status))
    t.same(await db.selectFrom('story_views').select('id').where('story_id', '=', id).execute(), [])
  })

  t.test('of 60 concurrent stories 10 are accepted, and deleting one does not free a place', async (t) => {
    const busy = await person('Busy')
    const sent = await Promise.all(Array.from({ length: 60 }, () => post(busy, '/stories', image)))
    t.equal(sent.filter(({ status }) => status === 201).length, 10)
    t.equal(sent.filter(({ status, code }) => status === 429 && code === 'LIMIT_EXCEEDED').length, 50)
    await del(busy, `/stories/${sent.find(({ status }) => status === 201)?.data.story.id}`)
    t.match(await post(busy, '/stories', image), { status: 429, code: 'LIMIT_EXCEEDED' })
  })

  t.test('an author who changes their time zone has ten stories a day, also while profile is unavailable', async (t) => {
    // The first two never have the same date at the same moment.
    const nomad = await person('Nomad', { timezone: 'Pacific/Pago_Pago' })
    for (let each = 0; each < 10; each++) t.equal((await post(nomad, '/stories', image)).status, 201)
    for (const timezone of ['Pacific/Pago_Pago', 'Pacific/Kiritimati', 'Europe/Vienna', 'IST']) {
      profiles.people.set(nomad, { ...profiles.people.get(nomad)!, timezone })
      t.match(await post(nomad, '/stories', image), { status: 429, code: 'LIMIT_EXCEEDED' }, timezone)
    }
    profiles.isUnavailable = true
    t.equal((await post(nomad, '/stories', image)).status, 429, 'the time zone of the local copy')
    t.equal((await post(randomUUID(), '/stories', image)).status, 201)
    profiles.isUnavailable = false
    await db.updateTable('daily_quotas').set({ ends_at: new Date(Date.now() - 25 * 60 * 60 * 1_000) })
      .where('account_id', '=', nomad).execute()
    t.equal((await post(nomad, '/stories', image)).status, 201, 'after a whole day')
  })

  t.test('an author whose stored time zone cannot be read posts stories', async (t) => {
    const una = await person('Una', { timezone: 'IST' })
    t.equal((await post(una, '/stories', image)).status, 201)
    profiles.isUnavailable = true
    t.equal((await post(una, '/stories', image)).status, 201, 'also with the time zone of the local copy')
    profiles.isUnavailable = false
  })

  t.test("rings list the caller's own first, then those with unviewed stories, then the newest", async (t) => {
    const me = await person('Me')
    const names = ['Old', 'Mid', 'New'] as const
    const [old, mid, fresh] = [await person(names[0]), await person(names[1]), await person(names[2])]
    await follows(me, old)
    await follows(me, mid)
    await matches(me, fresh)
    const hidden = await person('Hidden')
    await matches(me, hidden)
    await blocks(hidden, me)
    const age = async (author: string, hours: number) => {
      const { id } = await givenStory(db, { author_id: author })
      await passHours(id, hours)
      return id
    }
    await age(old, 5)
    await age(old, 4)
    await age(mid, 3)
    const newest = await age(fresh, 1)
    await age(hidden, 1)
    await age(me, 6)
    const rings = async () => (await get(me, '/stories')).data.storyRings
    t.match(await rings(), [
      { userId: me, isOwn: true, hasUnviewed: false, storyCount: 1 },
      { userId: fresh, hasUnviewed: true },
      { userId: mid },
      { userId: old, storyCount: 2, isOwn: false }
    ])
    t.same(Object.keys((await rings())[0]).sort(), [
      'hasUnviewed',
      'isOwn',
      'latestStoryAt',
      'storyCount',
      'userId',
      'userImage',
      'userName'
    ])
    await get(me, `/stories/${newest}`)
    t.match(await rings(), [{ userId: me }, { userId: mid }, { userId: old }, {
      userId: fresh,
      userName: 'New',
      hasUnviewed: false
    }])
    t.equal((await rings()).length, 4)
  })

  t.test('rings read only stories that have not been cleared, however many people had', async (t) => {
    const reader = await person('Reader')
    await sql`insert into follows (follower_id, followed_id)
      select ${reader}, gen_random_uuid() from generate_series(1, 20)`.execute(db)
    const ofFollowed = sql`select followed_id, '', 'IMAGE' from follows where follower_id = ${reader}`
    await sql`insert into stories (author_id, media_url, media_type, expires_at, cleared_at)
      select old.*, now() - interval '3 days', now() from (${ofFollowed}) old, generate_series(1, 200)`.execute(db)
    await sql`insert into stories (author_id, media_url, media_type) ${ofFollowed}`.execute(db)
    await sql`insert into stories (author_id, media_url, media_type)
      select gen_random_uuid(), '', 'IMAGE' from generate_series(1, 2000)`.execute(db)
    await sql`analyze stories, follows`.execute(db)
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${selectRings(reader)}`.execute(db)
    t.match(rows.map((row) => row['QUERY PLAN']).join(), /stories_of_author_not_cleared/)
  })
})
