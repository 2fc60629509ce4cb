import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { loadHttp } from '@tandem/test-kit/http-load'
import { cpuTimeOf, median, runPgbench, type Goal } from '@tandem/test-kit/measure'
import { readAll } from '../feed/queries.ts'
import type { Db } from '../tables.ts'
import type { Filled } from './fill.ts'
import { writeScripts } from './scripts.ts'
import { startServing } from './serving.ts'

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 4
const READERS = 20

interface Round {
  servedPerSecond: number
  queriedPerSecond: number
  servedMs: number
  queriedMs: number
  nodeUs: number
  postgresUs: number
}

/** Compares the first page of a feed over HTTP, at default settings, with pgbench on the same statements. */
export async function compareFeedPage (db: Db, url: string, { readers }: Filled): Promise<Goal[]> {
  const people = readers['44 followed']!.slice(0, READERS)
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-feed-'))
  const serving = await startServing(url, folder, people)
  const { pid, port } = serving
  try {
    const requests = serving.requests('/feed')
    const files = await writeScripts(db, people, { folder, name: 'all', read: readAll })

    const rounds: Round[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const nodeBefore = await cpuTimeOf([pid])
      const backends = await listBackends(db)
      const postgresBefore = await cpuTimeOf(backends)
      const served = await loadHttp({ port, requests, connections: CONNECTIONS, seconds: SECONDS })
      const figures = {
        servedPerSecond: served.length / SECONDS,
        nodeUs: (await cpuTimeOf([pid]) - nodeBefore) / served.length,
        postgresUs: (await cpuTimeOf(backends) - postgresBefore) / served.length,
        queriedPerSecond: (await runPgbench(url, files, { clients: CONNECTIONS, seconds: SECONDS })).perSecond,
        servedMs: median(await loadHttp({ port, requests, connections: 1, seconds: 1 })),
        queriedMs: (await runPgbench(url, files, { clients: 1, seconds: 1 })).averageMs
      }
      // The first round warms up.
      if (round > 0) rounds.push(figures)
    }
    return summarize(rounds)
  } finally {
    serving.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function summarize (rounds: Round[]): Goal[] {
  const of = (figureOf: (round: Round) => number) => median(rounds.map(figureOf))
  const count = (figure: number) => Math.round(figure).toLocaleString('en')
  console.log(
    `feed page: ${count(of((round) => round.nodeUs))} µs of CPU in Node, ` +
      `${count(of((round) => round.postgresUs))} µs in Postgres`
  )
  return [{
    name: `feed page over HTTP, ${CONNECTIONS} connections`,
    reference: `pgbench, same statements: ${count(of((round) => round.queriedPerSecond))} per second, not ` +
      count(of((round) => round.servedPerSecond)),
    figure: of((round) => round.servedPerSecond / round.queriedPerSecond),
    atLeast: 0.5
  }, {
    name: 'feed page over HTTP, p50 on 1 connection',
    reference: `pgbench, same statements: ${of((round) => round.queriedMs).toFixed(2)} ms, not ` +
      of((round) => round.servedMs).toFixed(2),
    figure: of((round) => round.servedMs / round.queriedMs),
    atMost: 2
  }]
}

async function listBackends (db: Db) {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(db)
  return rows.map(({ pid }) => pid)
}
