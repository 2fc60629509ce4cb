import { fork, type ChildProcess } from 'node:child_process'
import type { DefinedError, ErrorParams } from '@tandem/process-kit'
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import path from 'node:path'
import { createFairQueue, Unavailable } from '@tandem/process-kit'
import { TooManyVideos, videoErrors } from '../errors.ts'
import type { Result } from './remux-process.ts'
import type { VideoDetails } from './remux.ts'

// A video of 50 MB takes half a second of CPU. On a busy machine that may be a while.
const MAX_CPU_SECONDS = 15
const DEADLINE_MS = 45_000
const HEAP_MEBIBYTES = 96
const MAX_PROCESS_BYTES = 256 * 1024 * 1024
const WATCH_INTERVAL_MS = 100
const PAGE_BYTES = 4_096
const TICKS_PER_SECOND = 100

const program = path.join(import.meta.dirname, 'remux-process.ts')
const kit = path.dirname(import.meta.dirname)
// All that it may read besides its video: its own code.
const code = [kit, realpathSync(path.join(kit, 'node_modules/mediabunny'))]

// Waiting videos are on disk.
const enqueue = createFairQueue({
  concurrency: 2,
  concurrencyPerOwner: 1,
  maxWaiting: 64,
  maxWaitingPerOwner: 6,
  createError: () => new TooManyVideos()
})

/**
 * Copies a video that a client uploaded to the file `target`: one H.264 picture and at most one AAC sound, nothing else
 * of the file. It happens in a process of its own, with bounded memory and time, two at a time and one of each account.
 * @param client aborted when the client disconnects; a video that still waits is then not processed
 * @throws the errors of videos in `errors.ts`, TooManyVideos, Unavailable
 */
export async function prepareVideo (
  source: string,
  target: string,
  { accountId, maxSeconds, client }: { accountId: string, maxSeconds: number, client?: AbortSignal | undefined }
): Promise<VideoDetails> {
  const result = await enqueue(accountId, async () => await runProcess(source, target, maxSeconds), client)
  if ('video' in result) return result.video
  throw new (videoErrors[result.problem] as DefinedError<ErrorParams>)(result.params)
}

async function runProcess (source: string, target: string, maxSeconds: number): Promise<Result> {
  const child = fork(program, [source, target, String(maxSeconds)], {
    // None of our secrets. Each arena of malloc would keep memory of its own.
    env: { MALLOC_ARENA_MAX: '2' },
    execArgv: [
      `--max-old-space-size=${HEAP_MEBIBYTES}`,
      '--permission',
      ...[...code, source, target].map((each) => `--allow-fs-read=${each}`),
      `--allow-fs-write=${target}`
    ],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  letOthersGoFirst(child)
  const stopWatching = endIfTooMuch(child)
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, DEADLINE_MS)
  try {
    const result = await resultOf(child)
    // It has not used its CPU time: the machine is too busy, and the file may be good.
    if (isLate) throw new Unavailable({ cause: new Error('remux-process is late') })
    return result
  } finally {
    clearTimeout(deadline)
    stopWatching()
    child.kill('SIGKILL')
  }
}

/** Somebody who uploads a video waits anyway; those who read the feed of this process meanwhile should not. */
function letOthersGoFirst ({ pid }: ChildProcess) {
  if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
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

/** Ends a process that takes too much CPU time, or memory, also outside of its heap. Linux only. */
function endIfTooMuch (child: ChildProcess) {
  const timer = setInterval(() => {
    void readFile(`/proc/${child.pid}/stat`, 'utf8').then((text) => {
      // What follows the name of the program; see proc_pid_stat(5).
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ').map(Number)
      const cpuSeconds = (fields[11]! + fields[12]!) / TICKS_PER_SECOND
      if (cpuSeconds > MAX_CPU_SECONDS || fields[21]! * PAGE_BYTES > MAX_PROCESS_BYTES) child.kill('SIGKILL')
    }, () => {})
  }, WATCH_INTERVAL_MS)
  return () => clearInterval(timer)
}
