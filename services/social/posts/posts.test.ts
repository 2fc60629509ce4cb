import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer } from '@tandem/http-kit/testing'
import { createForm, createPng } from '@tandem/media-kit/testing'
import { updateRanking } from '../feed/ranking.ts'
import { testApp } from '../test/app.ts'

t.test('posts', async (t) => {
  const { app, db, get, post, put, del, send, publishedEvents, person, follows, profiles } = await testApp(t)
  const ana = await person('Ana', { image: 'https://cdn.example.com/ana.webp' })
  const ben = await person('Ben')
  const cara = await person('Cara')
  await follows(ben, ana)

  t.test('creating a post returns the same fields as reading it', async (t) => {
    const { status, data } = await post(ana, '/feed', { type: 'TEXT', content: '  Morning run  ' })
    t.equal(status, 201)
    t.same(Object.keys(data.post).sort(), [
      'achievement',
      'activity',
      'commentsCount',
      'content',
      'createdAt',
      'editedAt',
      'hashtags',
      'id',
      'isDeleted',
      'isHidden',
      'isLiked',
      'likesCount',
      'location',
      'media',
      'mediaType',
      'mediaUrls',
      'mentions',
      'type',
      'user',
      'userId',
      'viewCount',
      'visibility',
      'workout'
    ])
    t.match(data.post, {
      userId: ana,
      user: { id: ana, name: 'Ana', username: 'ana', image: 'https://cdn.example.com/ana.webp' },
      type: 'TEXT',
      visibility: 'PUBLIC',
      content: 'Morning run',
      mediaUrls: [],
      likesCount: 0,
      commentsCount: 0,
      isLiked: false,
      isDeleted: false,
      mentions: [],
      hashtags: []
    })
    t.match(data.post.createdAt, /^\d{4}-\d\d-\d\dT.*Z$/)
    t.same((await get(ben, `/feed/${data.post.id}`)).data.post, { ...data.post, viewCount: null })
  })

  t.test('all fields of a post are stored, unknown fields are not', async (t) => {
    const { status, data } = await post(ana, '/feed', {
      type: 'VIDEO',
      content: '',
      visibility: 'PRIVATE',
      mediaUrls: ['https://videos.example/a.mp4'],
      mediaType: 'video/mp4',
      locationName: 'Bandung',
      latitude: -6.9,
      longitude: 107.6,
      likesCount: 99,
      userId: ben
    })
    t.equal(status, 201)
    t.match(data.post, {
      userId: ana,
      likesCount: 0,
      mediaUrls: ['https://videos.example/a.mp4'],
      mediaType: 'video/mp4',
      content: ''
    })
    t.match(
      await db.selectFrom('posts').select([
        'media_type',
        'location_name',
        'latitude',
        'longitude'
      ]).where('id', '=', data.post.id).executeTakeFirst(),
      {
        media_type: 'video/mp4',
        location_name: 'Bandung',
        latitude: -6.9,
        longitude: 107.6
      }
    )
  })

  t.test('null is the same as leaving an optional field out', async (t) => {
    const { status, data } = await post(ana, '/feed', {
      type: 'TEXT',
      content: 'x',
      visibility: null,
      mediaUrls: null,
      mediaType: null,
      activityId: null,
      workoutId: null,
      achievementId: null,
      pollQuestion: null,
      pollOptions: null,
      pollEndsAt: null,
      locationName: null,
      latitude: null,
      longitude: null
    })
    t.equal(status, 201)
    t.match(data.post, { visibility: 'PUBLIC', mediaUrls: [] })
  })

  t.test('what a post or a story ignores because of its type is named in x-ignored-fields', async (t) => {
    const ignoredOf = async (url: string, payload: object) =>
      (await app.inject({ method: 'POST', url, headers: bearer(ana), payload })).headers['x-ignored-fields']
    const poll = { pollQuestion: 'When?', pollOptions: [{ text: 'Dawn' }, { text: 'Dusk' }] }
    t.equal(
      await ignoredOf('/feed', { type: 'TEXT', content: 'x', unknown: 1, pollEndsAt: null, ...poll }),
      'unknown, pollQuestion, pollOptions'
    )
    t.equal(await ignoredOf('/feed', { type: 'TEXT', content: 'x', ...poll }), 'pollQuestion, pollOptions')
    t.equal(await ignoredOf('/feed', { type: 'POLL', content: 'x', ...poll }), undefined)
    const image = { mediaUrl: 'https://images.example/a.webp', mediaType: 'IMAGE' }
    t.equal(await ignoredOf('/stories', { ...image, duration: 5 }), 'duration')
    t.equal(await ignoredOf('/stories', image), undefined)
  })

  t.test('limits are exact at both ends', async (t) => {
    const urls = (count: number) => Array.from({ length: count }, (_, index) => `https://images.example/${index}`)
    for (
      const good of [
        { content: 'x'.repeat(5_000) },
        { mediaUrls: urls(10) },
        { content: 'x', latitude: 90, longitude: -180 },
        { locationName: 'Gasibu' },
        { content: '👩‍❤️‍👩' }
      ]
    ) {
      t.equal((await post(ana, '/feed', { type: 'IMAGE', ...good })).status, 201, Object.keys(good).join())
    }
    const bads = [
      { content: 'x'.repeat(5_001) },
      { mediaUrls: urls(11) },
      { mediaUrls: ['javascript:alert(1)'] },
      { latitude: 91 },
      { longitude: -181 },
      { visibility: 'FRIENDS' },
      { type: 'SONG' },
      { type: undefined },
      { content: 5 },
      { content: 'a\0b' },
      {},
      { content: '' },
      { content: ' \u200B\u2060\u3164\uFEFF\n\u2800' }
    ]
    for (const bad of bads) {
      t.match(await post(ana, '/feed', { type: 'TEXT', ...bad }), {
        status: 400,
        success: false,
        code: 'VALIDATION_ERROR'
      }, JSON.stringify(bad).slice(0, 60))
    }
  })

  t.test('a post is 403 for people without access, and 410 after its deletion for people with access', async (t) => {
    const read = async (visibility: string, viewer: string) => {
      const { data } = await post(ana, '/feed', { type: 'TEXT', content: 'x', visibility })
      const before = await get(viewer, `/feed/${data.post.id}`)
      t.match(await del(ana, `/feed/${data.post.id}`), { status: 200, success: true, message: 'The post was deleted' })
      return [before.status, (await get(viewer, `/feed/${data.post.id}`)).status]
    }
    t.same(await read('PUBLIC', cara), [200, 410])
    t.same(await read('FOLLOWERS', ben), [200, 410])
    t.same(await read('FOLLOWERS', cara), [403, 403])
    t.same(await read('PRIVATE', ben), [403, 403])
    t.same(await read('PRIVATE', ana), [200, 410])
    t.match(await get(ana, `/feed/${randomUUID()}`), { status: 404, code: 'NOT_FOUND' })
    t.match(await get(ana, '/feed/garbage'), { status: 404, code: 'NOT_FOUND' })
  })

  t.test('only the author can change and delete a post', async (t) => {
    const { data } = await post(ana, '/feed', { type: 'TEXT', content: 'mine' })
    const url = `/feed/${data.post.id}`
    t.match(await del(ben, url), { status: 403, code: 'FORBIDDEN' })
    t.match(await put(ben, url, { content: 'yours' }), { status: 403, code: 'FORBIDDEN' })
    t.match(await put(ana, url, { visibility: 'PRIVATE' }), {
      status: 200,
      data: { post: { content: 'mine', visibility: 'PRIVATE' } }
    })
    t.match(await del(ben, url), { status: 403, code: 'FORBIDDEN' })
    t.match(await del(ana, url), { status: 200 })
    t.match(await del(ana, url), { status: 410, code: 'GONE' })
    t.match(await put(ana, url, { content: 'again' }), { status: 410, code: 'GONE' })
  })

  t.test('each read by a person other than the author counts as a view, also concurrently', async (t) => {
    const ids: string[] = []
    for (let each = 0; each < 3; each++) {
      ids.push((await post(ana, '/feed', { type: 'TEXT', content: 'x' })).data.post.id)
    }
    const views = async () =>
      await Promise.all(
        ids.map(async (id) =>
          (await db.selectFrom('posts').select('views_count').where('id', '=', id).executeTakeFirstOrThrow())
            .views_count
        )
      )
    await Promise.all(
      ids.flatMap((id, index) =>
        [ana, ben, cara].flatMap((reader) => Array.from({ length: 10 * (index + 1) }, () => get(reader, `/feed/${id}`)))
      )
    )
    t.same(await views(), [20, 40, 60], 'before the responses are sent')
    await get(ben, `/feed/${ids[0]}`)
    t.same(await views(), [21, 40, 60])
  })

  t.test('the author sees the views wherever the post is shown, and nobody else does', async (t) => {
    const { data: { post: { id, viewCount } } } = await post(ana, '/feed', { type: 'TEXT', content: 'seen #views' })
    t.equal(viewCount, 0)
    for (const reader of [ben, cara, ben, ana]) await get(reader, `/feed/${id}`)
    await updateRanking(db)
    const pages = ['feedType=all', 'feedType=trending', `userId=${ana}`, 'hashtag=views']
    const viewsFor = async (reader: string, query: string) =>
      (await get(reader, `/feed?${query}`)).data.posts.find((each: { id: string }) => each.id === id)?.viewCount
    for (const query of pages) t.equal(await viewsFor(ana, query), 3, query)
    t.equal((await app.inject({ method: 'HEAD', url: `/feed/${id}`, headers: bearer(ben) })).statusCode, 200)
    t.equal((await get(ana, `/feed/${id}`)).data.post.viewCount, 3)
    t.equal((await put(ana, `/feed/${id}`, { content: 'seen #views again' })).data.post.viewCount, 3)
    for (const query of [...pages, 'feedType=following']) t.equal(await viewsFor(ben, query), null, query)
    t.equal(await viewsFor(cara, 'feedType=discover'), null)
    t.equal((await get(ben, `/feed/${id}`)).data.post.viewCount, null)
  })

  t.test('a changed text is published, before its mentions and only with what is public', async (t) => {
    const { data: { post: { id } } } = await post(ana, '/feed', { type: 'TEXT', content: 'one', visibility: 'PUBLIC' })
    await put(ana, `/feed/${id}`, { content: 'two' })
    await put(ana, `/feed/${id}`, { content: 'two' })
    await put(ana, `/feed/${id}`, { content: 'three', visibility: 'FOLLOWERS' })
    const edits = (await publishedEvents('social.post.edited.v1')).filter((event) =>
      (event as { postId: string }).postId === id
    )
    t.same(edits, [{ postId: id, authorId: ana, excerpt: 'two' }, { postId: id, authorId: ana, excerpt: null }])
  })

  t.test('a post whose text was changed says when, and one whose visibility was changed does not', async (t) => {
    const { data } = await post(ana, '/feed', { type: 'TEXT', content: 'one' })
    const editedAt = async () => (await get(ben, `/feed?userId=${ana}`)).data.posts[0].editedAt
    t.equal(data.post.editedAt, null)
    await put(ana, `/feed/${data.post.id}`, { visibility: 'FOLLOWERS', content: 'one' })
    await put(ana, `/feed/${data.post.id}`, { visibility: 'PUBLIC' })
    t.equal(await editedAt(), null)
    const { data: { post: edited } } = await put(ana, `/feed/${data.post.id}`, { content: 'two' })
    t.ok(edited.editedAt > edited.createdAt)
    t.equal(await editedAt(), edited.editedAt)
  })

  t.test('narrowing or deleting a post is published; widening it is not', async (t) => {
    const { data: { post: { id } } } = await post(ana, '/feed', { type: 'TEXT', content: 'x', visibility: 'PRIVATE' })
    for (const visibility of ['PRIVATE', 'FOLLOWERS', 'PUBLIC', 'FOLLOWERS', 'PRIVATE']) {
      await put(ana, `/feed/${id}`, { visibility })
    }
    await put(ana, `/feed/${id}`, { content: 'y' })
    const toldOf = async (type: string) =>
      (await publishedEvents(type)).filter((event) => (event as { postId: string }).postId === id)
    t.same(await toldOf('social.post.narrowed.v1'), [{ postId: id, authorId: ana, visibility: 'FOLLOWERS' }, {
      postId: id,
      authorId: ana,
      visibility: 'PRIVATE'
    }])
    await del(ana, `/feed/${id}`)
    await del(ana, `/feed/${id}`)
    t.same(await toldOf('social.post.deleted.v1'), [{ postId: id, authorId: ana }])
  })

  t.test('who took part in a post and cannot see it any more is published, after a narrowing and an unfollow', async (t) => {
    const [follower, other] = [await person('Follower'), await person('Other')]
    await follows(follower, ana)
    const { data: { post: { id } } } = await post(ana, '/feed', {
      type: 'TEXT',
      content: '@other',
      visibility: 'PUBLIC'
    })
    for (const each of [ana, follower, other]) await post(each, `/feed/${id}/comment`, { content: 'me too' })
    const closedTo = async () =>
      (await publishedEvents('social.post.closed.v1')).filter(({ postId }) => postId === id)
        .map((event) => event['accountIds'])
    t.same(await closedTo(), [])
    await put(ana, `/feed/${id}`, { visibility: 'FOLLOWERS' })
    t.same(await closedTo(), [[other]])
    const { data: { post: second } } = await post(ana, '/feed', {
      type: 'TEXT',
      content: '@follower',
      visibility: 'FOLLOWERS'
    })
    await del(follower, `/users/${ana}/follow`)
    t.same(await closedTo(), [[other]])
    const closed = (await publishedEvents('social.posts.closed.v1')).filter(({ accountId }) => accountId === follower)
    t.equal(closed.length, 1, 'one event for all posts')
    t.same(new Set(closed[0]?.['postIds'] as string[]), new Set([id, second.id]))
  })

  t.test('a repeated request gets the first response', async (t) => {
    const headers = { 'idempotency-key': randomUUID() }
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => post(ana, '/feed', { type: 'TEXT', content: 'once, @ben' }, headers))
    )
    t.same(sent.map(({ status }) => status), [201, 201, 201, 201, 201])
    t.equal(new Set(sent.map(({ data }) => data.post.id)).size, 1)
    const { id } = sent[0]!.data.post
    const mentioned = await publishedEvents('social.people.mentioned.v1')
    t.equal(mentioned.filter(({ postId }) => postId === id).length, 1)
    t.equal(
      (await post(ana, '/feed', { content: 'once, @ben', type: 'TEXT' }, headers)).data.post.id,
      sent[0]?.data.post.id,
      'the order of fields does not matter'
    )
    t.match(await post(ana, '/feed', { type: 'TEXT', content: 'other' }, headers), {
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT'
    })
    t.match(await post(ana, '/feed', { type: 'TEXT' }, { 'idempotency-key': 'x'.repeat(256) }), { status: 400 })
  })

  t.test('authors see their own new name at once', async (t) => {
    profiles.people.set(ana, { ...profiles.people.get(ana)!, name: 'Anastasia' })
    t.match(await post(ana, '/feed', { type: 'TEXT', content: 'x' }), {
      data: { post: { user: { name: 'Anastasia' } } }
    })
    profiles.isUnavailable = true
    t.match(await post(ana, '/feed', { type: 'TEXT', content: 'x' }), {
      status: 201,
      data: { post: { user: { name: 'Ana' } } }
    })
    profiles.isUnavailable = false
  })

  t.test('every route requires a token', async (t) => {
    const { status } = await send(ana, 'GET', '/feed', undefined, { authorization: 'Bearer x.y.z' })
    t.equal(status, 401)
  })
})

t.test('media of other hosts is refused with MEDIA_URLS_ONLY_OWN', async (t) => {
  const { app, post, person } = await testApp(t, { onlyOwnMedia: true })
  const ana = await person('Ana')
  t.match(await post(ana, '/feed', { type: 'IMAGE', mediaUrls: ['https://evil.example.com/pixel.gif'] }), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
  t.match(await post(ana, '/feed', { type: 'IMAGE', mediaUrls: ['https://cdn.example.com/../pixel.gif'] }), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
  const { headers, payload } = createForm(createPng(10, 10))
  const uploaded = await app.inject({ method: 'POST', url: '/media', headers: { ...bearer(ana), ...headers }, payload })
  const { url } = uploaded.json().data.media
  t.match(await post(ana, '/feed', { type: 'IMAGE', mediaUrls: [url] }), { status: 201 })
  t.match(await post(ana, '/stories', { mediaUrl: 'https://evil.example.com/pixel.gif', mediaType: 'IMAGE' }), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
})
