import { randomUUID } from 'node:crypto'
import t from 'tap'
import { givenStory, testApp } from '../test/app.ts'

// Every endpoint that exposes a post, for every kind of post and viewer. The whole response is searched for content
// that must stay hidden.

const kinds = ['PUBLIC', 'FOLLOWERS', 'PRIVATE', 'deleted'] as const
const viewers = ['author', 'follower', 'followed', 'match', 'stranger', 'blocked', 'blocker'] as const
type Kind = typeof kinds[number]
type Viewer = typeof viewers[number]

/** The expected status of reading the post. */
function expected (kind: Kind, viewer: Viewer) {
  if (viewer === 'blocked' || viewer === 'blocker') return 404
  const isFor = kind === 'PUBLIC' || kind === 'deleted' || viewer === 'author' ||
    (kind === 'FOLLOWERS' && viewer === 'follower')
  return !isFor ? 403 : kind === 'deleted' ? 410 : 200
}

const refusals: Record<number, string> = { 403: 'FORBIDDEN', 404: 'NOT_FOUND', 410: 'GONE' }

t.test('every endpoint exposes a post exactly to the people who can see it', async (t) => {
  const { db, get, post, put, del, send, publishedEvents, person, follows, matches, blocks, rank } = await testApp(t)
  const people = {} as Record<Viewer, string>
  for (const viewer of viewers) people[viewer] = await person(viewer)
  const { author } = people
  await follows(people.follower, author)
  await follows(author, people.followed)
  await follows(people.blocked, author)
  await follows(author, people.blocker)
  await matches(people.match, author)
  await blocks(author, people.blocked)
  await blocks(people.blocker, author)

  for (const kind of kinds) {
    const secret = `s${randomUUID().replaceAll('-', '')}`
    const visibility = kind === 'deleted' ? 'PUBLIC' : kind
    const { data: { post: { id, poll } } } = await post(author, '/feed', {
      type: 'POLL',
      visibility,
      content: `${secret} #${secret} @${viewers.join(' @')}`,
      pollQuestion: secret,
      pollOptions: [{ text: secret }, { text: 'other' }]
    })
    const { data: { comment } } = await post(author, `/feed/${id}/comment`, { content: secret })
    await post(author, `/feed/${id}/like`)
    const mentioned = (await publishedEvents('social.people.mentioned.v1')).filter((event) => event['postId'] === id)
      .flatMap((event) => event['mentioned'] as string[])
    await rank()
    if (kind === 'deleted') await del(author, `/feed/${id}`)

    for (const viewer of viewers) {
      const who = people[viewer]
      const status = expected(kind, viewer)
      await t.test(`${kind} for ${viewer}: ${status}`, async (t) => {
        const writes = [
          ['POST', `/feed/${id}/vote`, { optionId: poll.options[0].id }, [200]],
          ['POST', `/feed/${id}/comment`, { content: 'x', parentId: comment.id }, [201]],
          ['POST', `/feed/${id}/comment`, { content: 'x' }, [201]],
          ['POST', `/feed/${id}/like`, {}, viewer === 'author' ? [400] : [200]],
          ['DELETE', `/feed/${id}/like`, undefined, [200]]
        ] as const
        const reads = [
          `/feed/${id}`,
          `/feed/${id}/comment`,
          `/feed/${id}/comment?parentId=${comment.id}`,
          `/feed/${id}/likes`
        ]
        for (const url of reads) {
          const response = await get(who, url)
          t.equal(response.status, status, url)
          if (status !== 200) t.equal(response.code, refusals[status])
          if (status !== 200) t.notMatch(JSON.stringify(response), secret)
        }
        for (const [method, url, payload, ok] of writes) {
          const response = await send(who, method, url, payload)
          t.ok(
            // The author's own like can be removed whatever became of the post.
            (status === 200 || (viewer === 'author' && method === 'DELETE') ? ok as readonly number[] : [status])
              .includes(response.status),
            `${method} ${url} ${response.status}`
          )
        }
        for (
          const response of [
            await put(who, `/feed/${id}`, {}),
            ...viewer === 'author'
              ? []
              : [await del(who, `/feed/${id}`), await del(who, `/feed/${id}/comment/${comment.id}`)]
          ]
        ) {
          t.equal(response.status, status !== 200 ? status : viewer === 'author' ? 200 : 403)
        }

        const isPublic = kind === 'PUBLIC' && status === 200
        const lists: [string, boolean][] = [
          ['/feed', isPublic || (status === 200 && kind === 'FOLLOWERS' && viewer === 'follower')],
          ['/feed?feedType=following', status === 200 && viewer === 'follower'],
          ['/feed?feedType=discover', isPublic && (viewer === 'stranger' || viewer === 'followed')],
          ['/feed?feedType=trending', isPublic],
          [`/feed?userId=${author}`, isPublic || (status === 200 && viewer === 'author')],
          [`/feed?hashtag=${secret}`, isPublic || (status === 200 && kind === 'FOLLOWERS' && viewer === 'follower')],
          [
            `/feed?mentioned=${people.follower}`,
            isPublic || (status === 200 && kind === 'FOLLOWERS' && viewer === 'follower')
          ],
          ['/hashtags/trending', isPublic]
        ]
        for (const [url, isShown] of lists) {
          const text = JSON.stringify(await get(who, url))
          t.equal(text.includes(secret), isShown, url)
        }
        const isNotified = viewer !== 'author' && (kind === 'deleted' || status === 200)
        t.equal(mentioned.includes(who), isNotified && status !== 404, 'is in the mention event')
      })
    }
    await db.deleteFrom('posts').where('id', '=', id).execute()
  }
})

t.test('every endpoint exposes a story exactly to the people who can see it', async (t) => {
  const { db, get, post, person, follows, matches, blocks } = await testApp(t)
  const people = {} as Record<Viewer, string>
  for (const viewer of viewers) people[viewer] = await person(viewer)
  const { author } = people
  for (const viewer of ['follower', 'blocked', 'blocker'] as const) await follows(people[viewer], author)
  await follows(author, people.followed)
  for (const viewer of ['match', 'blocked', 'blocker'] as const) await matches(people[viewer], author)
  await blocks(author, people.blocked)
  await blocks(people.blocker, author)
  const active = await givenStory(db, { author_id: author, caption: 'secret' })
  const expired = await givenStory(db, { author_id: author, caption: 'secret', expires_at: new Date() })

  for (const viewer of viewers) {
    const who = people[viewer]
    const may = viewer === 'author' || viewer === 'follower' || viewer === 'match'
    await t.test(`${viewer} ${may ? 'can see it' : 'cannot see it'}`, async (t) => {
      t.equal((await get(who, `/stories/${active.id}`)).status, may ? 200 : 404)
      t.equal((await get(who, `/stories/${expired.id}`)).status, may ? 410 : 404)
      t.equal((await get(who, `/stories?userId=${author}`)).status, may ? 200 : 404)
      t.equal((await post(who, `/stories/${active.id}/react`, { emoji: '👍' })).status, may ? 200 : 404)
      t.equal((await post(who, `/stories/${expired.id}/react`, { emoji: '👍' })).status, may ? 410 : 404)
      t.equal((await get(who, `/stories/${active.id}/viewers`)).status, viewer === 'author' ? 200 : may ? 403 : 404)
      t.equal((await get(who, '/stories')).data.storyRings.length, may ? 1 : 0)
    })
  }
})
