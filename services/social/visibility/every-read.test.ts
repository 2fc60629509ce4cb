import t from 'tap'
import { PersonHidden } from '@tandem/contracts'
import { deliver } from '@tandem/bus-kit/testing'
import { listReads, type Read } from '@tandem/http-kit/testing'
import { createMediaKey, neutralBlurhash } from '@tandem/media-kit'
import { givenStory, testApp } from '../test/app.ts'

// Requests every GET of the API document. A new one is requested too, and fails here if it names an object that this
// test does not know, or shows what the service's predicates (visibility/) would have refused.

const app = await testApp(t)
const { db, handlers, get, post, person, follows, blocks, rank } = app

/** What a person has of their own. The posts and stories are for followers. */
async function createObjects (name: string) {
  const id = await person(name)
  const { data } = await post(id, '/feed', { type: 'TEXT', visibility: 'FOLLOWERS', content: `secret of ${name}` })
  const postId = data.post.id as string
  const { data: { comment } } = await post(id, `/feed/${postId}/comment`, { content: `secret of ${name}` })
  const story = await givenStory(db, { author_id: id, caption: `secret of ${name}` })
  return { id, name, postId, commentId: comment.id as string, storyId: story.id, uploadId: await createUpload(id) }
}
/** A video that has arrived in parts. */
async function createUpload (accountId: string) {
  const key = createMediaKey('public', 'mp4')
  await db.insertInto('media').values({
    key,
    account_id: accountId,
    mime_type: 'video/mp4',
    width: 1,
    height: 1,
    bytes: 1,
    blurhash: neutralBlurhash(null)
  }).execute()
  const { id } = await db.insertInto('media_uploads')
    .values({ account_id: accountId, mime_type: 'video/mp4', bytes: 1, media_key: key }).returning('id')
    .executeTakeFirstOrThrow()
  return id
}
type Person = Awaited<ReturnType<typeof createObjects>>

const readsOf = async ({ id, name, postId, commentId, storyId, uploadId }: Person) =>
  await listReads(app.app, {
    objects: {
      '/feed/{id}/comment/{commentId}': `/feed/${postId}/comment/${commentId}`,
      '/feed/{id}': `/feed/${postId}`,
      '/stories/{id}': `/stories/${storyId}`,
      '/media/uploads/{id}': `/media/uploads/${uploadId}`,
      '/users/{userId}': `/users/${id}`,
      '/users/by-username/{username}': `/users/by-username/${name}`
    },
    query: {
      userId: id,
      mentioned: id,
      parentId: commentId,
      hashtag: 'zelda',
      q: 'zelda'
    }
  })

/** Zelda takes part in everything that somebody has. */
async function takePart (zelda: Person, { id, name, postId, storyId }: Person) {
  await follows(zelda.id, id)
  await follows(id, zelda.id)
  await post(zelda.id, `/feed/${postId}/like`)
  await post(zelda.id, `/feed/${postId}/comment`, { content: `hello @${name}` })
  await post(zelda.id, `/stories/${storyId}/react`, { emoji: '🔥' })
  await get(zelda.id, `/stories/${storyId}`)
}

const zelda = await createObjects('zelda')
const stranger = await createObjects('stranger')
const blocked = await createObjects('blocked')
const blocker = await createObjects('blocker')
const friend = await createObjects('friend')
for (const each of [blocked, blocker, friend]) await takePart(zelda, each)
await post(zelda.id, '/feed', { type: 'TEXT', content: 'public #zelda @blocked @blocker @friend' })
const setHidden = async (hidden: boolean) =>
  await deliver(handlers, PersonHidden.type, { accountId: zelda.id, hidden }, {
    at: hidden ? new Date() : new Date(Date.now() + 1_000)
  })

const read = async (viewer: Person, url: string) => {
  const response = await get(viewer.id, url)
  return { url, status: response.status, text: JSON.stringify(response) }
}
const readAll = async (viewer: Person, reads: Read[]) => {
  const responses = []
  for (const { urls } of reads) for (const url of urls) responses.push(await read(viewer, url))
  return responses
}
const withObject = (reads: Read[]) => reads.filter(({ hasObject }) => hasObject)
const isRefused = ({ status }: { status: number }) => status === 403 || status === 404

t.test('people see what is theirs, also on every list, and what others did there', async (t) => {
  await rank()
  for (const { url, status } of await readAll(zelda, await readsOf(zelda))) t.equal(status, 200, url)
  const own = await readAll(friend, withObject(await readsOf(friend)))
  for (const { url, status } of own) t.equal(status, 200, url)
  t.ok(own.filter(({ text }) => text.includes(zelda.id)).length >= 5, 'likes, comments, follows and views of zelda')
  const lists = await readAll(friend, await readsOf(zelda))
  t.ok(lists.filter(({ text }) => text.includes('secret of zelda')).length >= 5)
})

t.test('a stranger sees nothing of what is for followers', async (t) => {
  const reads = await readsOf(zelda)
  for (const { url, text } of await readAll(stranger, reads)) t.notMatch(text, 'secret of zelda', url)
  const ofFollowers = reads.filter(({ path }) => /^\/(feed|stories)\/\{id\}/.test(path))
  for (const response of await readAll(stranger, ofFollowers)) {
    t.ok(isRefused(response), `${response.url} ${response.status}`)
  }
})

async function seesNothing (t: Test, viewer: Person) {
  for (const response of await readAll(viewer, withObject(await readsOf(zelda)))) {
    t.equal(response.status, 404, response.url)
  }
  for (const { url, status, text } of await readAll(viewer, await readsOf(viewer))) {
    t.equal(status, 200, url)
    t.notOk(text.includes(zelda.id) || text.includes('zelda'), `${url} shows nothing of zelda`)
  }
  for (const { url, text } of await readAll(viewer, await readsOf(zelda))) {
    t.notOk(text.includes(zelda.id) || text.includes('secret of zelda'), `${url} shows nothing of zelda`)
  }
}
type Test = Pick<typeof t, 'equal' | 'notOk'>

t.test('a friend sees nothing of a person who is paused', async (t) => {
  await setHidden(true)
  await seesNothing(t, friend)
  await setHidden(false)
})

t.test('a block hides both from each other', async (t) => {
  await blocks(zelda.id, blocked.id)
  await blocks(blocker.id, zelda.id)
  await rank()
  for (const viewer of [blocked, blocker]) await t.test(viewer.name, async (t) => await seesNothing(t, viewer))
})

t.test('a read of an object that this test does not know fails', async (t) => {
  const inject = async () => ({ json: () => ({ paths: { '/bookmarks/{id}': { get: {} } } }) })
  await t.rejects(listReads({ inject }, { objects: {}, query: {} }), /GET \/bookmarks\/\{id\} names an object/)
})
