import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer } from '@tandem/http-kit/testing'
import { seededRandom } from '@tandem/test-kit'
import { givenPost, testApp } from '../test/app.ts'

t.test('likes', async (t) => {
  const { app, db, get, post, del, publishedEvents, person, blocks } = await testApp(t)
  const ana = await person('Ana')
  const ben = await person('Ben')
  const likeWithHeaders = async (who: string, id: string) => {
    const { statusCode, headers, body } = await app.inject({
      method: 'POST',
      url: `/feed/${id}/like`,
      headers: bearer(who)
    })
    return { status: statusCode, headers, code: (JSON.parse(body) as { code?: string }).code }
  }

  t.test('a like is counted once and published once', async (t) => {
    const { id } = await givenPost(db, { author_id: ana, content: 'x'.repeat(150) })
    t.match(await post(ben, `/feed/${id}/like`), { status: 200, success: true, data: { liked: true } })
    t.match(await post(ben, `/feed/${id}/like`), { status: 400, success: false, code: 'ALREADY_LIKED' })
    t.match((await get(ben, `/feed/${id}`)).data.post, { likesCount: 1, isLiked: true })
    t.match((await get(ana, `/feed/${id}`)).data.post, { likesCount: 1, isLiked: false })
    t.same((await publishedEvents('social.post.liked.v1')).at(-1), {
      postId: id,
      authorId: ana,
      likedBy: ben,
      excerpt: 'x'.repeat(140)
    })
    for (
      const [content, excerpt] of [
        ['', null],
        ['👍'.repeat(150), '👍'.repeat(140)],
        [
          `${'x'.repeat(139)}👨‍👩‍👧‍👦`,
          'x'.repeat(139)
        ],
        [`z${'\u0335'.repeat(500)}`, `z${'\u0335'.repeat(139)}`],
        ['short', 'short']
      ] as const
    ) {
      const { id } = await givenPost(db, { author_id: ana, content })
      await post(ben, `/feed/${id}/like`)
      t.same((await publishedEvents('social.post.liked.v1')).at(-1), {
        postId: id,
        authorId: ana,
        likedBy: ben,
        excerpt
      })
    }
  })

  t.test('a repeat with the same idempotency key is the first response, and counts once', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const headers = { 'idempotency-key': randomUUID() }
    const like = async () => await post(ben, `/feed/${id}/like`, {}, headers)
    for (const repeat of await Promise.all([like(), like(), like()])) t.match(repeat, { status: 200 })
    t.match(await like(), { status: 200, data: { liked: true } })
    t.match((await get(ana, `/feed/${id}`)).data.post, { likesCount: 1 })
    t.equal((await publishedEvents('social.post.liked.v1')).filter((event) => event['postId'] === id).length, 1)
    const other = await givenPost(db, { author_id: ana })
    t.match(await post(ben, `/feed/${other.id}/like`, {}, headers), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
    t.match(await post(ben, `/feed/${id}/like`, {}, { 'idempotency-key': randomUUID() }), { code: 'ALREADY_LIKED' })
  })

  t.test('a like is removed once, and the removal is published', async (t) => {
    const { id } = await givenPost(db, { author_id: ana, visibility: 'PRIVATE' })
    t.match(await del(ana, `/feed/${id}/like`), { status: 400, code: 'NOT_LIKED' })
    await post(ana, `/feed/${id}/like`)
    t.equal(
      (await publishedEvents('social.post.liked.v1')).at(-1)?.['excerpt'],
      null,
      'the event has no excerpt of a non-public post'
    )
    t.match(await del(ana, `/feed/${id}/like`), { status: 200, data: { liked: false } })
    t.match(await del(ana, `/feed/${id}/like`), { status: 400, code: 'NOT_LIKED' })
    t.match((await get(ana, `/feed/${id}`)).data.post, { likesCount: 0, isLiked: false })
    t.same((await publishedEvents('social.post.unliked.v1')).at(-1), { postId: id, authorId: ana, unlikedBy: ana })
  })

  t.test('50 concurrent likes by one person count once', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const eventCount = (await publishedEvents('social.post.liked.v1')).length
    const codes = (await Promise.all(Array.from({ length: 50 }, () => post(ben, `/feed/${id}/like`)))).map((
      { status, code }
    ) => code ?? status)
    t.equal(codes.filter((code) => code === 200).length, 1)
    t.equal(codes.filter((code) => code === 'ALREADY_LIKED').length, 49)
    t.equal((await get(ben, `/feed/${id}`)).data.post.likesCount, 1)
    t.equal((await publishedEvents('social.post.liked.v1')).length, eventCount + 1)
  })

  t.test('likes by many people at once are each answered, counted and published as they would be alone', async (t) => {
    const [one, other] = [await givenPost(db, { author_id: ana }), await givenPost(db, { author_id: ana })]
    const secret = await givenPost(db, { author_id: ana, visibility: 'PRIVATE' })
    const people = Array.from({ length: 40 }, () => randomUUID())
    const like = async (who: string, id: string) => {
      const { status, code, headers } = await likeWithHeaders(who, id)
      return { who, id, outcome: code ?? status, requestId: String(headers['x-request-id']) }
    }
    const likes = await Promise.all(
      people.flatMap((who) => [like(who, one.id), like(who, other.id), like(who, one.id), like(who, secret.id)])
        .concat([like(ben, 'no-id'), like(ben, randomUUID())])
    )
    const outcomesOf = (id: string) => likes.filter((each) => each.id === id).map(({ outcome }) => outcome)
    t.same(outcomesOf(other.id), people.map(() => 200))
    t.equal(outcomesOf(one.id).filter((outcome) => outcome === 200).length, people.length)
    t.equal(outcomesOf(one.id).filter((outcome) => outcome === 'ALREADY_LIKED').length, people.length)
    t.same(outcomesOf(secret.id), people.map(() => 'FORBIDDEN'))
    t.same(likes.slice(-2).map(({ outcome }) => outcome), ['NOT_FOUND', 'NOT_FOUND'])
    for (const { id } of [one, other]) {
      const { likes_count } = await db.selectFrom('posts').select('likes_count').where('id', '=', id)
        .executeTakeFirstOrThrow()
      t.equal(likes_count, people.length)
      const events = await db.selectFrom('outbox').select(['data', 'request_id']).where('subject', '=', id).execute()
      t.same(
        new Set(events.map(({ data, request_id }) => `${(data as { likedBy: string }).likedBy} ${request_id}`)),
        new Set(
          likes.filter((each) => each.id === id && each.outcome === 200).map((each) => `${each.who} ${each.requestId}`)
        ),
        'an event has the id of its own request'
      )
      t.equal(events.length, people.length)
    }
  })

  t.test('500 people who like one post at once are all served, and counted exactly', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const likes = await Promise.all(Array.from({ length: 500 }, () => post(randomUUID(), `/feed/${id}/like`)))
    t.same(new Set(likes.map(({ status }) => status)), new Set([200]))
    t.equal((await get(ben, `/feed/${id}`)).data.post.likesCount, 500)
    t.equal((await publishedEvents('social.post.liked.v1')).filter((event) => event['postId'] === id).length, 500)
  })

  t.test('20 concurrent unlikes by one person count once', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    await post(ben, `/feed/${id}/like`)
    const eventCount = (await publishedEvents('social.post.unliked.v1')).length
    const codes = (await Promise.all(Array.from({ length: 20 }, () => del(ben, `/feed/${id}/like`)))).map((
      { status, code }
    ) => code ?? status)
    t.equal(codes.filter((code) => code === 200).length, 1)
    t.equal(codes.filter((code) => code === 'NOT_LIKED').length, 19)
    t.equal((await get(ben, `/feed/${id}`)).data.post.likesCount, 0)
    t.equal((await publishedEvents('social.post.unliked.v1')).length, eventCount + 1)
  })

  t.test('a like that runs concurrently with the deletion of the post succeeds or is refused', async (t) => {
    for (let round = 0; round < 10; round++) {
      const { id } = await givenPost(db, { author_id: ana })
      const [, ...likes] = await Promise.all([
        del(ana, `/feed/${id}`),
        ...[ben, ana, randomUUID()].map(async (who) => await post(who, `/feed/${id}/like`))
      ])
      for (const { status, code } of likes) t.ok(status === 200 || (status === 410 && code === 'GONE'), String(status))
      const { likes_count: counted } = await db.selectFrom('posts').select('likes_count').where('id', '=', id)
        .executeTakeFirstOrThrow()
      t.equal(counted, likes.filter(({ status }) => status === 200).length)
      t.equal((await publishedEvents('social.post.liked.v1')).filter((event) => event['postId'] === id).length, counted)
    }
  })

  t.test('counters equal the rows after concurrent likes, unlikes, comments and deletions', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const random = seededRandom(t)
    const people = Array.from({ length: 8 }, () => randomUUID())
    await Promise.all(people.map(async (someone) => {
      const own: string[] = []
      for (let step = 0; step < 25; step++) {
        const kind = Math.floor(random() * 4)
        const { status, data } = kind === 0 ?
          await post(someone, `/feed/${id}/like`)
          : kind === 1 ?
          await del(someone, `/feed/${id}/like`)
          : kind === 2 || own.length === 0 ?
          await post(someone, `/feed/${id}/comment`, { content: 'x', ...(own[0] && step % 2 && { parentId: own[0] }) })
          : await del(someone, `/feed/${id}/comment/${own.pop()}`)
        if (status === 201) own.push(data.comment.id)
        if (![200, 201, 400, 404].includes(status)) t.fail(`unexpected status ${status}`)
      }
    }))
    const counted = await db.selectFrom('posts').select(['likes_count', 'comments_count']).where('id', '=', id)
      .executeTakeFirstOrThrow()
    const likes = await db.selectFrom('likes').select('id').where('post_id', '=', id).execute()
    const comments = await db.selectFrom('comments').select(['id', 'parent_id', 'replies_count']).where(
      'post_id',
      '=',
      id
    ).execute()
    t.same(counted, { likes_count: likes.length, comments_count: comments.length })
    for (const comment of comments) {
      t.equal(
        comment.replies_count,
        comments.filter((reply) => reply.parent_id === comment.id).length
      )
    }
  })

  t.test('likers are listed newest first in pages, without people in a block', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const fans = []
    for (const name of ['Fan1', 'Fan2', 'Fan3', 'Fan4']) fans.push(await person(name))
    for (const fan of fans) await post(fan, `/feed/${id}/like`)
    await blocks(fans[1]!, ben)

    const first = await get(ben, `/feed/${id}/likes?limit=2`)
    t.match(first, {
      status: 200,
      data: {
        users: [{ id: fans[3], name: 'Fan4', username: 'fan4', image: null, isFollowing: false }, { name: 'Fan3' }]
      }
    })
    t.type(first.data.nextCursor, 'string')
    const second = await get(ben, `/feed/${id}/likes?limit=2&cursor=${first.data.nextCursor}`)
    t.match(second.data, { users: [{ name: 'Fan1' }], nextCursor: null })
    t.equal(second.data.users.length, 1)
    t.match(await get(ben, `/feed/${id}/likes?limit=51`), { status: 400 })
  })
})
