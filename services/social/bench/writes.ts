import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { median, runPgbench, type Goal } from '@tandem/test-kit/measure'
import { createLikePost } from '../likes/actions.ts'
import { createViewCounter } from '../posts/views.ts'
import type { Db } from '../tables.ts'
import { rate } from './measure.ts'

const WRITERS = 8
const SECONDS = 2
const ROUNDS = 5
// pgbench runs at most 128 scripts.
const POSTS = 100

/**
 * Likes and views per second, compared with the minimum that Postgres could do for each: one committed UPDATE of a
 * counter, sent by pgbench as a prepared statement.
 */
export async function compareWrites (db: Db, url: string): Promise<Goal[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-writes-'))
  try {
    const posts = await db.selectFrom('posts').select('id').where('visibility', '=', 'PUBLIC').orderBy('id', 'desc')
      .limit(POSTS)
      .execute()
    const files = await Promise.all(posts.map(async ({ id }) => {
      const file = path.join(folder, `${id}.sql`)
      await writeFile(file, `update posts set views_count = views_count + 1 where id = '${id}';\n`)
      return file
    }))
    return await measure(db, url, { ids: posts.map(({ id }) => id), files })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure (db: Db, url: string, { ids, files }: { ids: string[], files: string[] }): Promise<Goal[]> {
  const [hot, hotFile] = [ids[0]!, files[0]!]
  const any = (turn: number) => ids[turn % ids.length]!
  const [countView, likePost] = [createViewCounter(db), createLikePost(db)]
  const update = async (files: string[]) =>
    (await runPgbench(url, files, { clients: WRITERS, seconds: SECONDS })).perSecond
  const rows: Record<string, () => Promise<number>> = {
    update: () => update(files),
    like: () => rate(WRITERS, SECONDS, (turn) => likePost({ postId: any(turn), accountId: randomUUID() })),
    view: () => rate(512, SECONDS, (turn) => countView(any(turn))),
    updateHot: () => update([hotFile]),
    likeHot: () => rate(WRITERS, SECONDS, () => likePost({ postId: hot, accountId: randomUUID() }))
  }
  // Interleaved, so that other load on the machine affects all of them equally. The first round warms up.
  const rounds: Record<string, number>[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const figures: Record<string, number> = {}
    for (const [name, measureOne] of Object.entries(rows)) figures[name] = await measureOne()
    if (round > 0) rounds.push(figures)
  }

  const compare = (name: string, figure: string, reference: string, atLeast: number): Goal => {
    const perSecond = (of: string) => Math.round(median(rounds.map((each) => each[of]!))).toLocaleString('en')
    return {
      name,
      reference: `pgbench, UPDATE of a counter: ${perSecond(reference)} per second, not ${perSecond(figure)}`,
      figure: median(rounds.map((each) => each[figure]! / each[reference]!)),
      atLeast
    }
  }
  return [
    compare(`likes of ${POSTS} posts, ${WRITERS} at once`, 'like', 'update', 0.5),
    compare(`likes of one post, ${WRITERS} at once`, 'likeHot', 'updateHot', 0.5),
    compare(`views of ${POSTS} posts, 512 at once`, 'view', 'update', 20)
  ]
}
