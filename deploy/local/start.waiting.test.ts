import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import pg from 'pg'
import t from 'tap'
import { dummySystem, isAlive, pids } from './dummy-system.ts'

t.test('it starts, prints every address, and leaves nothing running', async (t) => {
  const system = dummySystem(t)
  const { process, ended, output } = system.launch({
    env: { TRUST_PROXY: '10.0.0.0/8', MY_LIMIT: '7', WEBHOOK_PRIVATE_HOSTS: '127.0.0.1' }
  })
  const stack = await system.stack()

  t.same(Object.keys(stack.services), ['identity', 'social'])
  t.match(stack.settings, { CONSOLE_URL: /^http:\/\/localhost:\d+$/, WEBHOOK_PRIVATE_HOSTS: '127.0.0.1' })
  const seen = await (await fetch(stack.gateway.url)).json() as Record<string, string>
  t.match(seen, {
    IDENTITY_URL: stack.services['identity']?.url,
    REDIS_URL: /^redis:\/\/gateway:/,
    TRUST_PROXY: '10.0.0.0/8',
    MY_LIMIT: '7',
    PUBLIC_URL: stack.gateway.url,
    CORS_ORIGINS: new RegExp(stack.devPage.url)
  })
  t.same(await (await fetch(`${stack.devPage.url}/api/mails`)).json(), [])
  t.notOk(seen['LIMIT_PROFILE'], 'the limits are the documented ones')
  const service = await (await fetch(`${stack.services['identity']?.url}/`)).json() as Record<string, string>
  t.match(service, {
    TRUST_PROXY: '127.0.0.1',
    NATS_URL: /^nats:\/\/identity:/,
    SMTP_URL: stack.mail?.smtpUrl,
    SECRET: /^[0-9a-f]{64}$/
  })
  t.match(output(), 'LIMIT_PROFILE=relaxed npm start', 'it says how to raise the limits')
  const client = new pg.Client({ connectionString: service['DATABASE_URL'] })
  await client.connect()
  t.match((await client.query('select current_user as role, current_schema() as schema')).rows, [{
    role: 'tandem_identity',
    schema: 'identity'
  }])
  await client.end()

  process.kill('SIGTERM')
  t.equal(await ended, 0)
  t.match(output(), 'Everything has stopped')
  t.same(pids(stack).filter(isAlive), [])
})

t.test('two systems can run at once, but not in one folder', async (t) => {
  const [one, two] = [dummySystem(t), dummySystem(t)]
  one.launch()
  two.launch()
  const [first, second] = [await one.stack(), await two.stack()]
  t.not(first.gateway.url, second.gateway.url)

  const third = one.launch()
  t.equal(await third.ended, 1)
  t.match(third.output(), /already runs in .*set DATA_DIR/)
  t.same(pids(first).filter((pid) => !isAlive(pid)), [])
})

t.test('the developer page has the port of DEV_PORT, and says so if it is taken', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const { ended, output } = dummySystem(t).launch({ env: { DEV_PORT: String(port) } })
  t.equal(await ended, 1)
  t.match(output(), `Port ${port} is taken by another program: stop it, or set DEV_PORT to another one`)
})
