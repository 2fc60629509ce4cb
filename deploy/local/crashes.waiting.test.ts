import pg from 'pg'
import t from 'tap'
import { dummySystem, eventually, isAlive, pids } from './dummy-system.ts'

t.test('a crashed process restarts at the same address, and warnings are shown', async (t) => {
  const system = dummySystem(t)
  const { output } = system.launch()
  const before = await system.stack()

  await fetch(`${before.services['social']?.url}/crash`).catch(() => {})
  const after = await system.stack(({ services }) => services['social']?.pid !== before.services['social']?.pid)
  t.equal(after.services['social']?.url, before.services['social']?.url)
  t.match(output(), 'social ended (exit code 3), restarting in 250 ms')

  process.kill(before.postgres.pid, 'SIGKILL')
  const again = await system.stack(({ postgres }) => postgres.pid !== before.postgres.pid)
  t.equal(again.postgres.url, before.postgres.url)

  await fetch(`${before.services['identity']?.url}/warn`)
  await eventually(() => {
    if (!/identity .*something to look at/.test(output())) throw new Error(output())
  })
})

t.test('a killed launcher leaves no process running, and the next start finds the data', async (t) => {
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
