import t from 'tap'
import { createSweeper } from './sweeper.ts'
import type { Job, PendingQuery } from './types.ts'

/** A sweeper over `count` pending rows, and what it did: the queries and the ids that it enqueued. */
function testSweeper (
  { count = 0, wipes = [], ...overrides }:
    & { count?: number, wipes?: boolean[] }
    & Partial<
      Parameters<typeof createSweeper>[0]
    >
) {
  const queries: PendingQuery[] = []
  const enqueued: Job[] = []
  const failures: unknown[] = []
  const sweeper = createSweeper({
    minAgeSeconds: 60,
    wasWiped: async () => wipes.shift() ?? false,
    async listPending (query) {
      queries.push(query)
      const from = query.after === undefined ? 0 : Number(query.after) + 1
      return Array.from({ length: Math.min(query.limit, count - from) }, (_, index) => String(from + index))
    },
    async enqueueAgain (jobs) {
      enqueued.push(...jobs)
    },
    isStopped: () => false,
    onFailure: (error) => failures.push(error),
    ...overrides
  })
  /** Sweeps once; returns the least age and the number of enqueued rows. */
  const sweepOnce = async () => {
    const before = { queries: queries.length, enqueued: enqueued.length }
    await sweeper.sweep()
    const ages = new Set(queries.slice(before.queries).map(({ olderThanSeconds }) => olderThanSeconds))
    return { ages: [...ages], rows: enqueued.length - before.enqueued }
  }
  return { sweeper, sweepOnce, queries, failures }
}

t.test('the first sweep takes all rows, later ones four pages of old rows, from where the last one stopped', async (t) => {
  const { sweepOnce, queries } = testSweeper({ count: 3_200 })
  t.same(await sweepOnce(), { ages: [0], rows: 3_200 })
  for (const [rows, after] of [[2_000, undefined], [1_200, '1999'], [2_000, undefined]] as const) {
    const next = queries.length
    t.same(await sweepOnce(), { ages: [60], rows })
    t.equal(queries[next]?.after, after)
  }
})

t.test('a sweep after a wipe, a request or a failure takes all rows', async (t) => {
  const cases: Record<string, (sweeper: ReturnType<typeof testSweeper>) => unknown> = {
    wipe: () => {},
    request: ({ sweeper }) => sweeper.requestFullSweep(),
    failure: async ({ sweepOnce }) => t.same(await sweepOnce(), { ages: [60], rows: 0 })
  }
  for (const [name, prepare] of Object.entries(cases)) {
    let fails = false
    const test = testSweeper({
      count: 2_500,
      wipes: [false, name === 'wipe'],
      async enqueueAgain () {
        if (fails) throw new Error('Redis is unavailable')
      }
    })
    await test.sweepOnce()
    fails = name === 'failure'
    await prepare(test)
    fails = false
    t.same((await test.sweepOnce()).ages, [0], name)
    t.same((await test.sweepOnce()).ages, [60], `${name}, once`)
    t.equal(test.failures.length, name === 'failure' ? 1 : 0)
  }
})

t.test('a request during a sweep is for the next one', async (t) => {
  let onWipeCheck = () => {}
  const { sweeper, sweepOnce } = testSweeper({
    count: 10,
    async wasWiped () {
      onWipeCheck()
      return false
    }
  })
  await sweepOnce()
  onWipeCheck = () => {
    onWipeCheck = () => {}
    t.equal(sweeper.requestFullSweep(), true)
    t.equal(sweeper.requestFullSweep(), false, 'it is requested already')
  }
  t.same(await sweepOnce(), { ages: [60], rows: 10 })
  t.same(await sweepOnce(), { ages: [0], rows: 10 })
})

t.test('sweeps do not overlap, and a stop ends one after its page', async (t) => {
  let isStopped = false
  const { sweeper, queries } = testSweeper({ count: 5_000, isStopped: () => isStopped })
  await Promise.all([sweeper.sweep(), sweeper.sweep(), sweeper.waitUntilIdle()])
  t.equal(queries.length, 11)
  isStopped = true
  sweeper.requestFullSweep()
  await sweeper.sweep()
  t.equal(queries.length, 12)
})
