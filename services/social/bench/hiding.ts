import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { loadHttp } from '@tandem/test-kit/http-load'
import { median, type Goal } from '@tandem/test-kit/measure'
import type { Db } from '../tables.ts'
import type { Filled } from './fill.ts'
import { startServing } from './serving.ts'

const ROUNDS = 15
const HIDDEN_SHARE = 100
const feeds = { all: '/feed', discover: '/feed?feedType=discover' }

/**
 * What leaving out hidden people, a hundredth of all, costs a page over HTTP: a process whose statements lack that
 * condition serves every other round.
 */
export async function compareHiding (db: Db, url: string, { readers }: Filled): Promise<Goal[]> {
  await sql`
    insert into hidden_people (account_id, is_hidden, changed_at)
    select account_id, true, now() from people where hashtext(account_id::text) % ${sql.lit(HIDDEN_SHARE)} = 0`
    .execute(db)
  await sql`vacuum (analyze) hidden_people, people`.execute(db)
  const people = readers['44 followed']!.slice(0, 20)
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-hiding-'))
  const serving = {
    hides: await startServing(url, folder, people),
    shows: await startServing(url, folder, people, 'shows-hidden')
  }
  try {
    const goals: Goal[] = []
    for (const [name, feed] of Object.entries(feeds)) {
      const measure = async ({ port, requests }: typeof serving.hides) =>
        median(await loadHttp({ port, requests: requests(feed), connections: 1, seconds: 1 }))
      const rounds: { hidesMs: number, showsMs: number }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const figures = { hidesMs: await measure(serving.hides), showsMs: await measure(serving.shows) }
        // The first round warms up.
        if (round > 0) rounds.push(figures)
      }
      goals.push({
        name: `feed ${name}: leaving out hidden people, p50`,
        reference: `a page without that condition: ${
          median(rounds.map(({ showsMs }) => showsMs)).toFixed(3)
        } ms, not ` +
          median(rounds.map(({ hidesMs }) => hidesMs)).toFixed(3),
        figure: median(rounds.map(({ hidesMs, showsMs }) => hidesMs / showsMs)),
        atMost: 1.05
      })
    }
    return goals
  } finally {
    serving.hides.stop()
    serving.shows.stop()
    await sql`update hidden_people set is_hidden = false`.execute(db)
    await rm(folder, { recursive: true, force: true })
  }
}
