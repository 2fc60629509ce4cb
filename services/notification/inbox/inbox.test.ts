import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { runConcurrently } from '@tandem/test-kit'
import { notify, testApp, type TestApp } from '../test/app.ts'

const { reset } = await testApp(t)

const level = async ({ deps }: Pick<TestApp, 'deps'>, to: string, number: number) =>
  await notify(
    deps,
    { kind: 'levelReached', dedupeKey: `level:${number}`, to: [to], params: { level: number } },
    new Date()
  )

t.test('the inbox is paginated, newest first, with the unread count', async (t) => {
  const app = reset()
  const ana = await app.person('Ana')
  for (let number = 2; number < 27; number++) {
    await level(app, ana, number)
    // Notifications of one millisecond have no order, and one takes less.
    await sleep(2)
  }

  const first = await app.inbox(ana)
  t.strictSame(Object.keys(first).sort(), ['nextCursor', 'notifications', 'unreadCount'])
  t.strictSame(Object.keys(first.notifications[0]), [
    'id',
    'type',
    'title',
    'body',
    'data',
    'actor',
    'readAt',
    'createdAt'
  ])
  t.equal(first.notifications.length, 20)
  t.equal(first.notifications[0].title, 'Level 26!')
  t.equal(first.unreadCount, 25)
  const second = await app.inbox(ana, `?cursor=${first.nextCursor}`)
  t.strictSame(second.notifications.map(({ title }: { title: string }) => title), [
    'Level 6!',
    'Level 5!',
    'Level 4!',
    'Level 3!',
    'Level 2!'
  ])
  t.equal(second.nextCursor, null)
  t.equal((await app.inbox(ana, '?limit=25')).nextCursor, null)
  t.equal((await app.inbox(ana, '?limit=1')).notifications.length, 1)
  t.equal((await app.inbox(ana, '?limit=50')).notifications.length, 25)

  for (const query of ['?limit=0', '?limit=51', '?limit=x', '?cursor=x', '?unreadOnly=maybe']) {
    t.match(await app.send(ana, 'GET', `/notifications${query}`), { status: 400, code: 'VALIDATION_ERROR' }, query)
  }
  t.match(await app.inbox(randomUUID()), { notifications: { length: 0 }, nextCursor: null, unreadCount: 0 })
})

t.test('without a supported Accept-Language, texts are in the profile’s language', async (t) => {
  const app = reset()
  const ana = await app.person('Ana', { locale: 'id' })
  await level(app, ana, 2)
  await app.device(ana)
  await level(app, ana, 3)
  const bodies = async (acceptLanguage?: string) => {
    const headers: Record<string, string> = acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage }
    const inbox = await app.send(ana, 'GET', '/notifications', undefined, { headers })
    const log = await app.send(ana, 'GET', '/notifications/push/log', undefined, { headers })
    return [inbox.data.notifications[0].body, log.data.deliveries[0].body]
  }
  const english = await bodies('en')
  const indonesian = await bodies('id')
  t.not(indonesian[0], english[0])
  for (const each of [undefined, '*', 'fr']) t.strictSame(await bodies(each), indonesian, each ?? 'none')
})

t.test('notifications are marked read one by one or all at once, and counted once', async (t) => {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  for (const number of [2, 3, 4]) await level(app, ana, number)
  await level(app, ben, 2)
  const [{ id }] = (await app.inbox(ana)).notifications
  const [{ id: bens }] = (await app.inbox(ben)).notifications
  const read = async (body?: object) => await app.send(ana, 'POST', '/notifications/read', body)

  t.strictSame(await read({ ids: [id, bens, 'garbage', id] }), { status: 200, success: true, data: { updated: 1 } })
  t.match(await read({ ids: [id] }), { data: { updated: 0 } })
  t.match(await read({ ids: [] }), { data: { updated: 0 } })
  t.strictSame(await app.send(ana, 'GET', '/notifications/unread-count'), {
    status: 200,
    success: true,
    data: { count: 2 }
  })
  t.equal((await app.inbox(ana, '?unreadOnly=true')).notifications.length, 2)
  t.match((await app.inbox(ana)).notifications, [{ id, readAt: String }, { readAt: null }, { readAt: null }])
  t.match(await read(), { data: { updated: 2 } })
  t.match(await read({}), { data: { updated: 0 } })
  t.match(await app.inbox(ana, '?unreadOnly=true'), { notifications: { length: 0 }, unreadCount: 0 })
  t.equal((await app.inbox(ben)).unreadCount, 1)
  t.match(await read({ ids: Array.from({ length: 501 }, () => id) }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await read({ ids: 'all' }), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('a notification is deleted by its owner, once, and its push is not sent', async (t) => {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  await app.device(ana)
  await level(app, ana, 2)
  const [{ id }] = (await app.inbox(ana)).notifications
  const remove = async (account: string, which: string) => await app.send(account, 'DELETE', `/notifications/${which}`)
  t.match(await remove(ben, id), { status: 404, code: 'NOT_FOUND' })
  t.match(await remove(ana, 'garbage'), { status: 404, code: 'NOT_FOUND' })
  t.match(await remove(ana, randomUUID()), { status: 404, code: 'NOT_FOUND' })
  t.match(await remove(ana, id), { status: 200, success: true, message: String })
  t.match(await remove(ana, id), { status: 404, code: 'NOT_FOUND' })
  t.match(await app.inbox(ana), { notifications: { length: 0 }, unreadCount: 0 })
  await app.deliverAll()
  t.strictSame(app.provider.sent, [])
  t.match(await app.log(ana), [{ status: 'muted', reason: 'the notification was deleted' }])

  await level(app, ana, 2)
  t.match(await app.inbox(ana), { notifications: { length: 0 } }, 'a redelivered event does not bring it back')
})

t.test('every route requires authentication', async (t) => {
  const { getAnonymously } = reset()
  for (
    const [method, url] of [
      ['GET', '/notifications'],
      ['GET', '/notifications/unread-count'],
      ['POST', '/notifications/read'],
      ['DELETE', `/notifications/${randomUUID()}`],
      ['GET', '/notifications/preferences'],
      ['PUT', '/notifications/preferences'],
      ['GET', '/notifications/push/log'],
      ['POST', '/notifications/push/test']
    ] as const
  ) {
    t.match(await getAnonymously(method, url), { status: 401, success: false, code: 'UNAUTHORIZED' }, url)
  }
})

t.test('the unread count is exact while notifications are created, read and deleted concurrently', async (t) => {
  const app = reset()
  const ana = await app.person('Ana')
  const others = await Promise.all(Array.from({ length: 10 }, async (_, number) => await app.person(`P${number}`)))
  const recipients = [...others, ana]
  const work = Array.from({ length: 96 }, (_, number) => async () => {
    if (number % 3 === 0) return await app.send(ana, 'POST', '/notifications/read')
    if (number % 7 === 0) {
      const [notification] = (await app.inbox(ana)).notifications
      return notification && await app.send(ana, 'DELETE', `/notifications/${notification.id}`)
    }
    // Each of them twice, as a broker may redeliver it, and to recipients in another order.
    const start = number % recipients.length
    const request = {
      kind: 'levelReached' as const,
      dedupeKey: `level:${number >> 1}`,
      to: [...recipients.slice(start), ...recipients.slice(0, start)],
      params: { level: number }
    }
    await notify(app.deps, request, new Date())
    const seen = await app.inbox(ana, '?limit=50&unreadOnly=true')
    if (seen.notifications.length < 50) {
      t.equal(seen.unreadCount, seen.notifications.length, 'both agree in one response')
    }
  })
  await runConcurrently(work, 8)

  for (const account of [ana, ...others]) {
    const { count } = await app.db.selectFrom('notifications').where('account_id', '=', account).where(
      'listed',
      '=',
      true
    )
      .where('read_at', 'is', null).where('removed_at', 'is', null)
      .select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    t.equal((await app.send(account, 'GET', '/notifications/unread-count')).data.count, count)
  }
})

t.test('replicas that consume the same event create one notification', async (t) => {
  const app = reset()
  const ana = await app.person('Ana')
  await app.device(ana)
  for (let number = 2; number < 12; number++) {
    await Promise.all([level(app, ana, number), level(app, ana, number), level(app, ana, number)])
  }
  t.equal((await app.inbox(ana)).unreadCount, 10)
  await app.deliverAll()
  t.equal(app.provider.sent.length, 10)
})
