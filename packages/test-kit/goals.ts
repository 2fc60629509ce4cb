import { appendFileSync } from 'node:fs'

/** A figure of a benchmark, next to the goal that it must meet. */
export interface Goal {
  name: string
  /** What the figure is compared with, measured in the same run. */
  reference: string
  figure: number
  /** What the figure counts; default `x`, times the reference. */
  unit?: string
  /** Without a bound, the figure is only shown. */
  atMost?: number
  atLeast?: number
}

export const isMet = ({ figure, atMost = Infinity, atLeast = -Infinity }: Goal) => figure <= atMost && figure >= atLeast

/** @returns the cells of a line: name, reference, goal, figure and verdict */
export function describeGoal (goal: Goal) {
  const { name, reference, figure, unit = 'x', atMost, atLeast } = goal
  const format = (value: number) =>
    `${value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })}${
      unit === 'x' ? 'x' : ` ${unit}`
    }`
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${format(atLeast)}`]),
    ...(atMost === undefined ? [] : [`at most ${format(atMost)}`])
  ]
  const verdict = bounds.length === 0 ? '' : isMet(goal) ? 'met' : 'MISSED'
  return [name, reference, bounds.join(', '), format(figure), verdict]
}

/**
 * Prints each goal with its reference, its figure and its verdict. The process exits with 1 if one is missed, unless
 * `npm run bench` started it: that gets them in the file BENCH_RESULTS, a line of JSON each, for docs/benchmarks.md.
 */
export function reportGoals (goals: Goal[]) {
  const rows = [['', 'compared with', 'goal', 'figure', ''], ...goals.map(describeGoal)]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  console.log()
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ').trimEnd())
  const file = process.env['BENCH_RESULTS']
  if (file) { for (const goal of goals) appendFileSync(file, `${JSON.stringify(goal)}\n`) }
  else if (!goals.every(isMet)) process.exitCode = 1
}
