import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

const tokenOf = () => `fcm:${randomUUID()}`

t.test('a device is registered, listed and deleted', async (t) => {
  const { send } = reset()
  const [ana, token] = [randomUUID(), tokenOf()]
  const registered = await send(ana, 'POST', '/notifications/push', {
    token,
    platform: 'iOS',
    deviceId: 'd1',
    deviceName: 'Ana’s phone',
    appVersion: '1.2.0'
  })
  t.match(registered, { status: 200, success: true, tokenId: String })
  t.strictSame(Object.keys(registered).sort(), ['status', 'success', 'tokenId'])

  const { devices, ...rest } = await send(ana, 'GET', '/notifications/push')
  t.strictSame(rest, { status: 200, success: true })
  t.match(devices, [{
    id: registered.tokenId,
    deviceId: 'd1',
    deviceName: 'Ana’s phone',
    platform: 'ios',
    appVersion: '1.2.0'
  }])
  t.strictSame(Object.keys(devices[0]), [
    'id',
    'deviceId',
    'deviceName',
    'platform',
    'appVersion',
    'lastUsed',
    'createdAt'
  ])

  t.strictSame(await send(ana, 'DELETE', `/notifications/push?token=${token}`), {
    status: 200,
    success: true,
    deleted: 1
  })
  t.strictSame(await send(ana, 'DELETE', `/notifications/push?token=${token}`), {
    status: 200,
    success: true,
    deleted: 0
  })
  t.strictSame((await send(ana, 'GET', '/notifications/push')).devices, [])
})

t.test('a known token is updated and keeps its id; optional fields can be missing', async (t) => {
  const { send } = reset()
  const [ana, token] = [randomUUID(), tokenOf()]
  const first = await send(ana, 'POST', '/notifications/push', {
    token,
    platform: 'android',
    deviceId: 'd1',
    deviceName: 'old'
  })
  const second = await send(ana, 'POST', '/notifications/push', { token: ` ${token} `, platform: 'android' })
  t.equal(second.tokenId, first.tokenId)
  t.match((await send(ana, 'GET', '/notifications/push')).devices, [{
    id: first.tokenId,
    deviceId: null,
    deviceName: null,
    appVersion: null
  }])
})

t.test('another token of the same device replaces the old one, in this account only', async (t) => {
  const { send } = reset()
  const [ana, ben] = [randomUUID(), randomUUID()]
  const register = (account: string, token: string, deviceId?: string) =>
    send(account, 'POST', '/notifications/push', { token, platform: 'android', ...deviceId && { deviceId } })
  const tokens = [tokenOf(), tokenOf(), tokenOf(), tokenOf()] as const
  await register(ana, tokens[0], 'd1')
  await register(ben, tokens[1], 'd1')
  await register(ana, tokens[2])
  const { tokenId } = await register(ana, tokens[3], 'd1')
  const { devices } = await send(ana, 'GET', '/notifications/push')
  t.equal(devices.length, 2)
  t.match(devices[0], { id: tokenId, deviceId: 'd1' })
  t.equal((await send(ben, 'GET', '/notifications/push')).devices.length, 1)
})

t.test('an invalid registration is rejected with its code', async (t) => {
  const { getAnonymously, send } = reset()
  const ana = randomUUID()
  const rejects = async (payload: object) =>
    t.match(await send(ana, 'POST', '/notifications/push', payload), {
      status: 400,
      success: false,
      code: 'VALIDATION_ERROR'
    }, JSON.stringify(payload).slice(0, 60))
  await rejects({})
  await rejects({ platform: 'ios' })
  await rejects({ token: 'abc' })
  await rejects({ token: '', platform: 'ios' })
  await rejects({ token: '  ', platform: 'ios' })
  await rejects({ token: 'a b', platform: 'ios' })
  await rejects({ token: 'ä', platform: 'ios' })
  await rejects({ token: 5, platform: 'ios' })
  await rejects({ token: 'x'.repeat(1025), platform: 'ios' })
  await rejects({ token: 'abc', platform: 'web' })
  await rejects({ token: 'abc', platform: 'ios', deviceId: 'x'.repeat(201) })
  t.match(
    await send(ana, 'POST', '/notifications/push', {
      token: 'x'.repeat(1024),
      platform: 'ios',
      deviceId: '😀'.repeat(200),
      deviceName: ` ${'😀'.repeat(201)}`,
      appVersion: 'x'.repeat(10_000),
      role: 'ADMIN'
    }),
    { status: 200 }
  )
  t.match(await send(ana, 'GET', '/notifications/push'), {
    devices: [{ deviceName: '😀'.repeat(200), appVersion: 'x'.repeat(50) }]
  }, 'what a client says about its device is cut')

  t.match(await send(ana, 'DELETE', '/notifications/push'), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await send(ana, 'DELETE', '/notifications/push?token='), { status: 400, code: 'VALIDATION_ERROR' })
  for (const method of ['POST', 'GET', 'DELETE'] as const) {
    t.match(await getAnonymously(method, '/notifications/push?token=x'), {
      status: 401,
      success: false,
      code: 'UNAUTHORIZED'
    })
    t.match(await getAnonymously(method, '/notifications/push?token=x', { authorization: 'Bearer x' }), {
      status: 401,
      code: 'INVALID_ACCESS_TOKEN'
    })
  }
})

t.test('a token moves to the account that registers it, without the pushes of the previous owner', async (t) => {
  const { send, person, device, receive, deliverAll, provider, log } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  const token = await device(ana)
  await receive('social.person.followed.v1', { followerId: cem, followedId: ana })
  await device(ben, { token })
  t.strictSame((await send(ana, 'GET', '/notifications/push')).devices, [])
  t.equal((await send(ben, 'GET', '/notifications/push')).devices.length, 1)
  t.strictSame(await send(ana, 'DELETE', `/notifications/push?token=${token}`), {
    status: 200,
    success: true,
    deleted: 0
  }, 'the previous owner cannot delete it any more')

  await deliverAll()
  t.strictSame(provider.sent, [])
  t.match(await log(ana), [{ status: 'pruned', reason: 'the device has signed out' }])
  t.strictSame(await log(ben), [])
})

t.test('a token registered concurrently has exactly one owner, and a device exactly one token', async (t) => {
  const { send, db } = reset()
  for (let round = 0; round < 3; round++) {
    const token = tokenOf()
    const accounts = Array.from({ length: 8 }, () => randomUUID())
    const responses = await Promise.all(
      accounts.map((account) => send(account, 'POST', '/notifications/push', { token, platform: 'ios' }))
    )
    t.ok(responses.every(({ status }) => status === 200))
    const owners = await db.selectFrom('devices').where('token', '=', token).select(['account_id', 'id']).execute()
    t.equal(owners.length, 1)
    const lists = await Promise.all(accounts.map((account) => send(account, 'GET', '/notifications/push')))
    t.equal(lists.filter(({ devices }) => devices.length > 0).length, 1)

    const ana = randomUUID()
    await Promise.all(
      Array.from(
        { length: 8 },
        () => send(ana, 'POST', '/notifications/push', { token: tokenOf(), platform: 'ios', deviceId: 'd1' })
      )
    )
    t.equal((await send(ana, 'GET', '/notifications/push')).devices.length, 1)
  }
})

t.test('accounts that concurrently register each other’s tokens end with one owner for each token', async (t) => {
  const { send, db } = reset()
  const [ana, ben] = [randomUUID(), randomUUID()]
  const tokens = [tokenOf(), tokenOf()]
  await Promise.all(
    Array.from({ length: 30 }, async (_, number) =>
      await send(number % 2 ? ana : ben, 'POST', '/notifications/push', {
        token: tokens[Math.floor(number / 2) % 2]!,
        platform: 'ios',
        deviceId: `d${number % 3}`
      }))
  )
  const owned = await db.selectFrom('devices').where('account_id', 'in', [ana, ben]).select(['token']).execute()
  t.equal(new Set(owned.map((device) => device.token)).size, owned.length)
})

t.test('a device is deleted with its session, and an ended session cannot register one', async (t) => {
  const { send, device, receive } = reset()
  const [ana, phone, tablet] = [randomUUID(), randomUUID(), randomUUID()]
  const token = await device(ana, { sessionId: phone })
  await device(ana, { sessionId: tablet })
  const ended = { accountId: ana, sessionIds: [phone] }
  await receive('identity.sessions.ended.v1', ended)
  await receive('identity.sessions.ended.v1', ended)
  await receive('identity.sessions.ended.v1', { accountId: ana, sessionIds: [] })
  t.equal((await send(ana, 'GET', '/notifications/push')).devices.length, 1)
  t.match(await send(ana, 'POST', '/notifications/push', { token, platform: 'ios' }, { sessionId: phone }), {
    status: 401,
    code: 'INVALID_ACCESS_TOKEN'
  })
  t.match(await send(ana, 'POST', '/notifications/push', { token, platform: 'ios' }, { sessionId: tablet }), {
    status: 200
  })
})

t.test('devices are deleted with their sessions, however many of an account end at once', async (t) => {
  const { send, device, receive } = reset()
  const [ana, attacker] = [randomUUID(), randomUUID()]
  await device(ana, { sessionId: attacker })
  const sessionIds = [...Array.from({ length: 1_749 }, () => randomUUID()), attacker]
  for (const part of [sessionIds.slice(0, 1_000), sessionIds.slice(1_000)]) {
    await receive('identity.sessions.ended.v1', { accountId: ana, sessionIds: part })
  }
  t.strictSame((await send(ana, 'GET', '/notifications/push')).devices, [])
})

t.test('a registration concurrent with the end of its session leaves no device behind', async (t) => {
  const { send, receive, db } = reset()
  const accounts: string[] = []
  for (let round = 0; round < 10; round++) {
    const [ana, session] = [randomUUID(), randomUUID()]
    accounts.push(ana)
    await Promise.all([
      send(ana, 'POST', '/notifications/push', { token: tokenOf(), platform: 'ios' }, { sessionId: session }),
      receive('identity.sessions.ended.v1', { accountId: ana, sessionIds: [session] })
    ])
  }
  t.strictSame(await db.selectFrom('devices').where('account_id', 'in', accounts).select('id').execute(), [])
})

t.test('an account keeps the twenty most recently used devices', async (t) => {
  const { send, device } = reset()
  const ana = randomUUID()
  const first = await device(ana)
  for (let number = 0; number < 20; number++) await device(ana)
  t.equal((await send(ana, 'GET', '/notifications/push')).devices.length, 20)
  t.match(await send(ana, 'DELETE', `/notifications/push?token=${first}`), { deleted: 0 })
})
