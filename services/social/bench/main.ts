import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Tables } from '../tables.ts'
import { testApp } from '../test/app.ts'
import { compareFollowing, measurePages } from './feeds.ts'
import { fill } from './fill.ts'
import { measureWrites } from './writes.ts'

// `DATABASE_URL=postgres://… node services/social/bench/main.ts [posts]`: in a schema of its own, which is dropped at the end.
// Figures of one run belong together; those of two runs do not.

process.env['TEST_DATABASE_URL'] = process.env['DATABASE_URL']
const total = Number(process.argv[2] ?? 1_000_000)
const closing: (() => unknown)[] = []

try {
  const { app, db, url } = await testApp({ teardown: (work) => closing.unshift(work) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  // What fills the tables takes longer than any request may.
  const patient = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) })
  closing.unshift(() => patient.destroy())

  const since = performance.now()
  const filled = await fill(patient, total)
  console.log(`${total.toLocaleString('en')} posts by 100,000 people, made in ${Math.round((performance.now() - since) / 1_000)} s`)
  await measurePages(db, port, filled)
  await compareFollowing(db, patient, filled)
  await measureWrites(db)
} finally {
  for (const close of closing) await close()
}
