import t from 'tap'
import { connect } from '@tandem/database-kit'
import { silentLog } from '@tandem/service-kit/testing'
import type { Tables } from '../tables.ts'
import { givenPost, testApp } from '../test/app.ts'
import { createViewCounter } from './views.ts'

t.test('views are counted together', async (t) => {
  const { db, url, person } = await testApp(t)
  const ana = await person('Ana')
  // One that does not wait for another's lock as long as tests may.
  const impatient = connect<Tables>(url, { log: silentLog, timeoutFactor: 0.3 })
  t.teardown(() => impatient.destroy())
  const given = async () => (await givenPost(db, { author_id: ana })).id
  const viewsOf = async (...ids: string[]) => await Promise.all(ids.map(async (id) =>
    (await db.selectFrom('posts').select('views_count').where('id', '=', id).executeTakeFirstOrThrow()).views_count))

  t.test('and exactly, by two replicas at once too', async (t) => {
    const ids = [await given(), await given(), await given()]
    const counters = [createViewCounter(db), createViewCounter(impatient)]
    await Promise.all(Array.from({ length: 600 }, (_, turn) => counters[turn % 2]!(ids[turn % 3]!)))
    t.same(await viewsOf(...ids), [200, 200, 200])
  })

  t.test('but a post that somebody holds for long keeps no other from being read', async (t) => {
    const [held, other] = [await given(), await given()]
    const count = createViewCounter(impatient)
    await db.transaction().execute(async (trx) => {
      await trx.selectFrom('posts').select('id').where('id', '=', held).forUpdate().execute()
      const views = await Promise.allSettled([held, other, other, held, other].map(count))
      t.same(views.map(({ status }) => status), ['rejected', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    })
    await count(held)
    t.same(await viewsOf(held, other), [1, 3], 'and nothing is counted that was told to have failed')
  })
})
