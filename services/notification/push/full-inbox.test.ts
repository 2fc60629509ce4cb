import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { testApp } from '../test/app.ts'
import { insertComments, tell } from '../test/realtime.ts'
import { createPushSender } from './sender.ts'

const { reset } = await testApp(t)

t.test('an account with a full inbox and many devices holds up nobody whose push is sent at the same time', async (t) => {
  const app = reset()
  const { db, deps, provider, pushes, person, device } = app
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await insertComments(db, { accountId: ana, postId: randomUUID(), count: 30_000 })
  for (let number = 0; number < 20; number++) await device(ana)
  const token = await device(ben)
  for (let number = 1; number <= 4; number++) await tell(app, ana, number)
  await tell(app, ben, 2)
  await sql`update deliveries set due_at = now()`.execute(db)

  const send = createPushSender({ ...deps, provider, log: silentLog })
  await Promise.all(pushes.enqueued.map(async ({ id }) => await send(id)))
  t.equal(provider.sent.length, 81)
  t.match(provider.sent.find((push) => push.token === token), { badge: 1 })
  t.match(provider.sent[0], { badge: 10_000 })
})
