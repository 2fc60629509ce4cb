import { randomUUID } from 'node:crypto'
import t from 'tap'
import { givenPost, testApp } from '../test/app.ts'

t.test('comments', async (t) => {
  const { db, get, post, put, del, publishedEvents, person, follows, blocks, profiles } = await testApp(t)
  const ana = await person('Ana')
  const ben = await person('Ben')
  const cara = await person('Cara')
  const lastSaid = async () => (await publishedEvents()).at(-1)

  t.test('a comment is listed and counted, and an event for the author of the post is published', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const { status, data } = await post(ben, `/feed/${id}/comment`, { content: ' Well done ' })
    t.equal(status, 201)
    t.same(Object.keys(data.comment).sort(), [
      'content',
      'createdAt',
      'id',
      'isDeleted',
      'parentId',
      'postId',
      'repliesCount',
      'user'
    ])
    t.match(data.comment, {
      postId: id,
      parentId: null,
      content: 'Well done',
      user: { id: ben, name: 'Ben', username: 'ben', image: null },
      repliesCount: 0
    })
    t.same((await get(ana, `/feed/${id}/comment`)).data, { comments: [data.comment], nextCursor: null })
    t.equal((await get(ana, `/feed/${id}`)).data.post.commentsCount, 1)
    t.same(await lastSaid(), {
      postId: id,
      commentId: data.comment.id,
      authorId: ana,
      commentedBy: ben,
      excerpt: 'Well done'
    })
  })

  t.test('replies belong to the top-level comment, whichever comment they reply to', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const top = (await post(ben, `/feed/${id}/comment`, { content: 'top' })).data.comment
    const reply = (await post(cara, `/feed/${id}/comment`, { content: 'reply', parentId: top.id })).data.comment
    t.same(await lastSaid(), {
      postId: id,
      commentId: reply.id,
      parentId: top.id,
      parentAuthorId: ben,
      postAuthorId: ana,
      repliedBy: cara,
      excerpt: 'reply'
    })
    const nested = (await post(ben, `/feed/${id}/comment`, { content: 'nested', parentId: reply.id })).data.comment
    t.same(await lastSaid(), {
      postId: id,
      commentId: nested.id,
      parentId: reply.id,
      parentAuthorId: cara,
      postAuthorId: ana,
      repliedBy: ben,
      excerpt: 'nested'
    })
    t.equal(nested.parentId, top.id)

    const listed = (await get(ana, `/feed/${id}/comment`)).data.comments
    t.match(listed, [{ id: top.id, repliesCount: 2 }])
    t.equal(listed.length, 1)
    t.match((await get(ana, `/feed/${id}/comment?parentId=${top.id}`)).data.comments, [{
      id: reply.id,
      parentId: top.id
    }, { id: nested.id }])
    t.match((await get(ana, `/feed/${id}/comment?parentId=${reply.id}`)).data, { comments: [] })
    t.equal((await get(ana, `/feed/${id}`)).data.post.commentsCount, 3)

    t.match(await del(cara, `/feed/${id}/comment/${nested.id}`), { status: 403, code: 'FORBIDDEN' })
    t.match(await del(ben, `/feed/${id}/comment/${nested.id}`), { status: 200, message: 'The comment was deleted' })
    t.same(await lastSaid(), { postId: id, commentIds: [nested.id] })
    t.match((await get(ana, `/feed/${id}/comment`)).data.comments, [{ repliesCount: 1 }])
    t.match(
      await del(ana, `/feed/${id}/comment/${top.id}`),
      { status: 200 },
      'the author of the post can delete it too'
    )
    t.same(await lastSaid(), { postId: id, commentIds: [top.id] })
    t.equal((await get(ana, `/feed/${id}`)).data.post.commentsCount, 1)
    t.match(await del(ana, `/feed/${id}/comment/${top.id}`), { status: 404, code: 'NOT_FOUND' })
  })

  t.test('a comment deleted by two people at once is deleted once, and a concurrent reply is refused or stays', async (t) => {
    for (let round = 0; round < 10; round++) {
      const { id } = await givenPost(db, { author_id: ana })
      const top = (await post(ben, `/feed/${id}/comment`, { content: 'top' })).data.comment.id
      const [one, other, reply] = await Promise.all([
        del(ana, `/feed/${id}/comment/${top}`),
        del(ben, `/feed/${id}/comment/${top}`),
        post(cara, `/feed/${id}/comment`, { content: 'reply', parentId: top })
      ])
      t.same(new Set([one.status, other.status]), new Set([200, 404]))
      t.ok(reply.status === 201 || (reply.status === 404 && reply.code === 'NOT_FOUND'), String(reply.status))
      const replies = reply.status === 201 ? 1 : 0
      t.equal((await get(ana, `/feed/${id}`)).data.post.commentsCount, replies)
      const rows = await db.selectFrom('comments').select('content').where('post_id', '=', id).orderBy('id').execute()
      t.same(rows.map(({ content }) => content), replies === 1 ? ['', 'reply'] : [])
    }
  })

  t.test('the replies to a deleted comment stay, below its empty place, which goes with the last of them', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const top = (await post(ben, `/feed/${id}/comment`, { content: 'secret of @cara' })).data.comment
    const reply = (await post(cara, `/feed/${id}/comment`, { content: 'reply', parentId: top.id })).data.comment
    t.equal((await del(ben, `/feed/${id}/comment/${top.id}`)).status, 200)
    const { data: { comments } } = await get(ana, `/feed/${id}/comment`)
    t.match(comments, [{ id: top.id, content: '', user: { name: 'Someone' }, repliesCount: 1, isDeleted: true }])
    t.notMatch(JSON.stringify(comments), new RegExp(`${ben}|secret`))
    t.match((await get(ana, `/feed/${id}/comment?parentId=${top.id}`)).data.comments, [{
      id: reply.id,
      isDeleted: false
    }])
    t.equal((await get(ana, `/feed/${id}`)).data.post.commentsCount, 1)
    t.match(await post(ana, `/feed/${id}/comment`, { content: 'x', parentId: top.id }), { status: 404 })
    t.match(await del(ben, `/feed/${id}/comment/${top.id}`), { status: 404, code: 'NOT_FOUND' })

    t.equal((await del(cara, `/feed/${id}/comment/${reply.id}`)).status, 200)
    t.same((await get(ana, `/feed/${id}/comment`)).data.comments, [])
    t.equal((await get(ana, `/feed/${id}`)).data.post.commentsCount, 0)
    t.same(await db.selectFrom('comments').select('id').where('post_id', '=', id).execute(), [])
  })

  t.test('the replies to a comment that the reader cannot see stay', async (t) => {
    const [eve, fred] = [await person('Eve'), await person('Fred')]
    const { id } = await givenPost(db, { author_id: ana })
    const top = (await post(eve, `/feed/${id}/comment`, { content: 'secret' })).data.comment
    await post(ben, `/feed/${id}/comment`, { content: 'reply', parentId: top.id })
    const read = async (reader: string) => ({
      comments: (await get(reader, `/feed/${id}/comment`)).data.comments,
      count: (await get(reader, `/feed/${id}`)).data.post.commentsCount
    })
    await blocks(fred, eve)
    t.match(await read(fred), { comments: [{ content: '', isDeleted: true, repliesCount: 1 }], count: 1 })
    t.match(await read(ana), { comments: [{ content: 'secret', isDeleted: false }], count: 2 })
    await db.updateTable('comments').set({ hidden_at: new Date() }).where('id', '=', top.id).execute()
    t.match(await read(ana), { comments: [{ content: '', isDeleted: true, repliesCount: 1 }], count: 1 })
    t.match(await read(eve), { comments: [{ content: 'secret', isDeleted: false }], count: 2 })
  })

  t.test('what the author of the post cannot see because of a block, nobody but its author sees, and they can delete it', async (t) => {
    for (const hasBlocked of ['the author', 'the guest', 'both']) {
      const [owner, guest] = [await person('Owner'), await person('Guest')]
      const { id } = await givenPost(db, { author_id: owner })
      const comment = async (who: string, content: string, parentId?: string) =>
        (await post(who, `/feed/${id}/comment`, { content, parentId: parentId ?? null })).data.comment.id
      const top = await comment(ben, 'top')
      const reply = await comment(guest, 'reply', top)
      const insult = await comment(guest, 'insult')
      const place = await comment(guest, 'place')
      await comment(ben, 'below', place)
      if (hasBlocked !== 'the guest') await blocks(owner, guest)
      if (hasBlocked !== 'the author') await blocks(guest, owner)
      await blocks(cara, guest)

      for (const reader of [owner, ben, cara]) {
        t.match((await get(reader, `/feed/${id}/comment`)).data.comments, [
          { id: top, repliesCount: 0 },
          { id: place, content: '', isDeleted: true, repliesCount: 1 }
        ], hasBlocked)
        t.same((await get(reader, `/feed/${id}/comment?parentId=${top}`)).data.comments, [])
        t.equal((await get(reader, `/feed/${id}`)).data.post.commentsCount, 2)
        t.match(await get(reader, `/feed/${id}/comment/${insult}`), { status: 404, code: 'NOT_FOUND' })
      }
      t.match(await post(ben, `/feed/${id}/comment`, { content: 'x', parentId: insult }), { status: 404 })

      t.match(await del(ben, `/feed/${id}/comment/${insult}`), { status: 404, code: 'NOT_FOUND' })
      const reported = { targetType: 'COMMENT', targetId: insult, reason: 'HARASSMENT' }
      t.match(await post(ben, '/reports', reported), { status: 404, code: 'NOT_FOUND' })
      t.equal((await post(owner, '/reports', reported)).status, 201)
      t.equal((await del(owner, `/feed/${id}/comment/${insult}`)).status, 200)
      t.match(await del(owner, `/feed/${id}/comment/${insult}`), { status: 404, code: 'NOT_FOUND' })
      t.match(await post(owner, '/reports', { ...reported, targetId: place }), { status: 201 })
      t.equal((await del(guest, `/feed/${id}/comment/${reply}`)).status, 200)
      t.equal((await get(ben, `/feed/${id}`)).data.post.commentsCount, 2)
    }
  })

  t.test('people can delete their comment, like and vote on a post that they can no longer see', async (t) => {
    const [owner, guest] = [await person('Owner'), await person('Guest')]
    const given = async () => {
      const options = [{ text: 'yes' }, { text: 'no' }]
      const { poll, id } =
        (await post(owner, '/feed', { type: 'POLL', content: 'tea?', pollOptions: options })).data.post
      const comment = (await post(guest, `/feed/${id}/comment`, { content: 'mine' })).data.comment
      await post(guest, `/feed/${id}/like`)
      await post(guest, `/feed/${id}/vote`, { optionId: poll.options[0].id })
      return { id, own: [`/feed/${id}/comment/${comment.id}`, `/feed/${id}/like`, `/feed/${id}/vote`] }
    }
    const [narrowed, hidden, closed] = [await given(), await given(), await given()]
    await put(owner, `/feed/${narrowed.id}`, { visibility: 'PRIVATE' })
    await db.updateTable('posts').set({ hidden_at: new Date() }).where('id', '=', hidden.id).execute()
    await blocks(owner, guest)
    for (const { id, own } of [narrowed, hidden, closed]) {
      const { status, code } = await get(guest, `/feed/${id}`)
      for (const url of own) {
        t.not((await del(cara, url)).status, 200, url)
        t.equal((await del(guest, url)).status, 200, url)
        t.match(await del(guest, url), { status, code }, url)
      }
    }
  })

  t.test('pages are ordered oldest first', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    for (let each = 0; each < 5; each++) await post(ben, `/feed/${id}/comment`, { content: `c${each}` })
    const seen: string[] = []
    let cursor = ''
    do {
      const { data } = await get(ana, `/feed/${id}/comment?limit=2${cursor && `&cursor=${cursor}`}`)
      seen.push(...data.comments.map((comment: { content: string }) => comment.content))
      cursor = data.nextCursor
      if (seen.length === 2) await post(ben, `/feed/${id}/comment`, { content: 'c5' })
    } while (cursor)
    t.same(seen, ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'])
  })

  t.test('limits are exact at both ends', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    t.equal((await post(ben, `/feed/${id}/comment`, { content: 'x'.repeat(2_000) })).status, 201)
    t.equal((await post(ben, `/feed/${id}/comment`, { content: 'x', parentId: null })).status, 201)
    for (const bad of [{ content: 'x'.repeat(2_001) }, { content: '  ' }, {}, { content: 1 }]) {
      t.match(await post(ben, `/feed/${id}/comment`, bad), { status: 400, code: 'VALIDATION_ERROR' })
    }
    t.match(await get(ben, `/feed/${id}/comment?limit=0`), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await get(ben, `/feed/${id}/comment?cursor=x`), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('a comment of another post cannot be the parent', async (t) => {
    const one = await givenPost(db, { author_id: ana })
    const other = await givenPost(db, { author_id: ana, visibility: 'PRIVATE' })
    const hidden = (await post(ana, `/feed/${other.id}/comment`, { content: 'secret' })).data.comment
    for (const parentId of [hidden.id, randomUUID(), 'garbage']) {
      t.match(await post(ben, `/feed/${one.id}/comment`, { content: 'x', parentId }), {
        status: 404,
        code: 'NOT_FOUND'
      })
      t.match(await get(ben, `/feed/${one.id}/comment?parentId=${parentId}`), { status: 404, code: 'NOT_FOUND' })
    }
    t.match(await del(ana, `/feed/${one.id}/comment/${hidden.id}`), { status: 404 })
  })

  t.test('a mentioned person is in one event, unless they are the author or already notified of the comment', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const before = (await publishedEvents('social.people.mentioned.v1')).length
    const { data } = await post(ben, `/feed/${id}/comment`, { content: '@ana @ben @cara @cara @nobody' })
    const mentioned = (await publishedEvents('social.people.mentioned.v1')).slice(before)
    t.same(mentioned, [{
      postId: id,
      commentId: data.comment.id,
      parentId: null,
      authorId: ben,
      postAuthorId: ana,
      mentioned: [cara],
      excerpt: '@ana @ben @cara @cara @nobody'
    }])
    const nested = await post(ana, `/feed/${id}/comment`, { content: '@cara', parentId: data.comment.id })
    t.match((await publishedEvents('social.people.mentioned.v1')).at(-1), {
      commentId: nested.data.comment.id,
      parentId: data.comment.id
    })
  })

  t.test('one comment can be read, as it is listed', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const other = await givenPost(db, { author_id: ana })
    const { comment: top } = (await post(ben, `/feed/${id}/comment`, { content: 'top' })).data
    const { comment: reply } = (await post(cara, `/feed/${id}/comment`, { content: 'reply', parentId: top.id })).data
    const read = async (commentId: string, postId = id) => await get(ana, `/feed/${postId}/comment/${commentId}`)
    t.same((await read(reply.id)).data.comment, reply)
    t.same((await read(top.id)).data.comment, { ...top, repliesCount: 1 })
    for (const missing of [await read(randomUUID()), await read('x'), await read(top.id, other.id)]) {
      t.match(missing, { status: 404, code: 'NOT_FOUND' })
    }
    await del(ben, `/feed/${id}/comment/${top.id}`)
    t.match((await read(top.id)).data.comment, { content: '', isDeleted: true })
    await put(ana, `/feed/${id}`, { visibility: 'PRIVATE' })
    t.match(await get(ben, `/feed/${id}/comment/${reply.id}`), { status: 403, code: 'FORBIDDEN' })
  })

  t.test('no reply event is published for a person who can no longer read the post', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const { data } = await post(ben, `/feed/${id}/comment`, { content: 'x' })
    await put(ana, `/feed/${id}`, { visibility: 'PRIVATE' })
    const before = (await publishedEvents()).length
    t.equal((await post(ana, `/feed/${id}/comment`, { content: 'y', parentId: data.comment.id })).status, 201)
    t.equal((await publishedEvents()).length, before)
  })

  t.test("people in a block do not see each other's comments on a third person's post", async (t) => {
    const dora = await person('Dora')
    const emil = await person('Emil')
    const { id } = await givenPost(db, { author_id: ana })
    const { data } = await post(dora, `/feed/${id}/comment`, { content: 'by dora' })
    await follows(emil, dora)
    await blocks(dora, emil)
    t.same((await get(emil, `/feed/${id}/comment`)).data.comments, [])
    t.match(await post(emil, `/feed/${id}/comment`, { content: 'x', parentId: data.comment.id }), { status: 404 })
    t.match(await get(emil, `/feed/${id}/comment?parentId=${data.comment.id}`), { status: 404 })
    const before = (await publishedEvents('social.people.mentioned.v1')).length
    await post(emil, `/feed/${id}/comment`, { content: 'hello @dora' })
    t.equal((await publishedEvents('social.people.mentioned.v1')).length, before)
  })

  t.test('authors missing from the local copy are fetched once', async (t) => {
    const { id } = await givenPost(db, { author_id: ana })
    const stranger = {
      accountId: randomUUID(),
      name: 'Fay',
      username: 'fay',
      image: null,
      bio: null,
      locale: 'en',
      timezone: 'UTC'
    }
    profiles.people.set(stranger.accountId, stranger)
    await post(stranger.accountId, `/feed/${id}/comment`, { content: 'hi' })
    t.match((await get(ana, `/feed/${id}/comment`)).data.comments, [{ user: { id: stranger.accountId, name: 'Fay' } }])
    const callsBefore = profiles.calls.length
    t.match((await get(ana, `/feed/${id}/comment`)).data.comments, [{ user: { name: 'Fay' } }])
    t.equal(profiles.calls.length, callsBefore)

    await post(randomUUID(), `/feed/${id}/comment`, { content: 'from nowhere' })
    t.match((await get(ana, `/feed/${id}/comment`)).data.comments, [{}, { user: { name: 'Someone', image: null } }])
    profiles.isUnavailable = true
    const late = { ...stranger, accountId: randomUUID(), name: 'Late' }
    profiles.people.set(late.accountId, late)
    t.match(await post(late.accountId, `/feed/${id}/comment`, { content: 'x' }), {
      status: 201,
      data: { comment: { user: { name: 'Someone' } } }
    })
    profiles.isUnavailable = false
    t.match((await get(ana, `/feed/${id}/comment`)).data.comments, [{}, {}, { user: { name: 'Late' } }])
  })
})
