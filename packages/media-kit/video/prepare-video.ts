import { fork, type ChildProcess } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { createFairQueue, Unavailable, type DefinedError, type ErrorParams } from '@tandem/process-kit'
import { TooManyVideos, videoErrors } from '../errors.ts'
import { temporaryFile } from '../uploads.ts'
import { boundProcess } from './bounded-process.ts'
import { VideoProblem } from './problems.ts'
import type { Result } from './remux-process.ts'
import type { VideoDetails } from './remux.ts'
import { transcodable, transcode, writeFrame } from './transcode.ts'

// A video of 50 MB takes half a second of CPU.
const BOUNDS = { cpuSeconds: 15, bytes: 256 * 1024 * 1024, deadlineMs: 45_000 }
const HEAP_MEBIBYTES = 96

const program = path.join(import.meta.dirname, 'remux-process.ts')
const kit = path.dirname(import.meta.dirname)
// All that it may read besides its video: its own code.
const code = [kit, realpathSync(path.join(kit, 'node_modules/mediabunny'))]

// Waiting videos are on disk.
const limits = { concurrencyPerOwner: 1, createError: () => new TooManyVideos() }
const enqueue = createFairQueue({ ...limits, concurrency: 2, maxWaiting: 64, maxWaitingPerOwner: 6 })
// Of its own: what ffmpeg writes takes up to a hundred times as long as a copy.
const enqueueTranscoding = createFairQueue({ ...limits, concurrency: 1, maxWaiting: 2, maxWaitingPerOwner: 1 })

interface Options {
  accountId: string
  maxSeconds: number
  transcodes?: boolean
  client?: AbortSignal | undefined
}

/**
 * Copies a video that a client uploaded to the file `target`: one H.264 picture and at most one AAC sound, nothing else
 * of the file. It happens in a process of its own, with bounded memory and time, two at a time and one of each account.
 * @param transcodes whether ffmpeg writes what cannot be copied, one at a time
 * @param client aborted when the client disconnects; a video that still waits is then not processed
 * @throws the errors of videos in `errors.ts`, TooManyVideos, Unavailable
 */
export async function prepareVideo (source: string, target: string, options: Options): Promise<VideoDetails> {
  const result = await copy(source, target, options)
  const prepared = options.transcodes && 'problem' in result && transcodable.has(result.problem)
    ? await copyTranscoded(source, target, options)
    : result
  if ('video' in prepared) return prepared.video
  throw new (videoErrors[prepared.problem] as DefinedError<ErrorParams>)(prepared.params)
}

const copy = async (source: string, target: string, { accountId, client, maxSeconds }: Options) =>
  await enqueue(accountId, async () => await runProcess(source, target, maxSeconds), client)

/** Copies what ffmpeg writes of the video. */
async function copyTranscoded (source: string, target: string, options: Options): Promise<Result> {
  const transcoded = temporaryFile()
  try {
    await enqueueTranscoding(
      options.accountId,
      async () => await transcode(source, transcoded, options),
      options.client
    )
    return await copy(transcoded, target, options)
  } catch (error) {
    if (error instanceof VideoProblem) return { problem: error.problem, params: error.params }
    throw error
  } finally {
    await rm(transcoded, { force: true })
  }
}

/** Writes a frame near the start of a video to the file `target`, as a PNG. @throws VideoProblem, TooManyVideos, Unavailable */
export async function takeFrame (source: string, target: string, accountId: string) {
  await enqueue(accountId, async () => await writeFrame(source, target))
}

async function runProcess (source: string, target: string, maxSeconds: number): Promise<Result> {
  const child = fork(program, [source, target, String(maxSeconds)], {
    // None of our secrets. Each arena of malloc would keep memory of its own.
    env: { MALLOC_ARENA_MAX: '2' },
    execArgv: [
      `--max-old-space-size=${HEAP_MEBIBYTES}`,
      // Of 16 MiB by default. It takes no longer.
      '--max-semi-space-size=1',
      '--permission',
      ...[...code, source, target].map((each) => `--allow-fs-read=${each}`),
      `--allow-fs-write=${target}`
    ],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  const bounds = boundProcess(child, BOUNDS)
  try {
    const result = await resultOf(child)
    if (bounds.isLate()) throw new Unavailable({ cause: new Error('remux-process is late') })
    return result
  } finally {
    await bounds.end()
  }
}

async function resultOf (child: ChildProcess) {
  return await new Promise<Result>((resolve, reject) => {
    let stderr = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-1_000)
    })
    child.once('message', (result) => resolve(result as Result))
    child.once('error', (cause) => reject(new Unavailable({ cause })))
    child.once('close', (status, signal) => {
      // Of the heap, or of CPU time or memory: a file that does this to its reader is not to be played by anybody.
      if (signal !== null) return resolve({ problem: 'CorruptVideo', params: {} })
      reject(new Unavailable({ cause: new Error(`remux-process ended with ${status}: ${stderr}`) }))
    })
  })
}
