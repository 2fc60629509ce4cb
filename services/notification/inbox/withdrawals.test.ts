import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { fresh } = await testApp(t)

t.test('messages that were read in their chat are read in the inbox, and no push that was held wakes anybody for them', async (t) => {
  const { db, say, inbox, person, device, deliverAll, provider, send } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const endQuietHours = async () => {
    await db.updateTable('deliveries').set({ status: 'held' }).where('account_id', '=', ana).where('status', '=', 'pending').execute()
    await deliverAll()
  }
  const matchId = randomUUID()
  const [first, second, third, late] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const message = (messageId: string) => say('fitmatch.message.sent.v1', { matchId, messageId, senderId: ben, recipientId: ana, hasImage: false })
  const read = (...messageIds: string[]) => say('fitmatch.messages.read.v1', { matchId, readerId: ana, messageIds })
  for (const each of [first, second, third]) await message(each)
  await read(second, first)
  await read(first, second)
  t.match(await inbox(ana), {
    notifications: [{ data: { messageId: third }, readAt: null }, { data: { messageId: second }, readAt: String }, { data: { messageId: first }, readAt: String }], unreadCount: 1
  })
  await read(late)
  await message(late)
  t.match(await inbox(ana), { notifications: [{}, {}, {}], unreadCount: 1 }, 'nor is one told that comes after its reading')
  await endQuietHours()
  t.match(provider.sent, [{ data: { messageId: third } }])
  t.equal(provider.sent.length, 1)

  await send(ana, 'PUT', '/notifications/preferences', { categories: { CHAT: { push: true, inApp: false } } })
  const unlisted = randomUUID()
  await message(unlisted)
  await read(unlisted)
  t.equal((await inbox(ana)).unreadCount, 1)
  await endQuietHours()
  t.equal(provider.sent.length, 1, 'not even where only a push was wished for')
})

t.test('of an ended match nothing is told any more, however late it is heard', async (t) => {
  const { say, inbox, person, device, deliverAll, provider } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const matchId = randomUUID()
  const message = () => say('fitmatch.message.sent.v1', { matchId, messageId: randomUUID(), senderId: ben, recipientId: ana, hasImage: true })
  await say('fitmatch.match.made.v1', { matchId, accountIds: [ana, ben], matchType: 'LIKE' })
  await message()
  t.equal((await inbox(ana)).unreadCount, 2)
  await say('fitmatch.match.ended.v1', { matchId, accountIds: [ana, ben] })
  await message()
  t.match(await inbox(ana), { notifications: [], unreadCount: 0 })
  t.match(await inbox(ben), { notifications: [], unreadCount: 0 })
  await deliverAll()
  t.strictSame(provider.sent, [])
})

t.test('somebody who stops following is taken back, unless it was read; whoever follows again is told of once', async (t) => {
  const { say, inbox, person, send } = fresh()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await say('social.person.followed.v1', { followerId: ben, followedId: ana })
  await send(ana, 'POST', '/notifications/read')
  await say('social.person.followed.v1', { followerId: cem, followedId: ana })
  await say('social.person.unfollowed.v1', { followerId: ben, followedId: ana })
  await say('social.person.unfollowed.v1', { followerId: cem, followedId: ana })
  await say('social.person.followed.v1', { followerId: cem, followedId: ana })
  t.match(await inbox(ana), { notifications: [{ actor: { id: ben } }], unreadCount: 0 })
})

t.test('a deleted post is in no inbox and is not pushed, and what comes late of it is not told', async (t) => {
  const { say, inbox, person, device, deliverAll, provider, send } = fresh()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  await device(cem)
  const [postId, otherId] = [randomUUID(), randomUUID()]
  const comment = (on = postId) => say('social.post.commented.v1', { postId: on, commentId: randomUUID(), authorId: ana, commentedBy: ben, excerpt: 'words' })
  const like = (likedBy: string) => say('social.post.liked.v1', { postId, authorId: ana, likedBy, excerpt: 'words' })
  const mention = () => say('social.people.mentioned.v1', { postId, commentId: null, authorId: ana, mentioned: [cem], excerpt: 'words' })
  await comment()
  await send(ana, 'POST', '/notifications/read')
  await comment()
  await like(ben)
  await mention()
  await comment(otherId)
  await say('social.post.deleted.v1', { postId, authorId: ana })
  await comment()
  await like(cem)
  await mention()
  t.match(await inbox(ana), { notifications: [{ data: { postId: otherId } }], unreadCount: 1 })
  t.match(await inbox(cem), { notifications: [], unreadCount: 0 })
  await deliverAll()
  t.match(provider.sent, [{ data: { postId: otherId } }])
  t.equal(provider.sent.length, 1)
})

t.test('deleted comments are told no more, and what is left of the post is', async (t) => {
  const { say, inbox, person, device, deliverAll, provider } = fresh()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  await device(cem)
  const [postId, commentId, replyId, keptId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const comment = (commentId: string) => say('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: cem, excerpt: 'words' })
  const reply = () => say('social.comment.replied.v1', { postId, commentId: replyId, parentId: commentId, parentAuthorId: cem, repliedBy: ben, excerpt: 'words' })
  await comment(commentId)
  await comment(keptId)
  await reply()
  await say('social.comments.deleted.v1', { postId, commentIds: [commentId, replyId] })
  await comment(commentId)
  await say('social.people.mentioned.v1', { postId, commentId: replyId, authorId: ben, mentioned: [ana, cem], excerpt: 'words' })
  t.match(await inbox(ana), { notifications: [{ data: { commentId: keptId } }], unreadCount: 1 })
  t.match(await inbox(cem), { notifications: [], unreadCount: 0 })
  await deliverAll()
  t.match(provider.sent.map(({ data }) => data.commentId), [keptId])
})

t.test('a post that fewer may read loses its words in inboxes and pushes; who may read it no more has no notice of a private one', async (t) => {
  const { say, inbox, person, device, deliverAll, provider } = fresh()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(cem)
  const postId = randomUUID()
  await say('social.post.commented.v1', { postId, commentId: randomUUID(), authorId: ana, commentedBy: ben, excerpt: 'words' })
  await say('social.people.mentioned.v1', { postId, commentId: null, authorId: ana, mentioned: [cem], excerpt: 'words' })
  t.match((await inbox(cem)).notifications, [{ body: 'Ana mentioned you in a post: “words”' }])

  await say('social.post.narrowed.v1', { postId, authorId: ana, visibility: 'FOLLOWERS' })
  t.strictSame((await inbox(ana)).notifications.map(({ body }: { body: string }) => body), ['Ben commented on your post'])
  t.strictSame((await inbox(cem)).notifications.map(({ body }: { body: string }) => body), ['Ana mentioned you in a post'])

  await say('social.post.narrowed.v1', { postId, authorId: ana, visibility: 'PRIVATE' })
  t.equal((await inbox(ana)).unreadCount, 1)
  t.match(await inbox(cem), { notifications: [], unreadCount: 0 })
  await deliverAll()
  t.strictSame(provider.sent, [])
})
