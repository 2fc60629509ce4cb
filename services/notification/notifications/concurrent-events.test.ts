import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { notify, testApp } from '../test/app.ts'
import { notify as notifyWithin } from './notify.ts'
import { findRecipients } from './recipients.ts'
import { messageKey } from './registry.ts'

const { reset } = await testApp(t)

t.test('each of many concurrent events creates one notification, also while another one fails', async (t) => {
  const { receive, person, device, inbox, pushes, neighbours } = reset()
  const [ana, ben, unknown] = [await person('Ana'), await person('Ben'), randomUUID()]
  await device(ana)
  await device(ben)
  neighbours.isUnavailable = true
  const message = (senderId: string, recipientId: string) => ({
    matchId: randomUUID(),
    messageId: randomUUID(),
    senderId,
    recipientId,
    hasImage: false
  })
  const messages = Array.from({ length: 30 }, (_, number) => number % 3 === 0 ? message(ben, ana) : message(ana, ben))
  const deliveries = [...messages, ...messages.slice(0, 10), message(unknown, ana), ...messages.slice(20)]
  const outcomes = await Promise.allSettled(
    deliveries.map(async (data) => await receive('fitmatch.message.sent.v1', data))
  )
  t.strictSame(outcomes.flatMap(({ status }, number) => status === 'rejected' ? [number] : []), [40])
  const [ofAna, ofBen] = [await inbox(ana, '?limit=50'), await inbox(ben, '?limit=50')]
  t.strictSame([ofAna.notifications.length, ofAna.unreadCount, ofBen.notifications.length, ofBen.unreadCount], [
    10,
    10,
    20,
    20
  ])
  t.equal(new Set(pushes.enqueued.map(({ id }) => id)).size, 30)
})

t.test('an account that starts to read in realtime while it is notified gets frames', async (t) => {
  const { db, deps, person } = reset()
  const accounts = [await person('Ana'), await person('Ben'), await person('Cia')]
  const [ana] = accounts
  const [recipients = []] = await findRecipients(deps, [{ kind: 'levelReached', to: accounts }])
  const reachLevel = async (level: number) => {
    const request = { kind: 'levelReached' as const, dedupeKey: `level:${level}`, to: accounts, params: { level } }
    const now = new Date()
    return await db.transaction().execute(async (trx) =>
      await notifyWithin(trx, [{ request, recipients, occurredAt: now }], now)
    )
  }
  t.strictSame((await reachLevel(2)).signal, [])
  let writing: ReturnType<typeof reachLevel> | undefined
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('inboxes')
      .set({ realtime_epoch: 'e', realtime_until: new Date(Date.now() + 60_000) })
      .where('account_id', '=', ana!)
      .execute()
    writing = reachLevel(3)
    // Long enough for it to wait for this transaction.
    await sleep(200)
  })
  const { signal } = (await writing)!
  const frames = await db.selectFrom('realtime_frames').select(['account_id', 'seq', 'type', 'ids'])
    .where('account_id', 'in', accounts).execute()
  t.strictSame(frames.map((frame) => [frame.account_id, frame.seq]), signal)
  t.match(frames, [{ account_id: ana, type: 'notification.created', ids: { dedupeKey: 'level:3' } }])
  t.equal(frames.length, 1)
})

t.test('processes that notify the same people at once, while these read and unfollow, do not deadlock', async (t) => {
  const { db, deps, receive, person, inbox } = reset()
  const people = await Promise.all(['Ana', 'Ben'].map(async (name) => await person(name)))
  await db.updateTable('inboxes')
    .set({ realtime_epoch: 'e', realtime_until: new Date(Date.now() + 60_000) })
    .where('account_id', 'in', people)
    .execute()
  const matchId = randomUUID()
  await Promise.all(Array.from({ length: 60 }, async (_, number) => {
    const [from, to] = (number % 2 === 0 ? people : people.toReversed()) as [string, string]
    const messageId = randomUUID()
    const message = {
      kind: 'messageReceived' as const,
      dedupeKey: messageKey(messageId),
      to: [to],
      actorId: from,
      data: { matchId, messageId },
      params: { hasImage: false }
    }
    // Each call is a transaction of its own, as in another process.
    await notify(deps, message, new Date())
    await receive('fitmatch.messages.read.v1', { matchId, readerId: to, senderId: from, messageIds: [messageId] })
    await receive('social.person.unfollowed.v1', { followerId: from, followedId: to })
  }))
  for (const each of people) t.match(await inbox(each, '?limit=50'), { unreadCount: 0, notifications: { length: 30 } })
  t.equal(
    (await db.selectFrom('realtime_frames').where('account_id', 'in', people).select('seq').execute()).length,
    60 * 5
  )
})

t.test('an event redelivered after a crash enqueues the unfinished pushes', async (t) => {
  const { receive, person, device, pushes, deliverAll, provider } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const event = { matchId: randomUUID(), messageId: randomUUID(), senderId: ben, recipientId: ana, hasImage: false }
  await receive('fitmatch.message.sent.v1', event)
  const [lost] = pushes.enqueued.splice(0)
  await receive('fitmatch.message.sent.v1', event)
  t.match(pushes.enqueued, [{ id: lost?.id }])
  await deliverAll()
  await receive('fitmatch.message.sent.v1', event)
  t.strictSame(pushes.enqueued, [])
  t.equal(provider.sent.length, 1)
})
