import type { ErrorParams } from '@tandem/process-kit'
import type { videoErrors } from '../errors.ts'

export type ProblemName = keyof typeof videoErrors

/** A problem of the file, as opposed to one of ours. `params` are those of its error. */
export class VideoProblem extends Error {
  readonly problem: ProblemName
  readonly params: ErrorParams

  constructor (problem: ProblemName, params: ErrorParams = {}) {
    super(problem)
    this.problem = problem
    this.params = params
  }
}
