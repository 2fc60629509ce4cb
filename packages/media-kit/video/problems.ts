import type { videoErrors } from '../errors.ts'

export type ProblemName = keyof typeof videoErrors

/** A problem of the file, as opposed to one of ours. `details` fill the placeholders of the message. */
export class VideoProblem extends Error {
  readonly problem: ProblemName
  readonly details: string[]

  constructor (problem: ProblemName, ...details: string[]) {
    super(problem)
    this.problem = problem
    this.details = details
  }
}
