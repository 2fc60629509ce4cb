import { execFile, spawn } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@tandem/local-servers/ports.ts'
import { call } from '@tandem/rehearsals/kit/call.ts'
import { becomeMember } from '@tandem/rehearsals/kit/people.ts'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import { until } from '@tandem/test-kit'
import pg from 'pg'
import t from 'tap'

t.test('the booking system of the documentation works', async (t) => {
  const { stack, dataDir } = await sharedStack()
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const operate = async (...args: string[]) => {
    const script = path.resolve(import.meta.dirname, '../local/operator.ts')
    const env = { ...process.env, DATA_DIR: dataDir, WEBHOOK_PRIVATE_HOSTS: '127.0.0.1' }
    return (await promisify(execFile)(process.execPath, [script, ...args], { env })).stdout
  }
  const producer = await operate('producers', 'add', 'booking', '--events', 'booking.confirmed,booking.cancelled')
  const endpoint = await operate('webhooks', 'add', `${address}/webhooks`, '--events', 'account.deleted')
  const system = spawn(process.execPath, [path.join(import.meta.dirname, 'booking-system.ts')], {
    env: {
      ...process.env,
      PORT: String(port),
      TANDEM_URL: `${stack.gateway.url}/api/mobile/v1`,
      PRODUCER_KEY: /tp_live_[\w-]+/.exec(producer)?.[0],
      WEBHOOK_SECRET: /whsec_[\w+/=]+/.exec(endpoint)?.[0]
    },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  t.teardown(() => system.kill())
  const email = 'yogi@example.com'
  const { accessToken: token } = await becomeMember(stack, email)
  const { user } = await call<{ user: { id: string } }>(stack, 'GET', '/auth/me', { token })

  const list = async (method = 'GET', route = '/bookings', body?: object) => {
    const response = await fetch(`${address}${route}`, { method, ...body && { body: JSON.stringify(body) } })
    return await response.json() as { bookingId: string }[]
  }
  await until(async () => await list().then(() => true, () => false))
  const startsAt = new Date(Date.now() + 3_600_000).toISOString()
  const endsAt = new Date(Date.now() + 7_200_000).toISOString()
  for (const bookingId of ['B-1', 'B-2']) {
    await list('POST', '/bookings', { bookingId, accountId: user.id, title: `Yoga ${bookingId}`, startsAt, endsAt })
  }
  const home = async () => JSON.stringify(await call(stack, 'GET', '/dashboard/home', { token }))
  const inbox = async () => JSON.stringify(await call(stack, 'GET', '/notifications', { token }))
  await until(async () => (await home()).includes('Yoga B-1') && (await inbox()).includes('Yoga B-1'))
  t.same((await list('DELETE', '/bookings/B-2')).map(({ bookingId }) => bookingId), ['B-1'])
  await until(async () => !(await home()).includes('Yoga B-2'))
  t.match(await home(), 'Yoga B-1')

  await operate('erasures', 'request', email, '0')
  // Erasures wait until no access token is valid any more.
  const database = new pg.Client({ connectionString: stack.postgres.url })
  await database.connect()
  await database.query('update identity.erasures set erase_at = now()')
  await until(async () => (await list()).length === 0)
  t.pass('the bookings of a deleted account are gone')
  // A message to it names each account that is deleted, also those of other tests, which look for such traces.
  await database.query('delete from notification.webhook_endpoints')
  await database.end()
})
