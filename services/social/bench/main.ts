import { Unavailable } from '@tandem/bus-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { silent, testKeys } from '@tandem/service-kit/testing'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { createApp } from '../app.ts'
import type { Tables } from '../schema.ts'
import { compareFollowing, measurePages } from './feeds.ts'
import { fill } from './fill.ts'
import { measureWrites } from './writes.ts'

// `DATABASE_URL=postgres://… node services/social/bench/main.ts [posts]`: in a schema of its own, which is dropped at the end.
// Figures of one run belong together; those of two runs do not.

process.env['TEST_DATABASE_URL'] = process.env['DATABASE_URL']
const total = Number(process.argv[2] ?? 1_000_000)
const closing: (() => unknown)[] = []

try {
  const { db, url } = await testDatabase<Tables>({ teardown: (work) => closing.push(work) }, new URL('..', import.meta.url).pathname)
  const deps = { db, ask: async () => { throw new Unavailable() }, media: createMedia({ storage: diskStorage('/nonexistent'), cdnUrl: 'https://cdn.example.com' }) }
  const app = await createApp(deps, { log: silent, keys: testKeys })
  closing.unshift(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }

  const since = performance.now()
  // What fills the tables takes longer than any request may.
  const patient = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) })
  closing.unshift(() => patient.destroy())
  const filled = await fill(patient, total)
  console.log(`${total.toLocaleString('en')} posts by 100,000 people, made in ${Math.round((performance.now() - since) / 1_000)} s`)
  await measurePages(db, port, filled)
  await compareFollowing(db, patient, filled)
  await measureWrites(db)
} finally {
  for (const close of closing) await close()
}
