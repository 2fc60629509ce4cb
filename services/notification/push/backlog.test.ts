import { register } from 'prom-client'
import t from 'tap'
import { sql } from 'kysely'
import { notify, testApp } from '../test/app.ts'
import { checkPushBacklog, pushSources } from './backlog.ts'

const read = async (name: string) => (await register.getSingleMetric(name)?.get())?.values[0]?.value

t.test('pushes that the provider did not accept are measured, and degrade the service after ten minutes', async (t) => {
  const { db, deps, person, device, provider, deliverAll } = await testApp(t)
  const source = { service: 'notification', db }
  pushSources.add(source)
  t.teardown(() => pushSources.delete(source))
  const ana = await person('Ana')
  await device(ana)
  await notify(deps, { kind: 'levelReached', dedupeKey: 'level:1', to: [ana], params: { level: 1 } }, new Date())
  t.equal(await read('notification_pushes_delayed'), 0, 'a push that waits for its first attempt is not delayed')

  provider.outcomeOf = () => ({ type: 'later', reason: 'UNAVAILABLE' })
  await deliverAll()
  t.equal(await read('notification_pushes_delayed'), 1)
  await checkPushBacklog(db)

  await sql`update deliveries set created_at = now() - interval '11 minutes'`.execute(db)
  t.ok((await read('notification_push_oldest_seconds') ?? 0) >= 660)
  await t.rejects(checkPushBacklog(db), /^1 pushes are delayed, the oldest for 66\d s; last reason: UNAVAILABLE$/)

  await sql`update deliveries set status = 'held', reason = 'quiet hours'`.execute(db)
  await checkPushBacklog(db)
  t.equal(await read('notification_pushes_delayed'), 0, 'quiet hours are no failure')
})
