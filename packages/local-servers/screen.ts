import { styleText } from 'node:util'

/** An error that users can fix themselves: shown without a stack. */
export class UserError extends Error {}

type Colour = Parameters<typeof styleText>[0]

const paint = (colour: Colour, text: string) => styleText(colour, text, { stream: process.stdout })

// A reader of the output, such as `tee`, may end; the launcher keeps running.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

export const screen = {
  line: (text = '') => {
    process.stdout.write(`${text}\n`)
  },
  step: (text: string) => {
    screen.line(`${paint('gray', '·')} ${text}`)
  },
  done: (text: string, since?: number) => {
    screen.line(`${paint('green', '✓')} ${text}${since === undefined ? '' : paint('gray', ` ${seconds(since)}`)}`)
  },
  warn: (text: string) => {
    screen.line(`${paint('yellow', '!')} ${text}`)
  },
  fail: (text: string) => {
    screen.line(`${paint('red', '✗')} ${text}`)
  },
  error: (text: string) => {
    process.stderr.write(`${paint('red', '✗')} ${text}\n`)
  },

  /** Prints aligned columns; the first is bold. */
  table (rows: string[][]) {
    const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
    for (const row of rows) {
      const cells = row.map((cell, column) => column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))
      screen.line(`  ${paint('bold', cells[0] ?? '')}  ${cells.slice(1).join('  ')}`.trimEnd())
    }
  }
}

function seconds (since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`
}
