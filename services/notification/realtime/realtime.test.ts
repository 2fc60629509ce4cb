import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { TObject } from 'typebox'
import { Compile } from 'typebox/compile'
import { serverFrames, type Frame } from '@tandem/contracts/realtime'
import { bearer } from '@tandem/http-kit/testing'
import { runConcurrently } from '@tandem/test-kit'
import { notify, testApp } from '../test/app.ts'
import { details, feedOf, someMessage, tell } from '../test/realtime.ts'

const { reset } = await testApp(t)
const typesOf = ({ frames }: { frames: Frame[] }) => frames.map(({ type }) => type)

t.test('a first connection starts at the head, and later frames follow in order', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  await tell(app, ana, 2)
  const first = await read(ana)
  t.match(first, { frames: { length: 0 }, resumed: false, more: false, unreadCount: 1 })
  await tell(app, ana, 3)
  await tell(app, ana, 4)
  const next = await read(ana, first.position)
  t.match(next, { resumed: true, unreadCount: 3 })
  t.match(next.frames, [
    { type: 'notification.created', data: { notification: { title: 'Level 3!' }, unreadCount: 3 } },
    { type: 'notification.created', data: { notification: { title: 'Level 4!' }, unreadCount: 3 } }
  ])
  t.equal(next.frames[1]?.id, next.position)
  t.strictSame((await read(ana, next.position)).frames, [])
  t.strictSame(typesOf(await read(ana, next.frames[0]?.id)), ['notification.created'])
  t.ok(app.signals.some(([accountId, seq]) => accountId === ana && seq > 0), 'gateways were woken')
})

t.test('accounts that nobody listens to have no log', async (t) => {
  const app = reset()
  const ana = await app.person('Ana')
  await tell(app, ana, 2)
  t.equal((await app.db.selectFrom('realtime_frames').where('account_id', '=', ana).select('seq').execute()).length, 0)
  t.strictSame(app.signals, [])
})

t.test('a repeated event logs one frame, and wakes the gateways again', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  const { position } = await read(ana)
  await runConcurrently(Array.from({ length: 6 }, () => async () => await tell(app, ana, 2)), 3)
  const signals = app.signals.length
  t.ok(signals >= 2, `${signals} signals`)
  t.equal((await read(ana, position)).frames.length, 1)
})

t.test('reading, deleting and withdrawing on one device reaches the others', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  for (const number of [2, 3]) await tell(app, ana, number)
  const [{ id: second }, { id: first }] = (await app.inbox(ana)).notifications
  const { position } = await read(ana)
  await app.send(ana, 'POST', '/notifications/read', { ids: [first] })
  await app.send(ana, 'DELETE', `/notifications/${second}`)
  const { frames } = await read(ana, position)
  t.strictSame(frames.map(({ data }) => data), [
    { readIds: [first], removedIds: [], unreadCount: 0 },
    { readIds: [], removedIds: [second], unreadCount: 0 }
  ])
})

t.test('what was removed before it was delivered is left out', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  const { position } = await read(ana)
  await tell(app, ana, 2)
  const [{ id }] = (await app.inbox(ana)).notifications
  await app.send(ana, 'DELETE', `/notifications/${id}`)
  t.strictSame(typesOf(await read(ana, position)), ['notifications.changed'])
})

t.test('a message reaches the devices of both, as each of them sees it', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const starts = [(await read(ana)).position, (await read(ben)).position] as const
  const { event, matchId, messageId } = someMessage(ben, ana)
  app.neighbours.details = (item) => details(item.matchId, item.messageId, ben)
  await app.receive('fitmatch.message.sent.v1', event)
  await app.receive('fitmatch.message.sent.v1', event)
  const [toAna, toBen] = [await read(ana, starts[0]), await read(ben, starts[1])]
  t.match(toAna.frames, [{
    type: 'message.created',
    data: { matchId, message: { id: messageId, content: 'Hi!' }, notification: { type: 'CHAT' }, unreadCount: 1 }
  }])
  t.match(toBen.frames, [{ type: 'message.created', data: { message: { id: messageId }, notification: null } }])

  await app.receive('fitmatch.messages.read.v1', { matchId, readerId: ana, senderId: ben, messageIds: [messageId] })
  const [after, afterwards] = [await read(ana, toAna.position), await read(ben, toBen.position)]
  t.strictSame(typesOf(after), ['notifications.changed', 'messages.read'])
  t.match(after.frames[1]?.data, { isMine: true, messageIds: [messageId], chatUnreadCount: 1, unreadCount: 0 })
  t.match(afterwards.frames.map(({ data }) => data), [{ isMine: false, unreadCount: null }])
})

t.test('messages that both people send and read at the same time never wait for each other', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  for (const person of [ana, ben]) await read(person)
  const messages = Array.from({ length: 80 }, (_, number) => {
    const [senderId, readerId] = number % 2 === 0 ? [ana, ben] : [ben, ana]
    return { senderId, readerId, ...someMessage(senderId, readerId) }
  })
  const outcomes = await Promise.allSettled(messages.flatMap(({ event, matchId, messageId, ...people }) => [
    app.receive('fitmatch.message.sent.v1', event),
    app.receive('fitmatch.messages.read.v1', { matchId, ...people, messageIds: [messageId] })
  ]))
  t.strictSame(outcomes.filter(({ status }) => status === 'rejected'), [], 'no deadlock')
  const frames = await app.db.selectFrom('realtime_frames').where('account_id', 'in', [ana, ben])
    .where('type', 'in', ['message.created', 'messages.read']).select(['account_id']).execute()
  t.equal(frames.length, 4 * messages.length, 'each reaches both people')
  t.match([(await app.inbox(ana)).unreadCount, (await app.inbox(ben)).unreadCount], [0, 0])
})

t.test('what fitmatch does not show is left out, and while it is unavailable the text is missing', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const { position } = await read(ana)
  const { event, matchId } = someMessage(ben, ana)
  await app.receive('fitmatch.message.sent.v1', event)
  t.strictSame((await read(ana, position)).frames, [], 'the match has ended, or one blocked the other')
  app.neighbours.isUnavailable = true
  const { frames } = await read(ana, position)
  t.match(frames, [{ type: 'message.created', data: { matchId, message: null, chatUnreadCount: null } }])
})

t.test('the end of a match and a block are reported without a name or a text', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const { position } = await read(ana)
  const matchId = randomUUID()
  app.neighbours.details = (item) => details(item.matchId, null, ben)
  await app.receive('fitmatch.match.made.v1', {
    matchId,
    accountIds: [ana, ben],
    displayNames: ['A', 'B'],
    matchType: 'LIKE'
  })
  const made = await read(ana, position)
  t.match(made.frames, [{ type: 'match.created', data: { match: { matchId }, notification: { type: 'FITMATCH' } } }])
  await app.receive('fitmatch.match.ended.v1', { matchId, accountIds: [ana, ben] })
  await app.receive('fitmatch.person.blocked.v1', { blockerId: ben, blockedId: ana })
  const { frames } = await read(ana, made.position)
  t.strictSame(frames.map(({ type }) => type), ['notifications.changed', 'match.ended'])
  t.strictSame(frames[1]?.data, { matchId })
})

t.test('changes of the account say what to fetch again', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  const { position } = await read(ana)
  await app.receive('fitmatch.suspension.changed.v1', { accountId: ana, suspended: true })
  const { frames } = await read(ana, position)
  t.match(frames.find(({ type }) => type === 'account.changed'), { data: { parts: ['FITMATCH'] } })
})

t.test('each item needs a token of its own, and reads the log of its account only', async (t) => {
  const app = reset()
  const { readAll, read } = feedOf(app)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const { position } = await read(ana)
  await tell(app, ana, 2)
  const tokenOf = (accountId: string, options = {}) => bearer(accountId, options).authorization.slice('Bearer '.length)
  const items = await readAll([
    { token: 'forged', after: position },
    { token: tokenOf(ben), after: position },
    { token: tokenOf(ana, { expiresInSeconds: -60 }), after: position },
    { token: tokenOf(ana), after: position }
  ])
  t.match(items, [
    { code: 'INVALID_ACCESS_TOKEN' },
    { resumed: false, frames: { length: 0 } },
    { code: 'INVALID_ACCESS_TOKEN' },
    { resumed: true, frames: [{ type: 'notification.created' }] }
  ])
})

t.test('frames are numbered in the order of their commits while many are written', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const people = await Promise.all(Array.from({ length: 4 }, async (_, number) => await app.person(`P${number}`)))
  const positions = new Map<string, string>()
  const seen = new Map(people.map((each) => [each, new Set<string>()]))
  for (const each of people) positions.set(each, (await read(each)).position)
  let isWriting = true
  const reading = Promise.all(people.map(async (each) => {
    for (let isLast = false; !isLast;) {
      isLast = !isWriting
      const page = await read(each, positions.get(each))
      t.equal(page.resumed, true)
      for (const { data } of page.frames) {
        seen.get(each)?.add((data as { notification: { title: string } }).notification.title)
      }
      positions.set(each, page.position)
      if (page.more) isLast = false
    }
  }))
  await runConcurrently(
    Array.from({ length: 60 }, (_, number) => async () => {
      const start = number % people.length
      const to = [...people.slice(start), ...people.slice(0, start)]
      await notify(
        app.deps,
        { kind: 'levelReached', dedupeKey: `level:${number}`, to, params: { level: number } },
        new Date()
      )
    }),
    6
  )
  isWriting = false
  await reading
  for (const titles of seen.values()) t.equal(titles.size, 60, 'a reader who follows along misses none')
})

t.test('each kept frame has exactly the fields of its schema, and signals carry numbers only', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const { position } = await read(ana)
  const { event, matchId, messageId } = someMessage(ben, ana)
  app.neighbours.details = (item) => details(item.matchId, item.messageId, ben)
  await app.receive('fitmatch.match.made.v1', {
    matchId,
    accountIds: [ana, ben],
    displayNames: ['A', 'B'],
    matchType: 'LIKE'
  })
  await app.receive('fitmatch.message.sent.v1', event)
  const page = await read(ana, position)
  await app.receive('fitmatch.messages.read.v1', { matchId, readerId: ana, senderId: ben, messageIds: [messageId] })
  await tell(app, ana, 2)
  await app.receive('fitmatch.suspension.changed.v1', { accountId: ana, suspended: true })
  await app.receive('fitmatch.match.ended.v1', { matchId, accountIds: [ana, ben] })
  const frames = [...page.frames, ...(await read(ana, page.position)).frames]
  t.strictSame(
    [...new Set(frames.map(({ type }) => type))].sort(),
    Object.entries(serverFrames).flatMap(([type, { isKept }]) => isKept ? [type] : []).sort()
  )
  for (const { type, data } of frames) {
    const schema = serverFrames[type].data as TObject
    t.strictSame([...Compile(schema).Errors(data)], [], type)
    t.strictSame(Object.keys(data as object).sort(), Object.keys(schema.properties).sort(), type)
  }
  for (const signal of app.signals) t.strictSame(signal.map((each) => typeof each), ['string', 'number'])
  t.notMatch(JSON.stringify(app.signals), /Ben|Hi!/)
})
