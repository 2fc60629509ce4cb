import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

t.test('messages read in their chat are read in the inbox, and their held pushes are not sent', async (t) => {
  const { db, receive, inbox, person, device, deliverAll, provider, send } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const endQuietHours = async () => {
    await db.updateTable('deliveries').set({ status: 'held' }).where('account_id', '=', ana).where(
      'status',
      '=',
      'pending'
    ).execute()
    await deliverAll()
  }
  const matchId = randomUUID()
  const [first, second, third, late] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const message = (messageId: string) =>
    receive('fitmatch.message.sent.v1', { matchId, messageId, senderId: ben, recipientId: ana, hasImage: false })
  const read = (...messageIds: string[]) => receive('fitmatch.messages.read.v1', { matchId, readerId: ana, messageIds })
  for (const each of [first, second, third]) await message(each)
  await read(second, first)
  await read(first, second)
  t.match(await inbox(ana), {
    notifications: [{ data: { messageId: third }, readAt: null }, { data: { messageId: second }, readAt: String }, {
      data: { messageId: first },
      readAt: String
    }],
    unreadCount: 1
  })
  await read(late)
  await message(late)
  t.match(
    await inbox(ana),
    { notifications: [{}, {}, {}], unreadCount: 1 },
    'a message event that arrives after the message was read creates none'
  )
  await endQuietHours()
  t.match(provider.sent, [{ data: { messageId: third } }])
  t.equal(provider.sent.length, 1)

  await send(ana, 'PUT', '/notifications/preferences', { categories: { CHAT: { push: true, inApp: false } } })
  const unlisted = randomUUID()
  await message(unlisted)
  await read(unlisted)
  t.equal((await inbox(ana)).unreadCount, 1)
  await endQuietHours()
  t.equal(provider.sent.length, 1, 'not even if the category is pushed only')
})

t.test('an ended match has no notifications, however late its events arrive', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const matchId = randomUUID()
  const message = () =>
    receive('fitmatch.message.sent.v1', {
      matchId,
      messageId: randomUUID(),
      senderId: ben,
      recipientId: ana,
      hasImage: true
    })
  await receive('fitmatch.match.made.v1', { matchId, accountIds: [ana, ben], matchType: 'LIKE' })
  await message()
  t.equal((await inbox(ana)).unreadCount, 2)
  await receive('fitmatch.match.ended.v1', { matchId, accountIds: [ana, ben] })
  await message()
  t.match(await inbox(ana), { notifications: { length: 0 }, unreadCount: 0 })
  t.match(await inbox(ben), { notifications: { length: 0 }, unreadCount: 0 })
  await deliverAll()
  t.strictSame(provider.sent, [])
})

t.test('who follows again is reported again, at the top of the inbox, and pushed once in all', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  const follow = async (verb: 'followed' | 'unfollowed', followerId: string) =>
    await receive(`social.person.${verb}.v1`, { followerId, followedId: ana })
  await follow('followed', ben)
  await follow('unfollowed', ben)
  await deliverAll()
  t.same(provider.sent, [], 'a push that waited is not sent')
  for (let turn = 0; turn < 2; turn++) {
    await follow('followed', ben)
    await deliverAll()
    await follow('followed', cem)
    await follow('unfollowed', ben)
    t.match(await inbox(ana), { notifications: [{ actor: { id: cem } }], unreadCount: 1 })
  }
  await follow('followed', ben)
  t.match(await inbox(ana), { notifications: [{ actor: { id: ben } }, { actor: { id: cem } }], unreadCount: 2 })
  await deliverAll()
  t.same(provider.sent.filter(({ silent }) => !silent).map(({ body }) => body), [
    'Ben started following you',
    'Cem started following you'
  ])
})

t.test('a deleted post is in no inbox and is not pushed, and late events about it create nothing', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, send } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  await device(cem)
  const [postId, otherId] = [randomUUID(), randomUUID()]
  const comment = (on = postId) =>
    receive('social.post.commented.v1', {
      postId: on,
      commentId: randomUUID(),
      authorId: ana,
      commentedBy: ben,
      excerpt: 'words'
    })
  const like = (likedBy: string) =>
    receive('social.post.liked.v1', { postId, authorId: ana, likedBy, excerpt: 'words' })
  const mention = () =>
    receive('social.people.mentioned.v1', {
      postId,
      commentId: null,
      authorId: ana,
      mentioned: [cem],
      excerpt: 'words'
    })
  await comment()
  await send(ana, 'POST', '/notifications/read')
  await comment()
  await like(ben)
  await mention()
  await comment(otherId)
  await receive('social.post.deleted.v1', { postId, authorId: ana })
  await comment()
  await like(cem)
  await mention()
  t.match(await inbox(ana), { notifications: [{ data: { postId: otherId } }], unreadCount: 1 })
  t.match(await inbox(cem), { notifications: { length: 0 }, unreadCount: 0 })
  await deliverAll()
  t.match(provider.sent, [{ data: { postId: otherId } }])
  t.equal(provider.sent.length, 1)
})

t.test('deleted comments are in no inbox and are not pushed; other comments on the post are', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  await device(cem)
  const [postId, commentId, replyId, keptId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const comment = (commentId: string) =>
    receive('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: cem, excerpt: 'words' })
  const reply = () =>
    receive('social.comment.replied.v1', {
      postId,
      commentId: replyId,
      parentId: commentId,
      parentAuthorId: cem,
      repliedBy: ben,
      excerpt: 'words'
    })
  await comment(commentId)
  await comment(keptId)
  await reply()
  await receive('social.comments.deleted.v1', { postId, commentIds: [commentId, replyId] })
  await comment(commentId)
  await receive('social.people.mentioned.v1', {
    postId,
    commentId: replyId,
    authorId: ben,
    mentioned: [ana, cem],
    excerpt: 'words'
  })
  t.match(await inbox(ana), { notifications: [{ data: { commentId: keptId } }], unreadCount: 1 })
  t.match(await inbox(cem), { notifications: { length: 0 }, unreadCount: 0 })
  await deliverAll()
  t.match(provider.sent.map(({ data }) => data.commentId), [keptId])
})

t.test('a post with narrowed visibility is no longer quoted; a private one stays in its author’s inbox', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(cem)
  const postId = randomUUID()
  await receive('social.post.commented.v1', {
    postId,
    commentId: randomUUID(),
    authorId: ana,
    commentedBy: ben,
    excerpt: 'words'
  })
  await receive('social.people.mentioned.v1', {
    postId,
    commentId: null,
    authorId: ana,
    mentioned: [cem],
    excerpt: 'words'
  })
  t.match((await inbox(cem)).notifications, [{ body: 'Ana mentioned you in a post: “words”' }])

  await receive('social.post.narrowed.v1', { postId, authorId: ana, visibility: 'FOLLOWERS' })
  t.strictSame((await inbox(ana)).notifications.map(({ body }: { body: string }) => body), [
    'Ben commented on your post'
  ])
  t.strictSame((await inbox(cem)).notifications.map(({ body }: { body: string }) => body), [
    'Ana mentioned you in a post'
  ])

  await receive('social.post.narrowed.v1', { postId, authorId: ana, visibility: 'PRIVATE' })
  t.equal((await inbox(ana)).unreadCount, 1)
  t.match(await inbox(cem), { notifications: { length: 0 }, unreadCount: 0 })
  await deliverAll()
  t.strictSame(provider.sent, [])
})

t.test('a post that was edited is quoted as it is now, in any order of events, also in a push that waits', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ben)
  const postId = randomUUID()
  const at = (minute: number) => ({ at: new Date(Date.now() - 3_600_000 + minute * 60_000) })
  const mention = async (mentioned: string[], excerpt: string, minute: number) =>
    await receive(
      'social.people.mentioned.v1',
      { postId, commentId: null, authorId: ana, mentioned, excerpt },
      at(minute)
    )
  const edit = async (excerpt: string | null, minute: number) =>
    await receive('social.post.edited.v1', { postId, authorId: ana, excerpt }, at(minute))
  const textsOf = async (accountId: string) =>
    (await inbox(accountId)).notifications.map(({ body }: { body: string }) => body)

  await mention([ben], '@ben is ill', 1)
  await receive('social.post.commented.v1', {
    postId,
    commentId: randomUUID(),
    authorId: ana,
    commentedBy: ben,
    excerpt: 'a comment'
  }, at(2))
  await receive('social.post.liked.v1', { postId, authorId: ana, likedBy: ben, excerpt: '@ben is ill' }, at(2))
  t.strictSame(await textsOf(ben), ['Ana mentioned you in a post: “@ben is ill”'])
  await edit('@ben is well', 4)
  t.strictSame(await textsOf(ben), ['Ana mentioned you in a post: “@ben is well”'])
  t.strictSame((await textsOf(ana)).sort(), [
    'Ben commented on your post: “a comment”',
    'Ben likes your post: “@ben is well”'
  ])
  await edit('@ben is tired', 3)
  t.strictSame(await textsOf(ben), ['Ana mentioned you in a post: “@ben is well”'], 'an older edit')

  await mention([cem], '@cem is ill', 3)
  t.strictSame(await textsOf(cem), ['Ana mentioned you in a post'], 'an older text')
  const dan = await person('Dan')
  await mention([dan], '@dan', 6)
  await edit('nothing', 5)
  t.strictSame(await textsOf(dan), ['Ana mentioned you in a post: “@dan”'], 'a newer text')
  t.strictSame(await textsOf(ben), ['Ana mentioned you in a post: “nothing”'])
  await receive('social.post.narrowed.v1', { postId, authorId: ana, visibility: 'FOLLOWERS' }, at(8))
  const eve = await person('Eve')
  await mention([eve], 'public before', 7)
  await edit('public again', 9)
  for (const each of [ben, eve]) t.strictSame(await textsOf(each), ['Ana mentioned you in a post'])
  await deliverAll()
  t.notMatch(JSON.stringify(provider.sent), /ill|well|public/)
})

t.test('a withdrawn buddy request has no notification, in any order, and a repeat is one again', async (t) => {
  const { receive, inbox, person } = reset()
  const requested = async (from: string, to: string, requestId: string) =>
    await receive('fitmatch.buddy.requested.v1', {
      requestId,
      fromAccountId: from,
      toAccountId: to,
      sport: 'table_tennis'
    })
  const withdrawn = async (from: string, to: string, requestId: string) =>
    await receive('fitmatch.buddy.withdrawn.v1', { requestId, fromAccountId: from, toAccountId: to })
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  const [first, second] = [randomUUID(), randomUUID()]
  await requested(ana, ben, first)
  t.match(await inbox(ben), {
    unreadCount: 1,
    notifications: [{ type: 'SPORT_BUDDY', data: { requestId: first }, body: /table tennis$/ }]
  })
  await withdrawn(ana, ben, first)
  t.match(await inbox(ben), { unreadCount: 0, notifications: { length: 0 } })
  await requested(ana, ben, second)
  t.match(await inbox(ben), { unreadCount: 1, notifications: [{ data: { requestId: second } }] })

  await withdrawn(ana, cem, first)
  await requested(ana, cem, first)
  t.match(await inbox(cem), { unreadCount: 0, notifications: { length: 0 } })
  await requested(ben, cem, second)
  t.match(await inbox(cem), { unreadCount: 1 }, 'other people can ask')
})

t.test('an achievement has no notification once the log that earned it is deleted within 24 hours, in any order', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider } = reset()
  const ana = await person('Ana')
  await device(ana)
  const [lost, lostBefore, kept, again] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const earn = async (achievement: string, achievementId: string, at = new Date()) =>
    await receive('dashboard.achievement.earned.v1', { accountId: ana, achievement, achievementId }, { at })
  const lose = async (achievement: string, achievementId: string) =>
    await receive('dashboard.achievement.lost.v1', { accountId: ana, achievement, achievementId })
  await earn('FIRST_WORKOUT', lost)
  await earn('FIRST_PR', kept)
  await lose('FIRST_WORKOUT', lost)
  await lose('FIRST_WORKOUT', lost)
  await lose('STREAK_7', lostBefore)
  await earn('STREAK_7', lostBefore, new Date(Date.now() - 60_000))
  t.match(await inbox(ana), { notifications: [{ data: { achievementId: kept } }], unreadCount: 1 })
  await deliverAll()
  t.match(provider.sent, [{ data: { achievementId: kept } }])
  t.equal(provider.sent.length, 1, 'nothing is pushed of those that were lost')

  await earn('FIRST_WORKOUT', again)
  t.match(await inbox(ana), { notifications: [{ data: { achievementId: again } }, { data: { achievementId: kept } }] })
})
