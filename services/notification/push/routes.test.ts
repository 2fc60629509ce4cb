import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { silentLog } from '@tandem/http-kit/testing'
import t from 'tap'
import { PersonHidden } from '@tandem/contracts'
import { createLogger } from '@tandem/process-kit'
import { testApp } from '../test/app.ts'
import { createPushSender } from './sender.ts'
import { createLogProvider } from './log-provider.ts'

const { reset } = await testApp(t)
const url = '/notifications/push/test'

t.test('a test push goes to all of the caller’s devices, muted or not, and to no inbox', async (t) => {
  const { send, person, device, inbox, log, deliverAll, provider } = reset()
  const ana = await person('Ana', { locale: 'id' })
  t.strictSame(await send(ana, 'POST', url), { status: 200, success: true, data: { devices: 0 } })
  await device(ana, { deviceName: 'Pixel 12' })
  await device(ana, { platform: 'ios' })
  await send(ana, 'PUT', '/notifications/preferences', {
    categories: { ACCOUNT: { push: false } },
    quietHours: { enabled: true, start: '00:00', end: '23:59' }
  })
  t.strictSame(await send(ana, 'POST', url), { status: 200, success: true, data: { devices: 2 } })
  await deliverAll()
  t.match(provider.sent, [{ title: 'Berhasil' }, { title: 'Berhasil' }])
  t.match(await inbox(ana), { notifications: { length: 0 }, unreadCount: 0 })
  const deliveries = await log(ana)
  t.match(deliveries, [{ type: 'ACCOUNT', status: 'sent' }, { status: 'sent' }])
  t.strictSame(Object.keys(deliveries[0]), [
    'id',
    'notificationId',
    'type',
    'title',
    'body',
    'deviceName',
    'platform',
    'status',
    'reason',
    'attempts',
    'dueAt',
    'createdAt',
    'finishedAt'
  ])
})

t.test('a repeated request with the same Idempotency-Key pushes once', async (t) => {
  const { send, person, device, pushes } = reset()
  const ana = await person('Ana')
  await device(ana)
  const again = async (key: string) => await send(ana, 'POST', url, undefined, { headers: { 'idempotency-key': key } })
  t.match(await again('one'), { status: 200, data: { devices: 1 } })
  t.match(await again('one'), { status: 200, data: { devices: 1 } })
  t.equal(pushes.enqueued.length, 1)
  t.match(await again('two'), { status: 200 })
  t.equal(pushes.enqueued.length, 2)
  t.match(await again('x'.repeat(255)), { status: 200 })
  t.match(await again('x'.repeat(256)), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('the log is paginated and shows the caller’s pushes only', async (t) => {
  const { send, person, device } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  for (let number = 0; number < 3; number++) await send(ana, 'POST', url)
  const first = (await send(ana, 'GET', '/notifications/push/log?limit=2')).data
  t.equal(first.deliveries.length, 2)
  const second = (await send(ana, 'GET', `/notifications/push/log?limit=2&cursor=${first.nextCursor}`)).data
  t.match(second, { deliveries: [{ status: 'pending' }], nextCursor: null })
  t.match((await send(ben, 'GET', '/notifications/push/log')).data, { deliveries: { length: 0 }, nextCursor: null })
  t.match(await send(ana, 'GET', '/notifications/push/log?limit=51'), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('the log names nobody who is hidden, or in a block with the caller, by now', async (t) => {
  const { person, device, receive, log } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  await receive('social.person.followed.v1', { followerId: ben, followedId: ana })
  await receive('fitmatch.message.sent.v1', {
    matchId: randomUUID(),
    messageId: randomUUID(),
    senderId: ben,
    senderName: 'Benny',
    recipientId: ana,
    hasImage: false
  })
  const names = async () => JSON.stringify(await log(ana)).match(/Benn?y?/g) ?? []
  const before = await names()
  t.ok(before.length >= 2)
  await receive('fitmatch.person.blocked.v1', { blockerId: ben, blockedId: ana })
  t.same(await names(), [])
  t.equal((await log(ana)).length, 2)
  await receive('fitmatch.person.unblocked.v1', { blockerId: ben, blockedId: ana })
  t.same(await names(), before)
  await receive(PersonHidden.type, { accountId: ben, hidden: true })
  t.same(await names(), [])
})

t.test('without a provider account a push is logged and stored as sent', async (t) => {
  const { deps, send, person, device, pushes, log } = reset()
  const ana = await person('Ana')
  await device(ana)
  await send(ana, 'POST', url)
  const lines: string[] = []
  const sendPush = createPushSender({
    ...deps,
    log: silentLog,
    provider: createLogProvider(createLogger('test', 'info', {
      write: (line: string) => {
        lines.push(line)
      }
    }))
  })
  for (const { id } of pushes.enqueued) await sendPush(id)
  t.match(await log(ana), [{ status: 'sent', reason: 'log only' }])
  t.match(JSON.parse(lines[0] ?? '{}'), { msg: 'push logged, not sent', data: { type: 'ACCOUNT' } })
  t.notMatch(lines[0], 'It works', 'texts contain names, so they are not logged')
})

t.test('a read notification is still pushed unless it was held; a push refused for its content says so', async (t) => {
  const { send, person, device, provider, deliverAll, receive, log } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const message = async () =>
    await receive('fitmatch.message.sent.v1', {
      matchId: randomUUID(),
      messageId: randomUUID(),
      senderId: ben,
      senderName: 'Ben',
      recipientId: ana,
      hasImage: true
    })
  await message()
  await send(ana, 'POST', '/notifications/read')
  await deliverAll()
  t.match(provider.sent, [{ body: 'Ben sent you a photo', badge: 0 }])
  provider.outcomeOf = () => ({ type: 'refused', reason: '400 INVALID_ARGUMENT message.data' })
  await message()
  await deliverAll()
  t.match(await log(ana), [{ status: 'failed', reason: '400 INVALID_ARGUMENT message.data' }, { status: 'sent' }])
})

t.test('a push that could not be sent for a day is not sent any more, also one that was held', async (t) => {
  const { db, deps, person, device, provider, receive, log } = reset()
  const ana = await person('Ana')
  await device(ana)
  for (const level of [2, 3, 4]) await receive('dashboard.level.reached.v1', { accountId: ana, level })
  const [first, second, third] = (await log(ana)).map(({ id }: { id: string }) => id)
  const send = createPushSender({ ...deps, provider, log: silentLog })
  const delay = async (id: string, status: string, hours: { created: number, due: number }) => {
    await sql`
      update deliveries set status = ${status}, created_at = now() - make_interval(hours => ${hours.created}),
        due_at = now() - make_interval(hours => ${hours.due})
      where id = ${id}`.execute(db)
    await send(id)
  }
  await delay(first, 'pending', { created: 25, due: 1 })
  await delay(second, 'held', { created: 35, due: 25 })
  await delay(third, 'held', { created: 35, due: 23 })
  t.match(await log(ana), [{ id: first, status: 'failed', reason: 'the push could not be sent within a day' }, {
    id: second,
    status: 'failed'
  }, { id: third, status: 'sent' }])
})
