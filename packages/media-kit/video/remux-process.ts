// A process of its own for each video, without rights, secrets or network: what reads a stranger's bytes may fail or
// hang, and is ended from outside. See `prepare-video.ts`.
import { VideoProblem, type ProblemName } from './problems.ts'
import type { ErrorParams } from '@tandem/process-kit'
import { remux, type VideoDetails } from './remux.ts'

export type Result = { video: VideoDetails } | { problem: ProblemName, params: ErrorParams }

// Nobody would end it any more.
process.on('disconnect', () => process.exit())
const [source = '', target = '', maxSeconds] = process.argv.slice(2)

function toResult (error: unknown): Result {
  if (error instanceof VideoProblem) return { problem: error.problem, params: error.params }
  // mediabunny throws plain errors for what it does not understand. A full disk is no problem of the file.
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') throw error
  return { problem: 'CorruptVideo', params: {} }
}

const result = await remux(source, target, { maxSeconds: Number(maxSeconds) })
  .then((video): Result => ({ video }), toResult)
process.send?.(result, () => process.disconnect?.())
