import { sql } from 'kysely'
import t from 'tap'
import { hide } from '@tandem/account-kit'
import { PersonHidden } from '@tandem/contracts'
import { deliver } from '@tandem/bus-kit/testing'
import { until } from '@tandem/test-kit'
import { runHousekeeping } from '../housekeeping.ts'
import { upsertPeople, type PersonCopy } from '../people/copies.ts'
import type { Db } from '../tables.ts'
import { examplePerson, givenStory, testApp } from '../test/app.ts'

// Every endpoint that shows a person or what they did, while the person is hidden: a deletion, a pause or a ban.

const app = await testApp(t)
const { db, handlers, get, post, person, follows, matches, rank, publishedEvents } = app
const [zelda, ben, cat] = [await person('zelda'), await person('ben'), await person('cat')]
await follows(zelda, ben)
await follows(ben, zelda)
await follows(cat, ben)
await matches(zelda, ben)

const publishPost = async (author: string, content: string, more: object = {}) =>
  (await post(author, '/feed', { type: 'TEXT', visibility: 'PUBLIC', content, ...more })).data.post
const own = await publishPost(zelda, 'secret #secret @ben', {
  type: 'POLL',
  pollQuestion: 'secret?',
  pollOptions: [{ text: 'secret' }, { text: 'other' }]
})
const others = await publishPost(cat, 'hello @zelda')
const { data: { comment } } = await post(zelda, `/feed/${others.id}/comment`, { content: 'secret' })
await post(cat, `/feed/${others.id}/comment`, { content: 'a reply', parentId: comment.id })
await post(zelda, `/feed/${others.id}/like`)
const story = await givenStory(db, { author_id: zelda, caption: 'secret' })
const bensStory = await givenStory(db, { author_id: ben })
await post(zelda, `/stories/${bensStory.id}/react`, { emoji: '🔥' })
await get(zelda, `/stories/${bensStory.id}`)
await rank()

let changes = 0
const setHidden = async (hidden: boolean) =>
  await deliver(handlers, PersonHidden.type, { accountId: zelda, hidden }, { at: new Date(Date.now() + changes++) })
const shows = (response: object) => {
  const text = JSON.stringify(response)
  return text.includes(zelda) || text.includes('secret')
}

const lists: [viewer: string, url: string][] = [
  [ben, '/feed'],
  [ben, '/feed?feedType=following'],
  [cat, '/feed?feedType=discover'],
  [ben, '/feed?feedType=trending'],
  [cat, `/feed?userId=${zelda}`],
  [ben, '/feed?hashtag=secret'],
  [cat, `/feed?mentioned=${ben}`],
  [ben, `/feed/${others.id}`],
  [ben, `/feed/${others.id}/comment`],
  [ben, `/feed/${others.id}/likes`],
  [ben, '/users/search?q=zelda'],
  [cat, `/users/${ben}/followers`],
  [cat, `/users/${ben}/following`],
  [ben, '/stories'],
  [ben, `/stories/${bensStory.id}/viewers`]
]

const single: [viewer: string, url: string][] = [
  [ben, `/feed/${own.id}`],
  [ben, `/feed/${own.id}/comment`],
  [ben, `/feed/${own.id}/likes`],
  [ben, `/users/${zelda}`],
  [ben, '/users/by-username/zelda'],
  [ben, `/users/${zelda}/followers`],
  [ben, `/users/${zelda}/following`],
  [ben, `/stories?userId=${zelda}`],
  [ben, `/stories/${story.id}`]
]
const writes: [viewer: string, url: string, body: object][] = [
  [ben, `/feed/${own.id}/like`, {}],
  [ben, `/feed/${own.id}/comment`, { content: 'x' }],
  [ben, `/feed/${own.id}/vote`, { optionId: own.poll.options[0].id }],
  [ben, `/feed/${others.id}/comment`, { content: 'x', parentId: comment.id }],
  [ben, `/stories/${story.id}/react`, { emoji: '🔥' }],
  [cat, `/users/${zelda}/follow`, {}],
  [ben, '/reports', { targetType: 'USER', targetId: zelda, reason: 'SPAM' }],
  [ben, '/reports', { targetType: 'POST', targetId: own.id, reason: 'SPAM' }],
  [ben, '/reports', { targetType: 'STORY', targetId: story.id, reason: 'SPAM' }],
  [ben, '/reports', { targetType: 'COMMENT', targetId: comment.id, reason: 'SPAM' }]
]
const readAll = async () => {
  const responses: Record<string, string> = {}
  for (const [viewer, url] of [...lists, ...single]) responses[url] = JSON.stringify(await get(viewer, url))
  return responses
}

t.test('nobody sees a hidden person anywhere, and everybody sees the same as before once they are back', async (t) => {
  // Reading a story marks it as viewed.
  await readAll()
  const before = await readAll()
  for (const [viewer, url] of lists) t.ok(shows(await get(viewer, url)), `${url} shows the person`)
  for (const [viewer, url] of single) t.equal((await get(viewer, url)).status, 200, url)

  await setHidden(true)
  for (const [viewer, url] of lists) {
    const response = await get(viewer, url)
    t.equal(response.status, 200, url)
    t.notOk(shows(response), `${url} does not show the person`)
  }
  for (const [viewer, url] of single) t.match(await get(viewer, url), { status: 404, code: 'NOT_FOUND' }, url)

  await setHidden(false)
  t.same(await readAll(), before)
})

t.test('trending tags leave out a hidden person when they are counted again', async (t) => {
  const showsTag = async () => shows(await get(ben, '/hashtags/trending'))
  t.ok(await showsTag())
  for (const hidden of [true, false]) {
    await setHidden(hidden)
    await until(async () => await showsTag() !== hidden)
  }
})

t.test('nobody can act on what a hidden person did, and no event is published', async (t) => {
  await setHidden(true)
  const before = (await publishedEvents()).length
  for (const [viewer, url, body] of writes) {
    t.match(await post(viewer, url, body), { status: 404, code: 'NOT_FOUND' }, url)
  }
  await publishPost(ben, 'hello @zelda')
  t.same((await publishedEvents()).slice(before).filter((event) => JSON.stringify(event).includes(zelda)), [])
  await setHidden(false)
})

t.test('a hidden person counts nowhere, and counts again once they are back', async (t) => {
  const poll = await publishPost(cat, 'tea?', {
    type: 'POLL',
    pollQuestion: 'tea?',
    pollOptions: [{ text: 'yes' }, { text: 'no' }]
  })
  for (const voter of [zelda, ben]) await post(voter, `/feed/${poll.id}/vote`, { optionId: poll.poll.options[0].id })
  const numbers = async () => {
    const { likesCount, commentsCount } = (await get(cat, `/feed/${others.id}`)).data.post
    const { followersCount, followingCount } = (await get(cat, `/users/${ben}`)).data.user
    const { viewCount, reactionCount } = (await get(ben, `/stories/${bensStory.id}`)).data.story
    const { totalVotes, options: [{ votesCount }] } = (await get(cat, `/feed/${poll.id}`)).data.post.poll
    return {
      likesCount,
      commentsCount,
      followersCount,
      followingCount,
      viewCount,
      reactionCount,
      totalVotes,
      votesCount
    }
  }
  const lengths = async () => ({
    likesCount: (await get(cat, `/feed/${others.id}/likes`)).data.users.length,
    followersCount: (await get(cat, `/users/${ben}/followers`)).data.users.length,
    followingCount: (await get(cat, `/users/${ben}/following`)).data.users.length,
    viewCount: (await get(ben, `/stories/${bensStory.id}/viewers`)).data.viewers.length
  })
  const shown = {
    likesCount: 1,
    commentsCount: 2,
    followersCount: 2,
    followingCount: 1,
    viewCount: 1,
    reactionCount: 1,
    totalVotes: 2,
    votesCount: 2
  }
  t.match(shown, await lengths())
  t.same(await numbers(), shown)
  await setHidden(true)
  t.same(await numbers(), {
    likesCount: 0,
    commentsCount: 1,
    followersCount: 1,
    followingCount: 0,
    viewCount: 0,
    reactionCount: 0,
    totalVotes: 1,
    votesCount: 1
  })
  t.match(await numbers(), await lengths())
  await setHidden(false)
  t.same(await numbers(), shown)
})

t.test('what a hidden person did at the moment they were hidden is marked later', async (t) => {
  await hide(db, zelda, true, new Date(Date.now() + changes++))
  t.equal((await get(cat, `/feed/${others.id}`)).data.post.likesCount, 1)
  await runHousekeeping(app.deps)
  t.equal((await get(cat, `/feed/${others.id}`)).data.post.likesCount, 0)
  await setHidden(false)
})

t.test('a person who is back sees themselves at once, also if the event is late', async (t) => {
  await setHidden(true)
  t.equal((await get(zelda, `/feed/${own.id}`)).status, 200)
  t.equal((await get(zelda, `/users/${zelda}`)).status, 200)
  await setHidden(false)
})

t.test('a person who is hidden while their copy is written for the first time is hidden', async (t) => {
  const writes = [
    async (db: Db, { accountId }: PersonCopy) => await hide(db, accountId, true, new Date()),
    async (db: Db, person: PersonCopy) => await upsertPeople({ ...app.deps, db }, [person])
  ]
  for (const [first, second] of [writes, writes.toReversed()]) {
    const person = examplePerson('yara')
    let writing: Promise<void> | undefined
    await db.transaction().execute(async (trx) => {
      await first!(trx, person)
      writing = second!(db, person)
      await until(async () => {
        const { rows } = await sql`
          select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(trx)
        return rows.length > 0
      })
    })
    await writing
    await publishPost(person.accountId, 'hello')
    t.equal((await get(person.accountId, `/feed?userId=${person.accountId}`)).data.posts.length, 1)
    t.same((await get(ben, `/feed?userId=${person.accountId}`)).data.posts, [])
  }
})

t.test('an event that is late or repeated does not hide a person who is back', async (t) => {
  const [earlier, later] = [new Date(Date.now() + 10_000), new Date(Date.now() + 20_000)]
  const change = async (hidden: boolean, at: Date) =>
    await deliver(handlers, PersonHidden.type, { accountId: zelda, hidden }, { at })
  await change(false, later)
  await change(true, earlier)
  await change(true, earlier)
  t.equal((await get(ben, `/users/${zelda}`)).status, 200)
})
