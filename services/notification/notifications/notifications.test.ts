import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createMediaUrls } from '@tandem/media-url-kit'
import { readInbox } from '../inbox/queries.ts'
import { upsertPeople } from '../people/copies.ts'
import { notify, testApp } from '../test/app.ts'

const { reset } = await testApp(t)

t.test('both people are notified of a match, each about the other', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const [anasProfile, bensProfile] = [randomUUID(), randomUUID()]
  await receive('fitmatch.match.made.v1', {
    matchId: randomUUID(),
    accountIds: [ana, ben],
    displayNames: ['Annie', 'Benny'],
    profileIds: [anasProfile, bensProfile],
    matchType: 'LIKE'
  })
  t.match((await inbox(ana)).notifications, [{
    body: 'You and Benny like each other. Say hello!',
    data: { profileId: bensProfile },
    actor: { id: bensProfile, name: 'Benny', image: null }
  }])
  t.match((await inbox(ben)).notifications, [{ body: 'You and Annie like each other. Say hello!' }])
})

t.test('FitMatch notifications never show the account: neither its id, its name nor its picture', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, log } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben Real Name', { image: 'https://cdn.example.com/ben.webp' })]
  await device(ana)
  const [matchId, profileId] = [randomUUID(), randomUUID()]
  for (const names of [{ displayName: 'Benny', profileId }, {}]) {
    const liker = await person('Ben Real Name')
    await receive('fitmatch.like.received.v1', { accountId: ana, swipeType: 'LIKE', likedBy: liker, ...names })
    t.notOk(JSON.stringify(await inbox(ana)).includes(liker))
  }
  for (const names of [{ senderName: 'Benny' }, {}]) {
    await receive('fitmatch.message.sent.v1', {
      matchId,
      messageId: randomUUID(),
      senderId: ben,
      recipientId: ana,
      hasImage: false,
      ...names
    })
  }
  for (const names of [{ displayNames: ['Annie', 'Benny'] }, {}]) {
    await receive('fitmatch.match.made.v1', {
      matchId: randomUUID(),
      accountIds: [ana, ben],
      matchType: 'LIKE',
      ...names
    })
  }
  await deliverAll()
  const { notifications } = await inbox(ana)
  // Events of one millisecond may be in any order.
  t.strictSame(notifications.map(({ body }: { body: string }) => body).sort(), [
    'Benny likes you',
    'Benny sent you a message',
    'Someone likes you',
    'Someone sent you a message',
    'You and Benny like each other. Say hello!',
    'You and Someone like each other. Say hello!'
  ])
  const like = notifications.find(({ body }: { body: string }) => body === 'Benny likes you')
  t.match(like, { data: { profileId }, actor: { id: profileId, name: 'Benny', image: null } })
  t.equal(provider.sent.length, 6)
  for (const output of [notifications, provider.sent, await log(ana)]) {
    t.notMatch(JSON.stringify(output), /Real Name|ben\.webp/)
    t.notOk(JSON.stringify(output).includes(ben))
  }
})

t.test('nobody is notified of their own actions', async (t) => {
  const { receive, inbox, person } = reset()
  const ana = await person('Ana')
  const [postId, commentId] = [randomUUID(), randomUUID()]
  await receive('social.post.liked.v1', { postId, authorId: ana, likedBy: ana, excerpt: null })
  await receive('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: ana, excerpt: null })
  await receive('social.comment.replied.v1', {
    postId,
    commentId,
    parentId: commentId,
    parentAuthorId: ana,
    repliedBy: ana,
    excerpt: null
  })
  await receive('social.people.mentioned.v1', { postId, commentId, authorId: ana, mentioned: [ana], excerpt: null })
  await receive('social.story.reacted.v1', { storyId: postId, authorId: ana, reactedBy: ana, emoji: '🔥' })
  t.match(await inbox(ana), { notifications: { length: 0 }, unreadCount: 0 })
})

t.test('a comment creates one notification for a person who is author, replied to and mentioned', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const [postId, commentId] = [randomUUID(), randomUUID()]
  await receive('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: ben, excerpt: null })
  await receive('social.people.mentioned.v1', { postId, commentId, authorId: ben, mentioned: [ana], excerpt: null })
  t.match(await inbox(ana), { notifications: [{ title: 'New comment', data: { postId, commentId } }], unreadCount: 1 })
})

t.test('a sign-in is not pushed to its own device, and one from a known device creates no notification', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, neighbours } = reset()
  const ana = await person('Ana')
  neighbours.contacts.set(ana, { email: 'ana@example.com', name: 'Ana', locale: 'en' })
  const [phone, tablet] = [randomUUID(), randomUUID()]
  const token = await device(ana, { sessionId: phone })
  await device(ana, { sessionId: tablet })
  const started = {
    accountId: ana,
    sessionId: tablet,
    method: 'PASSWORD',
    newDevice: true,
    deviceName: null,
    platform: 'ios'
  }
  await receive('identity.session.started.v1', started)
  await receive('identity.session.started.v1', { ...started, sessionId: phone, newDevice: false })
  await deliverAll()
  t.match((await inbox(ana)).notifications, [{ type: 'ACCOUNT', data: { sessionId: tablet } }])
  t.match(provider.sent.map((push) => push.token), [token])
})

t.test('unknown people are looked up, and the event is retried until the lookup works', async (t) => {
  const { receive, inbox, neighbours } = reset()
  const [ana, ben, nobody] = [randomUUID(), randomUUID(), randomUUID()]
  const follow = { followerId: ben, followedId: ana }
  neighbours.isUnavailable = true
  await t.rejects(
    receive('social.person.followed.v1', follow),
    { code: 'SERVICE_UNAVAILABLE' },
    'the event is retried later'
  )
  neighbours.isUnavailable = false
  neighbours.people.set(ana, { accountId: ana, name: 'Ana', image: null, locale: 'id', timezone: 'Asia/Jakarta' })
  neighbours.people.set(ben, {
    accountId: ben,
    name: 'Ben',
    image: 'https://cdn.example.com/ben.webp',
    locale: 'en',
    timezone: 'UTC'
  })
  await receive('social.person.followed.v1', follow)
  t.match((await inbox(ana)).notifications, [{
    body: 'Ben kini mengikuti Anda',
    actor: { id: ben, name: 'Ben', image: 'https://cdn.example.com/ben.webp' }
  }])

  await receive('social.person.followed.v1', { followerId: nobody, followedId: ana })
  t.match((await inbox(ana)).notifications, [{ body: 'Seseorang kini mengikuti Anda', actor: null }, {}])
  await receive('social.person.followed.v1', { followerId: ana, followedId: nobody })
  t.strictSame((await inbox(nobody)).notifications, [], 'an account that does not exist gets no notification')
})

t.test('a notification shows current names, and late profile events change nothing', async (t) => {
  const { receive, inbox, person, deps } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await receive('social.person.followed.v1', { followerId: ben, followedId: ana })
  await receive('profile.person.changed.v1', {
    accountId: ben,
    name: 'Benny',
    username: 'ben',
    image: null,
    bio: null,
    locale: 'en',
    timezone: 'UTC'
  })
  t.match((await inbox(ana)).notifications, [{ body: 'Benny started following you', actor: { name: 'Benny' } }])
  await upsertPeople(
    deps,
    [{ accountId: ben, name: 'Old', image: null, locale: 'en', timezone: 'UTC' }],
    new Date(Date.now() - 60_000)
  )
  t.match((await inbox(ana)).notifications, [{ body: 'Benny started following you' }])
})

t.test('the picture of an actor is shown at the current media URL', async (t) => {
  const { deps, receive, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await receive('social.person.followed.v1', { followerId: ben, followedId: ana })
  const key = `public/${randomUUID()}.webp`
  await receive('profile.person.changed.v1', {
    accountId: ben,
    name: 'Ben',
    username: 'ben',
    image: deps.mediaUrls.urlOf(key),
    bio: null,
    locale: 'en',
    timezone: 'UTC'
  })
  for (const cdnUrl of ['https://cdn.example.com', 'https://new.example/files']) {
    const { notifications } = await readInbox({ ...deps, mediaUrls: createMediaUrls(cdnUrl) }, ana, { limit: 5 })
    t.equal(notifications[0]?.actor?.image, `${cdnUrl}/${key}`)
  }
})

t.test('an event that arrives more than a day late is in the inbox and is not pushed', async (t) => {
  const { deps, person, device, inbox, log } = reset()
  const ana = await person('Ana')
  await device(ana)
  await notify(
    deps,
    { kind: 'levelReached', dedupeKey: 'level:2', to: [ana], params: { level: 2 } },
    new Date(Date.now() - 25 * 60 * 60 * 1_000)
  )
  t.match(await inbox(ana), { unreadCount: 1 })
  t.match(await log(ana), [{ status: 'muted', reason: 'the event arrived more than a day late' }])
})
