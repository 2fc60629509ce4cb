import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { median, runPgbench, type Goal } from '@tandem/test-kit/measure'
import { readAll, readDiscover } from '../feed/queries.ts'
import type { Db } from '../tables.ts'
import type { Filled } from './fill.ts'
import { writeScripts } from './scripts.ts'

const ROUNDS = 15
const HIDDEN_SHARE = 100

const hiddenCheck =
  /coalesce\(not people\.hidden, not exists \([^)]*\)\)|not exists \(\s*select from hidden_people[^)]*\)/g

/** What it costs Postgres to leave out hidden people, a hundredth of all: the same statements without that condition. */
export async function compareHiding (db: Db, url: string, { readers }: Filled): Promise<Goal[]> {
  await sql`
    insert into hidden_people (account_id, is_hidden, changed_at)
    select account_id, true, now() from people where hashtext(account_id::text) % ${sql.lit(HIDDEN_SHARE)} = 0`
    .execute(db)
  await sql`vacuum (analyze) hidden_people`.execute(db)
  const people = readers['44 followed']!.slice(0, 20)
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-hiding-'))
  try {
    const goals: Goal[] = []
    for (const [name, read] of Object.entries({ all: readAll, discover: readDiscover })) {
      const checked = await writeScripts(db, people, { folder, name: `${name}-checked`, read })
      const unchecked = await writeScripts(db, people, {
        folder,
        name: `${name}-unchecked`,
        read,
        change: (text) => {
          const changed = text.replaceAll(hiddenCheck, 'true')
          if (changed === text) throw new Error('the statement has no condition for hidden people')
          return changed
        }
      })
      const rounds: { checkedMs: number, uncheckedMs: number }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const figures = {
          checkedMs: (await runPgbench(url, checked, { clients: 1, seconds: 1 })).averageMs,
          uncheckedMs: (await runPgbench(url, unchecked, { clients: 1, seconds: 1 })).averageMs
        }
        // The first round warms up.
        if (round > 0) rounds.push(figures)
      }
      goals.push({
        name: `feed ${name}: leaving out hidden people`,
        reference: `the statement without it: ${median(rounds.map((each) => each.uncheckedMs)).toFixed(3)} ms, not ` +
          median(rounds.map((each) => each.checkedMs)).toFixed(3),
        figure: median(rounds.map((each) => each.checkedMs / each.uncheckedMs)),
        atMost: 1.05
      })
    }
    return goals
  } finally {
    await sql`delete from hidden_people`.execute(db)
    await rm(folder, { recursive: true, force: true })
  }
}
