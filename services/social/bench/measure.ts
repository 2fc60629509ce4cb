import { performance } from 'node:perf_hooks'

interface Figures {
  p50: number
  p99: number
}

/**
 * Runs `work` sequentially `turns` times, after a tenth as many warm-up runs, and returns its durations in
 * milliseconds.
 */
export async function time (turns: number, work: (turn: number) => Promise<unknown>): Promise<Figures> {
  const took: number[] = []
  for (let turn = 0; turn < turns * 1.1; turn++) {
    const since = performance.now()
    await work(turn)
    if (turn >= turns / 10) took.push(performance.now() - since)
  }
  took.sort((one, other) => one - other)
  return { p50: took[Math.floor(took.length * 0.5)]!, p99: took[Math.floor(took.length * 0.99)]! }
}

export function print (name: string, { p50, p99 }: Figures, than?: Figures) {
  const ratio = than ? `  (${(p50 / than.p50).toFixed(2)}x)` : ''
  console.log(`${name.padEnd(58)} p50 ${p50.toFixed(2).padStart(7)} ms  p99 ${p99.toFixed(2).padStart(7)} ms${ratio}`)
}
