import t from 'tap'
import { testApp, water } from '../test/app.ts'

const { newUser } = await testApp(t)
const now = '2026-11-20T05:00:00Z'

t.test('the home screen and the logs come when they have changed', async (t) => {
  const user = newUser({ now })
  const sync = async (cursor?: string) =>
    await user.read(`/dashboard/sync${cursor === undefined ? '' : `?cursor=${cursor}`}`)
  const first = await sync()
  t.strictSame(first.home, await user.read('/dashboard/home'), 'the same as alone')
  t.same(first.changes, [])
  const second = await sync(first.cursor)
  t.match(second, { home: null, changes: { length: 0 }, cursor: first.cursor })

  await user.log(water(now, 300, { clientId: 'one' }))
  const third = await sync(second.cursor)
  t.match(third, { home: { today: { water: { currentMl: 300 } } }, changes: [{ clientId: 'one', data: { ml: 300 } }] })
  t.match(await sync(third.cursor), { home: null, changes: { length: 0 } })
})

t.test('a cursor that no response had is refused', async (t) => {
  const { send } = newUser({ now })
  for (const cursor of ['abc', 'abc.def', '1_2.3']) {
    t.equal((await send('GET', `/dashboard/sync?cursor=${cursor}`)).statusCode, 400, cursor)
  }
})
