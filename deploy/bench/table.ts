/** A line of figures; what was not measured is left out. */
export interface Row {
  'name': string
  'per second'?: number
  'p50 ms'?: number
  'p99 ms'?: number
}

const columns = ['per second', 'p50 ms', 'p99 ms'] as const

export function printTable (rows: Row[]) {
  const width = Math.max(...rows.map((row) => row.name.length))
  console.log(`\n${''.padEnd(width)}${columns.map((column) => column.padStart(14)).join('')}`)
  for (const row of rows) {
    console.log(row.name.padEnd(width) + columns.map((column) => format(row[column]).padStart(14)).join(''))
  }
}

const format = (figure: number | undefined) =>
  figure === undefined ? '' : figure.toLocaleString('en', { maximumFractionDigits: figure < 100 ? 1 : 0 })

export function percentile (figures: number[], percent: number) {
  const sorted = figures.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * percent / 100))] ?? Number.NaN
}

export const median = (figures: number[]) => percentile(figures, 50)
