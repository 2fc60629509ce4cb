// Uploads twenty videos at once, while others read the feed. Memory and the waiting times of readers are compared with
// those just before and just after, of the same run: the machine may be busy with other work.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { constants, setPriority, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLongVideo, readMemory } from '@tandem/media-kit/testing'
import { check, haveAllPassed } from '../kit/checks.ts'
import { call } from '../kit/call.ts'
import { becomeMember } from '../kit/people.ts'
import { percentile } from '../kit/percentile.ts'
import { retry } from '../kit/retry.ts'
import { withStack, type Stack } from '../kit/stack.ts'

const UPLOADS = 20
const VIDEO = { seconds: 50, bytesPerSecond: 800_000 }
const MEBIBYTE = 1024 * 1024
const POSTS = 20
const READERS = 2
const PAUSE_MS = 50
const QUIET_SECONDS = 30
const MAX_GROWTH_BYTES = 300 * MEBIBYTE
const MAX_SLOWDOWN = 1.2

await withStack(async (stack) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-videos-'))
  try {
    const file = path.join(folder, 'long.mp4')
    await createLongVideo(file, VIDEO)
    const members = []
    for (let number = 0; number < UPLOADS; number++) {
      members.push(await becomeMember(stack, `person${number}-${randomUUID()}@example.com`))
    }
    const tokens = members.map(({ accessToken }) => accessToken)
    for (let post = 0; post < POSTS; post++) {
      const body = { type: 'TEXT', content: `Intervals at lunch ${post}` }
      await retry(async () => await call(stack, 'POST', '/feed', { token: tokens[post % UPLOADS]!, body }))
    }
    // The first one loads what the others share.
    await (await startUploader(stack, tokens.slice(0, 1), file)).upload()
    await readFeeds(stack, tokens, sleep(5_000))

    const before = await readFeeds(stack, tokens, sleep(QUIET_SECONDS * 1_000))
    const uploader = await startUploader(stack, tokens, file)
    const memory = await measureMemory(stack)
    const since = performance.now()
    const during = await readFeeds(stack, tokens, uploader.upload())
    const seconds = (performance.now() - since) / 1_000
    const growth = await memory.stop()
    const after = await readFeeds(stack, tokens, sleep(QUIET_SECONDS * 1_000))

    const { size } = await stat(file)
    console.log(`${UPLOADS} videos of ${Math.round(size / MEBIBYTE)} MiB in ${seconds.toFixed()} s`)
    for (const [name, bytes] of Object.entries(growth)) {
      check(
        bytes <= MAX_GROWTH_BYTES,
        `${name}: +${Math.round(bytes / MEBIBYTE)} MiB with the processes that it starts`
      )
    }
    const [quiet, busy] = [percentile([...before, ...after], 99), percentile(during, 99)]
    console.log(
      `feed: p50 ${percentile(before, 50).toFixed()} ms before, ${percentile(during, 50).toFixed()} ms during, ${
        percentile(after, 50).toFixed()
      } ms after`
    )
    check(busy <= quiet * MAX_SLOWDOWN, `feed: p99 ${busy.toFixed()} ms during, ${quiet.toFixed()} ms before and after`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, { LIMIT_PROFILE: 'relaxed' })
if (!haveAllPassed()) process.exitCode = 1

/** Starts a process whose `upload` sends the video once for each token, at once. */
async function startUploader ({ gateway }: Stack, tokens: string[], file: string) {
  const uploader = fork(path.join(import.meta.dirname, 'upload-process.ts'), [file], {
    env: { ...process.env, GATEWAY_URL: gateway.url, ACCESS_TOKENS: tokens.join(' ') }
  })
  await once(uploader, 'message')
  // Phones take no processor time from the server.
  setPriority(uploader.pid!, constants.priority.PRIORITY_LOW)
  return {
    async upload () {
      uploader.send('upload')
      const [status] = await once(uploader, 'close') as [number | null]
      if (status !== 0) throw new Error(`the uploader ended with ${status}`)
    }
  }
}

/** Reads feeds until `work` is done. @returns how many milliseconds each took */
async function readFeeds (stack: Stack, tokens: string[], work: Promise<unknown>) {
  const times: number[] = []
  let isDone = false
  const reading = Array.from({ length: READERS }, async (_, reader) => {
    for (let turn = reader; !isDone; turn++) {
      const since = performance.now()
      await retry(async () => await call(stack, 'GET', '/feed?limit=20', { token: tokens[turn % tokens.length]! }))
      times.push(performance.now() - since)
      await sleep(PAUSE_MS)
    }
  })
  await work.finally(() => {
    isDone = true
  })
  await Promise.all(reading)
  return times
}

/** Watches the memory of the gateway and of social until `stop` returns by how much each grew at most. */
async function measureMemory ({ gateway, services }: Stack) {
  const pids = { gateway: gateway.pid!, social: services['social']!.pid! }
  const read = async () => ({
    gateway: (await readMemory(pids.gateway)).all,
    social: (await readMemory(pids.social)).all
  })
  const start = await read()
  const most = { ...start }
  let isRunning = true
  const watching = (async () => {
    while (isRunning) {
      const now = await read()
      most.gateway = Math.max(most.gateway, now.gateway)
      most.social = Math.max(most.social, now.social)
      await sleep(200)
    }
  })()
  return {
    async stop () {
      isRunning = false
      await watching
      return { gateway: most.gateway - start.gateway, social: most.social - start.social }
    }
  }
}
