import { writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import t from 'tap'
import { dummySystem, eventually, isAlive, pids } from './dummy-system.ts'

t.test('it comes up, says where everything is, and goes without a trace', async (t) => {
  const system = dummySystem(t)
  const { process, ended, output } = system.launch({ env: { TRUST_PROXY: '10.0.0.0/8', MY_LIMIT: '7' } })
  const stack = await system.stack()

  t.same(Object.keys(stack.services), ['identity', 'social'])
  const seen = await (await fetch(stack.gateway.url)).json() as Record<string, string>
  t.match(seen, { IDENTITY_URL: stack.services['identity']?.url, REDIS_URL: stack.redis.url, TRUST_PROXY: '10.0.0.0/8', MY_LIMIT: '7', PUBLIC_URL: stack.gateway.url })
  const service = await (await fetch(`${stack.services['identity']?.url}/`)).json() as Record<string, string>
  t.match(service, { TRUST_PROXY: '127.0.0.1', NATS_URL: stack.nats.url, SMTP_URL: stack.mail?.smtpUrl, SECRET: /^[0-9a-f]{64}$/ })
  const client = new pg.Client({ connectionString: service['DATABASE_URL'] })
  await client.connect()
  t.match((await client.query('select current_user as role, current_schema() as schema')).rows, [{ role: 'tandem_identity', schema: 'identity' }])
  await client.end()

  process.kill('SIGTERM')
  t.equal(await ended, 0)
  t.match(output(), 'Everything has stopped')
  t.same(pids(stack).filter(isAlive), [])
})

t.test('what crashed comes back at the same address', async (t) => {
  const system = dummySystem(t)
  const { output } = system.launch()
  const before = await system.stack()

  await fetch(`${before.services['social']?.url}/crash`).catch(() => {})
  const after = await system.stack(({ services }) => services['social']?.pid !== before.services['social']?.pid)
  t.equal(after.services['social']?.url, before.services['social']?.url)
  t.match(output(), 'social ended (exit code 3), again in 250 ms')

  globalThis.process.kill(before.postgres.pid, 'SIGKILL')
  const again = await system.stack(({ postgres }) => postgres.pid !== before.postgres.pid)
  t.equal(again.postgres.url, before.postgres.url)
})

t.test('when it is killed, what it started ends too, and the next start finds the data', async (t) => {
  const system = dummySystem(t)
  const first = system.launch()
  const before = await system.stack()
  const client = new pg.Client({ connectionString: before.postgres.url })
  await client.connect()
  await client.query('create table kept (); insert into kept default values')
  await client.end()

  first.process.kill('SIGKILL')
  await first.ended
  system.launch()
  const after = await system.stack((stack) => stack.gateway.pid !== before.gateway.pid)
  t.same(pids(before).filter(isAlive), [])
  const next = new pg.Client({ connectionString: after.postgres.url })
  await next.connect()
  t.equal((await next.query('select from kept')).rowCount, 1)
  await next.end()
})

t.test('two run side by side, but not in one folder', async (t) => {
  const [one, two] = [dummySystem(t), dummySystem(t)]
  one.launch()
  two.launch()
  const [first, second] = [await one.stack(), await two.stack()]
  t.not(first.gateway.url, second.gateway.url)

  const third = one.launch()
  t.equal(await third.ended, 1)
  t.match(third.output(), /runs in .* already .*set DATA_DIR/)
  t.same(pids(first).filter((pid) => !isAlive(pid)), [])
})

t.test('with --watch, a changed service starts again, even one that did not start before', async (t) => {
  const system = dummySystem(t)
  const file = path.join(system.root, 'services/social/main.ts')
  const works = 'import "../identity/main.ts"'
  writeFileSync(file, 'console.error("not yet")\nprocess.exit(1)')
  const { output } = system.launch({ args: ['--watch'] })
  const before = await system.stack()
  t.match(output(), 'social did not start')

  writeFileSync(file, works)
  const after = await system.stack(({ services }) => services['social']?.pid !== null)
  t.equal(after.services['identity']?.pid, before.services['identity']?.pid, 'the others go on')
  await eventually(() => { if (!output().includes('services/social/main.ts changed')) throw new Error(output()) })

  writeFileSync(path.join(system.root, 'packages/any.ts'), '')
  await system.stack(({ gateway }) => gateway.pid !== before.gateway.pid)
})

t.test('warnings of the services reach the screen', async (t) => {
  const system = dummySystem(t)
  const { output } = system.launch()
  const { services } = await system.stack()
  await fetch(`${services['identity']?.url}/warn`)
  await eventually(() => { if (!/identity .*something to look at/.test(output())) throw new Error(output()) })
})
