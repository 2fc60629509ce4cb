import { execFile } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Teardown } from './teardown.ts'

export { reportGoals, type Goal } from './goals.ts'

// What the benchmarks of the services share. Compare figures of one run only: the speed of a machine differs between
// runs.

/** The CPU time of all threads of some processes, in microseconds. A process that has ended counts as 0. */
export async function cpuTimeOf (pids: number[]) {
  const times = await Promise.all(pids.map(async (pid) => {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
    const files = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0'))
    return (await Promise.all(files)).reduce((sum, text) => sum + Number(text.split(' ')[0]), 0)
  }))
  return times.reduce((sum, time) => sum + time, 0) / 1_000
}

/** Where the logger of a benchmark writes its lines, because a deployed process pays for writing them too. */
export function openLogFile (t: Teardown) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-log-'))
  const file = openSync(path.join(folder, 'log'), 'w')
  t.teardown(() => {
    closeSync(file)
    rmSync(folder, { recursive: true })
  })
  return { write: (line: string) => void writeSync(file, line) }
}

export function percentile (figures: number[], percent: number) {
  const sorted = figures.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * percent / 100))] ?? Number.NaN
}

export const median = (figures: number[]) => percentile(figures, 50)

interface PgbenchResult {
  perSecond: number
  averageMs: number
}

/**
 * Runs pgbench with prepared statements: the fastest that a client of Postgres can be.
 * @param files scripts, of which each transaction runs a random one
 * @throws if pgbench is not installed, because a benchmark without its reference measures nothing
 */
export async function runPgbench (
  url: string,
  files: string[],
  { clients, seconds }: { clients: number, seconds: number }
): Promise<PgbenchResult> {
  const options = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', '1', '-T', `${seconds}`]
  const { stdout } = await promisify(execFile)('pgbench', [...options, ...files.flatMap((file) => ['-f', file]), url])
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw new Error('pgbench is missing; it is in the package postgresql-contrib of Debian and Ubuntu')
    })
  const read = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN)
  return { perSecond: read(/tps = ([\d.]+)/), averageMs: read(/latency average = ([\d.]+)/) }
}
