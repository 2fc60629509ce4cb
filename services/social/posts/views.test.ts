import t from 'tap'
import { connect } from '@tandem/database-kit'
import { silentLog } from '@tandem/http-kit/testing'
import type { Tables } from '../tables.ts'
import { givenPost, testApp } from '../test/app.ts'
import { createViewCounter } from './views.ts'

t.test('views are counted in batches', async (t) => {
  const { db, url, person } = await testApp(t)
  const ana = await person('Ana')
  // With a shorter lock timeout than other tests.
  const strict = connect<Tables>(url, { log: silentLog })
  t.teardown(() => strict.destroy())
  const viewOf = (postId: string) => ({ postId, viewerId: ana })
  const given = async () => (await givenPost(db, { author_id: ana })).id
  const viewsOf = async (...ids: string[]) =>
    await Promise.all(
      ids.map(async (id) =>
        (await db.selectFrom('posts').select('views_count').where('id', '=', id).executeTakeFirstOrThrow()).views_count
      )
    )

  t.test('counts are exact with two replicas', async (t) => {
    const ids = [await given(), await given(), await given()]
    const counters = [createViewCounter(db), createViewCounter(db)]
    await Promise.all(Array.from({ length: 600 }, (_, turn) => counters[turn % 2]!(viewOf(ids[turn % 3]!))))
    t.same(await viewsOf(...ids), [200, 200, 200])
  })

  t.test('a post that stays locked does not block reads of other posts', async (t) => {
    const [lockedPost, other] = [await given(), await given()]
    const count = createViewCounter(strict)
    await db.transaction().execute(async (trx) => {
      await trx.selectFrom('posts').select('id').where('id', '=', lockedPost).forUpdate().execute()
      const views = await Promise.allSettled(
        [lockedPost, other, other, lockedPost, other].map((id) => count(viewOf(id)))
      )
      t.same(views.map(({ status }) => status), ['rejected', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    })
    await count(viewOf(lockedPost))
    t.same(await viewsOf(lockedPost, other), [1, 3], 'a failed view is not counted')
  })
})
