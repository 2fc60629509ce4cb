import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Tables } from '../tables.ts'
import { testApp } from '../test/app.ts'
import { compareFollowing, measurePages } from './feeds.ts'
import { fill } from './fill.ts'

// `DATABASE_URL=postgres://… node services/social/bench/main.ts [posts]` fills a schema with a million posts, and measures
// each feed, and alternatives for the following feed. It runs in its own schema and drops it at the end. Compare figures
// within one run only, never across runs.

process.env['TEST_DATABASE_URL'] = process.env['DATABASE_URL']
const total = Number(process.argv[2] ?? 1_000_000)
const closing: (() => unknown)[] = []

try {
  const { app, db, url } = await testApp({ teardown: (work) => closing.unshift(work) })
  // Filling the tables takes longer than the statement timeout of the service.
  const untimed = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) })
  })
  closing.unshift(() => untimed.destroy())

  const since = performance.now()
  const filled = await fill(untimed, total)
  const seconds = Math.round((performance.now() - since) / 1_000)
  console.log(`${total.toLocaleString('en')} posts by 100,000 people, created in ${seconds} s`)
  await app.listen({ port: 0, host: '127.0.0.1' })
  await measurePages(db, (app.server.address() as { port: number }).port, filled)
  await compareFollowing(db, untimed, filled)
} finally {
  for (const close of closing) await close()
}
