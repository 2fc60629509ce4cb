import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

/** Ana with two devices, to which three posts' mentions by Ben were pushed. */
async function scene () {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const [phone, tablet] = [randomUUID(), randomUUID()]
  const tokens = {
    phone: await app.device(ana, { sessionId: phone }),
    tablet: await app.device(ana, { sessionId: tablet, platform: 'ios' })
  }
  const postIds = [randomUUID(), randomUUID(), randomUUID()]
  for (const postId of postIds) {
    await app.receive('social.people.mentioned.v1', {
      postId,
      commentId: null,
      authorId: ben,
      mentioned: [ana],
      excerpt: null
    })
  }
  await app.deliverAll()
  app.provider.sent.length = 0
  const ids = ((await app.inbox(ana)).notifications as { id: string }[]).map(({ id }) => id)
  return {
    ...app,
    ana,
    ben,
    phone,
    tokens,
    postIds,
    ids,
    /** The silent pushes since the last call: to which device, with which number, and which notifications it clears. */
    silentPushes: async () => {
      await app.deliverAll()
      return app.provider.sent.splice(0).filter(({ silent }) => silent).map(({ token, badge, data }) => ({
        token,
        badge,
        gone: (data['goneIds'] ?? '').split(',').filter(Boolean).toSorted()
      }))
    }
  }
}

t.test('what is read on one device updates the number on the other, silently and once', async (t) => {
  const { ana, phone, tokens, ids, send, silentPushes, provider } = await scene()
  for (const id of ids.slice(0, 2)) {
    await send(ana, 'POST', '/notifications/read', { ids: [id] }, { sessionId: phone })
  }
  t.same(await silentPushes(), [{ token: tokens.tablet, badge: 1, gone: ids.slice(0, 2).toSorted() }])
  await send(ana, 'POST', '/notifications/read', { ids: [ids[0]] }, { sessionId: phone })
  t.same(await silentPushes(), [], 'what was read already changes nothing')
  await send(ana, 'POST', '/notifications/read', {}, { sessionId: phone })
  t.match(await silentPushes(), [{ token: tokens.tablet, badge: 0 }], 'a later change is another push')
  t.same(provider.sent, [])
})

t.test('what is withdrawn updates every device that shows it, and no other', async (t) => {
  const { ana, ben, device, tokens, postIds, receive, inbox, silentPushes } = await scene()
  await device(ana, { sessionId: randomUUID() })
  await receive('social.post.deleted.v1', { postId: postIds[0], authorId: ben })
  t.equal((await inbox(ana)).unreadCount, 2)
  const pushes = await silentPushes()
  t.same(pushes.map(({ token }) => token).toSorted(), [tokens.phone, tokens.tablet].toSorted())
  t.same(pushes.map(({ badge }) => badge), [2, 2])
})

t.test('what no device shows updates none', async (t) => {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  await app.device(ana)
  await app.receive('social.person.followed.v1', { followerId: ben, followedId: ana })
  await app.receive('social.person.unfollowed.v1', { followerId: ben, followedId: ana })
  await app.deliverAll()
  t.same(app.provider.sent, [])
})
