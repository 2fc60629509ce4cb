import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer } from '@tandem/http-kit/testing'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

/** Ana with a device and a chat with Ben; `focusOn` says which chat is on Ana's screen. */
async function someChat () {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  await app.device(ana)
  const matchId = randomUUID()
  const token = bearer(ana).authorization.slice('Bearer '.length)
  const read = async (more: object = {}) =>
    await app.app.inject({ method: 'POST', url: '/internal/realtime', payload: { items: [{ token, ...more }] } })
  await read()
  return {
    app,
    ana,
    matchId,
    focusOn: async (focus: string | null) => await read({ focus }),
    /** Ben writes; returns what happens to the push, and in how many seconds it is due. */
    async receiveMessage (inMatch = matchId) {
      const messageId = randomUUID()
      await app.receive('fitmatch.message.sent.v1', {
        matchId: inMatch,
        messageId,
        senderId: ben,
        senderName: 'Ben',
        recipientId: ana,
        hasImage: false
      })
      const delivery = await app.db.selectFrom('deliveries').where('account_id', '=', ana)
        .select(['status', 'reason', 'due_at', 'created_at']).orderBy('id', 'desc').executeTakeFirstOrThrow()
      const { status, reason } = delivery
      return {
        messageId,
        delivery: { status, reason },
        dueInSeconds: (delivery.due_at.getTime() - delivery.created_at.getTime()) / 1_000
      }
    },
    markRead: async (messageId: string) =>
      await app.receive('fitmatch.messages.read.v1', {
        matchId,
        readerId: ana,
        senderId: ben,
        messageIds: [messageId]
      })
  }
}

const atOnce = { status: 'pending', reason: null }
const held = { status: 'held', reason: 'the chat is on the screen' }

t.test('a message of the chat on the screen waits five seconds, and is not pushed if it was read', async (t) => {
  const { app, ana, matchId, focusOn, receiveMessage, markRead } = await someChat()
  await focusOn(matchId)
  const { messageId, delivery, dueInSeconds } = await receiveMessage()
  t.strictSame(delivery, held)
  t.ok(Math.abs(dueInSeconds - 5) < 1, `${dueInSeconds} s`)
  await markRead(messageId)
  await app.deliverAll()
  t.strictSame(app.provider.sent, [])
  t.match((await app.log(ana))[0], { status: 'muted', reason: 'the notification was read before the push was due' })
})

t.test('a message that nobody reads is pushed once, although its chat is on the screen', async (t) => {
  const { app, matchId, focusOn, receiveMessage } = await someChat()
  await focusOn(matchId)
  t.strictSame((await receiveMessage()).delivery, held)
  await app.deliverAll()
  await app.deliverAll()
  t.equal(app.provider.sent.length, 1)
})

t.test('messages of other chats, and other notifications, are pushed at once', async (t) => {
  const { app, ana, matchId, focusOn, receiveMessage } = await someChat()
  await focusOn(matchId)
  t.strictSame((await receiveMessage(randomUUID())).delivery, atOnce)
  await app.receive('fitmatch.match.made.v1', {
    matchId,
    accountIds: [ana, await app.person('Cleo')],
    displayNames: ['A', 'C'],
    matchType: 'LIKE'
  })
  const { status } = await app.db.selectFrom('deliveries').where('account_id', '=', ana).select('status')
    .orderBy('id', 'desc').executeTakeFirstOrThrow()
  t.equal(status, 'pending')
})

t.test('a connection without a focus, one that ended, and one that was lost hold no push', async (t) => {
  const { app, ana, matchId, focusOn, receiveMessage } = await someChat()
  t.strictSame((await receiveMessage()).delivery, atOnce, 'connected, in another part of the app')
  await focusOn(matchId)
  await focusOn(null)
  t.strictSame((await receiveMessage()).delivery, atOnce, 'the chat was closed')
  await focusOn(matchId)
  await app.db.updateTable('inboxes').set({ realtime_focus_until: new Date(Date.now() - 1) })
    .where('account_id', '=', ana).execute()
  t.strictSame((await receiveMessage()).delivery, atOnce, 'the gateway was killed 90 seconds ago')
})

t.test('quiet hours hold a push for longer than the screen does', async (t) => {
  const { app, ana, matchId, focusOn, receiveMessage } = await someChat()
  await app.send(ana, 'PUT', '/notifications/preferences', {
    quietHours: { enabled: true, start: '00:00', end: '23:59' }
  })
  await focusOn(matchId)
  t.match((await receiveMessage()).delivery, { status: 'held', reason: 'quiet hours' })
})

t.test('devices of many people report their focus at once', async (t) => {
  const chats = await Promise.all(Array.from({ length: 8 }, someChat))
  await Promise.all(chats.flatMap(({ focusOn, matchId }) => [focusOn(matchId), focusOn(matchId)]))
  for (const { receiveMessage } of chats) t.strictSame((await receiveMessage()).delivery, held)
})
