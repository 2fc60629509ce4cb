import { randomUUID } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

t.test('blocked people create no notifications, and their earlier ones are removed', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, log } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  const message = (senderId: string, recipientId = ana) =>
    receive('fitmatch.message.sent.v1', {
      matchId: randomUUID(),
      messageId: randomUUID(),
      senderId,
      senderName: senderId === cem ? 'Cem' : 'Other',
      recipientId,
      hasImage: false
    })
  await message(ben)
  await message(cem)
  t.equal((await inbox(ana)).unreadCount, 2)

  await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  await message(ana, ben)
  t.match(await inbox(ana), { notifications: [{ title: 'Cem' }], unreadCount: 1 })
  t.match(await inbox(ben), { notifications: { length: 0 }, unreadCount: 0 })

  await deliverAll()
  t.match(provider.sent, [{ title: 'Cem' }], 'waiting pushes are not sent')
  t.match((await log(ana)).map((each: { status: string }) => each.status).sort(), ['muted', 'sent'])

  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  t.equal((await inbox(ana)).unreadCount, 2)
})

t.test('of a block and an unblock in the same millisecond the later one wins, whichever arrives first', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const at = new Date()
  const message = async () => {
    await receive('fitmatch.message.sent.v1', {
      matchId: randomUUID(),
      messageId: randomUUID(),
      senderId: ben,
      recipientId: ana,
      hasImage: false
    })
    return (await inbox(ana)).unreadCount
  }
  await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 3 })
  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 2 })
  t.equal(await message(), 0)
  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 4 })
  t.equal(await message(), 1)
})

t.test('a block that is stored while an earlier event is handled leaves nothing in the inbox', async (t) => {
  const { receive, inbox, person, deps } = reset()
  const ana = await person('Ana')
  const findPeople = deps.findPeople
  const events: [string, (other: string) => object][] = [
    ['social.person.followed.v1', (followerId) => ({ followerId, followedId: ana })],
    ['social.post.commented.v1', (commentedBy) => ({
      postId: randomUUID(),
      commentId: randomUUID(),
      authorId: ana,
      commentedBy,
      excerpt: null
    })],
    ['social.post.liked.v1', (likedBy) => ({ postId: randomUUID(), authorId: ana, likedBy, excerpt: null })],
    // A digest that another like has started.
    ['social.post.liked.v1', (likedBy) => ({ postId, authorId: ana, likedBy, excerpt: null })]
  ]
  const [cem, postId] = [await person('Cem'), randomUUID()]
  await receive('social.post.liked.v1', { postId, authorId: ana, likedBy: cem, excerpt: null })
  for (const [type, dataOf] of events) {
    const other = await person('Ben')
    deps.findPeople = async (ids) => {
      deps.findPeople = findPeople
      await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: other })
      return await findPeople(ids)
    }
    await receive(type, dataOf(other))
    t.match(await inbox(ana), { notifications: { length: 1, 0: { actor: { id: cem } } }, unreadCount: 1 }, type)
  }
})

t.test('of a block and an event at the same moment, nothing stays in the inbox', async (t) => {
  const { receive, inbox, person } = reset()
  for (let turn = 0; turn < 20; turn++) {
    const [ana, ben] = [await person('Ana'), await person('Ben')]
    await Promise.all([
      receive('social.person.followed.v1', { followerId: ben, followedId: ana }),
      receive('social.post.liked.v1', { postId: randomUUID(), authorId: ana, likedBy: ben, excerpt: null }),
      receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben })
    ])
    t.match(await inbox(ana), { notifications: { length: 0 }, unreadCount: 0 })
  }
})

t.test('a block holds and a match ends, however many notifications they remove', async (t) => {
  const { db, receive, person, send } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const matchId = randomUUID()
  const fill = async () =>
    await sql`
      insert into notifications (id, account_id, dedupe_key, kind, type, actor_id, data, params, listed, subjects)
      select uuidv7(), ${ana}, 'message:' || gen_random_uuid(), 'messageReceived', 'CHAT', ${ben}, '{}',
        '{"displayName":"Ben"}', true, array[${`match:${matchId}`}] from generate_series(1, 4500)`.execute(db)
  /** How many rows each transaction has changed. */
  const changes = async (when: RawBuilder<unknown>) =>
    (await sql<{ count: number }>`
      select count(*)::int as count from notifications where account_id = ${ana} and ${when}
      group by xmin::text order by 1`.execute(db)).rows.map(({ count }) => count)

  await fill()
  t.match(await send(ana, 'POST', '/notifications/read', {}), { status: 200, data: { updated: 4_500 } })
  t.strictSame(await changes(sql`read_at is not null`), [500, 2_000, 2_000])
  await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben })
  t.strictSame(await changes(sql`withdrawn`), [500, 2_000, 2_000])
  t.match(await db.selectFrom('blocks').where('blocker_id', '=', ana).selectAll().execute(), [{ lifted: false }])

  await sql`delete from notifications where account_id = ${ana}`.execute(db)
  await fill()
  await receive('fitmatch.match.ended.v1', { matchId, accountIds: [ana, ben] })
  t.strictSame(await changes(sql`withdrawn`), [500, 2_000, 2_000])
})
