export interface Figure {
  what: string
  figure: number
  unit: string
  /** The largest figure that meets the goal. */
  atMost: number
  /** What the figure is compared with in this run. */
  reference?: number
}

const format = (figure: number) => figure.toLocaleString('en', { maximumFractionDigits: figure < 10 ? 2 : 0 })

/** Prints each figure with its goal, its reference and a verdict. The process fails if a goal is missed. */
export function report (figures: Figure[]) {
  for (const { what, figure, unit, atMost, reference } of figures) {
    const isMet = figure <= atMost
    if (!isMet) process.exitCode = 1
    console.log([
      what.padEnd(52),
      `${format(figure)} ${unit}`.padStart(16),
      `goal <= ${format(atMost)}`.padStart(18),
      (reference === undefined ? '' : `reference ${format(reference)}`).padStart(20),
      isMet ? '  met' : '  MISSED'
    ].join(''))
  }
}
