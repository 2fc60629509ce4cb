// Fails if a hot path becomes 1.5 times as expensive: `npm test -- deploy/bench/hot-paths/hot-paths.ts`. A job of its own in
// CI, because it takes a minute and a half.
import { runConcurrently, until } from '@tandem/test-kit'
import pg from 'pg'
import t from 'tap'
import { settle } from '../chaos/erasure-people.ts'
import { measureFirstSight } from '../first-sight.ts'
import { matchPairs, type Runner } from '../runners.ts'
import { withStack, type Stack } from '../stack.ts'
import { startComparison } from './measure.ts'
import { defineHotPaths } from './paths.ts'

/**
 * The CPU time of a request as a multiple of its reference: as it was measured, and the bound, which is 1.4 times that.
 * The reference is the same work in bare Node: see paths.ts and reference-process.ts. If a change makes a path more
 * expensive on purpose, run it a few times with `node`, which prints the figures, write the median and the new bound
 * here, and say in the commit what the cost buys.
 */
const BOUNDS: Record<string, { measured: number, atMost: number }> = {
  'a chat message': { measured: 13.6, atMost: 19.1 },
  'a page of matching profiles': { measured: 8.7, atMost: 12.2 },
  'a post': { measured: 14.0, atMost: 19.6 },
  'a like': { measured: 7.3, atMost: 10.2 },
  'a comment': { measured: 13.6, atMost: 19.0 },
  'a page of the feed': { measured: 3.8, atMost: 5.4 },
  'a page of notifications': { measured: 3.9, atMost: 5.5 },
  'a sign-in': { measured: 1.45, atMost: 2.03 },
  'a forwarded read': { measured: 1.55, atMost: 2.17 },
  "the gateway's own response": { measured: 2.67, atMost: 3.7 },
  'the first sight of a token': { measured: 1.29, atMost: 1.80 }
}
const PEOPLE = 8
const TOKEN_ROUNDS = 7

// Alone on a small machine it takes about a minute; other work on it makes that several.
t.setTimeout(480_000)

t.test('hot paths cost what they did', async (t) => {
  // As in the images: most requests are not logged.
  await withStack(async (stack) => {
    const database = new pg.Client({ connectionString: stack.postgres.url })
    // Postgres may stop before this test has closed its connection.
    database.on('error', () => {})
    await database.connect()
    const people = await makeNotifiedPeople(stack, database)
    const comparison = await startComparison(stack, database)
    const paths = defineHotPaths({
      people,
      resetMessageQuota: async () => await database.query('truncate fitmatch.message_quota')
    })
    for (const [name, path] of Object.entries(paths)) {
      await t.test(name, async (t) => await assertBound(t, name, async () => await comparison.compare(path)))
    }
    await comparison.close()
    await database.end()
  }, { NODE_ENV: 'production' })

  await t.test('the first sight of a token', async (t) =>
    await assertBound(t, 'the first sight of a token', async () => {
      const { whole, signature } = await measureFirstSight(TOKEN_ROUNDS)
      return whole / signature
    }))
})

/** A busy machine only makes a path look more expensive, so the lower of two figures counts if one is above the bound. */
async function assertBound (t: Tap, name: string, measure: () => Promise<number>) {
  const { measured, atMost } = BOUNDS[name]!
  let figure = await measure()
  if (figure > atMost) figure = Math.min(figure, await measure())
  t.comment(`${figure.toFixed(2)} times its reference; as measured before ${measured}`)
  t.ok(figure <= atMost, `costs ${figure.toFixed(2)} times its reference, at most ${atMost}`)
}

type Tap = Pick<typeof t, 'ok' | 'comment'>

/** People with a match and a page of notifications each. */
async function makeNotifiedPeople (stack: Stack, database: pg.Client): Promise<Runner[]> {
  const people = await matchPairs(
    await runConcurrently(
      Array.from({ length: PEOPLE }, (_, number) => async () => await settle(stack, `runner_${number}`)),
      2
    )
  )
  for (const { id, send } of people) {
    for (const other of people.filter((each) => each.id !== id)) {
      await send('POST', `/users/${other.id}/follow`)
      await send('POST', `/feed/${other.postId}/comment`, { content: 'Well done' })
    }
  }
  await until(async () => {
    const { rows: [row] } = await database.query<{ count: number }>(
      'select count(*)::int from notification.notifications'
    )
    return row!.count >= PEOPLE * (PEOPLE - 1) * 2
  })
  return people
}
