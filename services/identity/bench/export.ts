// How much memory a copy of an account with 2 GB of images takes, and what ten kills and broken downloads do to it:
//   node services/identity/bench/export.ts
// It fails above 112 MiB, and if the download has another digest.
import { fork, type ChildProcess } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { diskStorage } from '@tandem/media-kit'
import { archiveKeyOf, writeArchive } from '../exports/archive.ts'
import { collectPages } from '../exports/pages.ts'

const MEBIBYTE = 1024 * 1024
const IMAGES = 2_000
const IMAGE_BYTES = MEBIBYTE
const ROWS = 200_000
const ROWS_PER_PAGE = 1_000
const KILLS = 10
const MAX_GROWN_MIB = 112
// Those of identity in containers, under which malloc keeps more.
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '33554432', MALLOC_TRIM_THRESHOLD_: '134217728' }

interface Result {
  bytes: number
  sha256: string
  /** Since the start of the process, and since its pages are collected. */
  grownMib: number
  grownByArchiveMib: number
}

const [folder, exportId] = process.argv.slice(2)
if (folder && exportId) {
  process.send?.(await makeArchive(folder, exportId))
  process.disconnect?.()
} else await measure()

/** What the worker does, without its database. */
async function makeArchive (folder: string, exportId: string): Promise<Result> {
  const storage = diskStorage(folder)
  const before = process.memoryUsage.rss()
  let highest = before
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss())
  }, 20)
  await collectPages({ storage, exportId, service: 'social' }, '', { readPage, onPage: async () => {} })
  const collected = process.memoryUsage.rss()
  const archive = await writeArchive({
    storage,
    readFile: async () => Readable.from(image(), { objectMode: false }),
    exportId,
    services: ['social'],
    locale: 'en',
    onProgress: async () => {}
  })
  clearInterval(timer)
  const grownByArchiveMib = (highest - collected) / MEBIBYTE
  return { ...archive, grownMib: (highest - before) / MEBIBYTE, grownByArchiveMib }
}

async function readPage ({ after }: { after: string | null }) {
  const from = Number(after ?? 0)
  const numbers = Array.from({ length: ROWS_PER_PAGE }, (_, index) => from + index)
  const rows = numbers.map((id) => ({ id, content: 'x'.repeat(200) }))
  const files = numbers.slice(0, IMAGES / (ROWS / ROWS_PER_PAGE)).map(() => `public/${randomUUID()}.webp`)
  const next = from + ROWS_PER_PAGE
  return { things: [{ name: 'posts', rows, files }], next: next < ROWS ? String(next) : null }
}

function* image () {
  const chunk = Buffer.alloc(64 * 1024, 7)
  for (let sent = 0; sent < IMAGE_BYTES; sent += chunk.length) yield chunk
}

async function measure () {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-export-'))
  const exportId = randomUUID()
  try {
    const start = () => fork(import.meta.filename, [folder, exportId], { env: { ...process.env, ...MALLOC } })
    for (let kill = 0; kill < KILLS; kill++) {
      const child = start()
      await sleep(300 + Math.random() * 1_500)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const since = performance.now()
    const result = await resultOf(start())
    const seconds = (performance.now() - since) / 1_000
    console.log(`${(result.bytes / 1e9).toFixed(2)} GB in ${seconds.toFixed(1)} s after ${KILLS} kills`)
    console.log(
      `the process grew by ${result.grownMib.toFixed(0)} MiB, by ${result.grownByArchiveMib.toFixed(0)} in the archive`
    )
    const digest = await download(folder, exportId, result.bytes)
    console.log(`a download in parts has ${digest === result.sha256 ? 'the right' : 'another'} digest`)
    if (result.grownMib > MAX_GROWN_MIB || digest !== result.sha256) process.exitCode = 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function resultOf (child: ChildProcess) {
  const [result] = await once(child, 'message') as [Result]
  return result
}

/** Reads the file in seven parts, as a client does whose connection breaks. */
async function download (folder: string, exportId: string, bytes: number) {
  const hash = createHash('sha256')
  const part = Math.ceil(bytes / 7)
  for (let start = 0; start < bytes; start += part) {
    const range = { start, end: Math.min(start + part, bytes) - 1 }
    for await (const chunk of (await diskStorage(folder).read(archiveKeyOf(exportId), range))!) {
      hash.update(chunk as Buffer)
    }
  }
  return hash.digest('hex')
}
