import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Tables } from '../tables.ts'
import { testApp } from '../test/app.ts'
import { compareFollowing, measurePages } from './feeds.ts'
import { fill } from './fill.ts'
import { measureWrites } from './writes.ts'

// `DATABASE_URL=postgres://… node services/social/bench/main.ts [posts]` fills a schema with a million posts, measures
// each feed over HTTP and as SQL alone, alternatives for the following feed, likes, views and posts. It runs in its own
// schema and drops it at the end. Compare figures within one run only, never across runs.
//
// Measured on two cores, relative to a bare UPDATE of a counter by 8 writers: a like (row, event, counter) reaches 0.45
// of its rate on many posts and 0.48 on one post (0.33 and 0.28 as a transaction of five round trips). The rest is CPU
// time: two more rows with their indexes, and the visibility check. Views reach 3 times its rate with 8 concurrent
// readers, 10 times with 64, 20 times with 512.

process.env['TEST_DATABASE_URL'] = process.env['DATABASE_URL']
const total = Number(process.argv[2] ?? 1_000_000)
const closing: (() => unknown)[] = []

try {
  const { app, db, url } = await testApp({ teardown: (work) => closing.unshift(work) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  // Filling the tables takes longer than the statement timeout of the service.
  const untimed = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) })
  })
  closing.unshift(() => untimed.destroy())

  const since = performance.now()
  const filled = await fill(untimed, total)
  const seconds = Math.round((performance.now() - since) / 1_000)
  console.log(`${total.toLocaleString('en')} posts by 100,000 people, created in ${seconds} s`)
  await measurePages(db, port, filled)
  await compareFollowing(db, untimed, filled)
  await measureWrites(db)
} finally {
  for (const close of closing) await close()
}
