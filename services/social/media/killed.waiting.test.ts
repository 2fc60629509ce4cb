// It starts processes and kills them.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { createFilesForm, createLongVideo, createPng } from '@tandem/media-kit/testing'
import { until } from '@tandem/test-kit'
import { runHousekeeping } from '../housekeeping.ts'
import type { Trx } from '../tables.ts'
import { testApp } from '../test/app.ts'
import { markAbandoned } from './videos.ts'

const VIDEO_BYTES = 10_000_000
const PART_BYTES = 4 * 1024 * 1024

t.test('processes killed at any moment of an upload leave no file and no row', async (t) => {
  const { db, deps, folder, person, url } = await testApp(t)
  const ana = await person('Ana')
  const temporary = await mkdtemp(path.join(tmpdir(), 'tandem-killed-'))
  t.teardown(() => rm(temporary, { recursive: true, force: true }))
  await createLongVideo(path.join(temporary, 'long.mp4'), { seconds: 10, bytesPerSecond: VIDEO_BYTES / 10 })
  const video = await readFile(path.join(temporary, 'long.mp4'))
  await rm(path.join(temporary, 'long.mp4'))

  async function start () {
    const child = fork(new URL('../test/uploading-process.ts', import.meta.url), [url, folder, ana], {
      env: { ...process.env, TMPDIR: temporary }
    })
    t.teardown(() => child.kill('SIGKILL'))
    const [{ address, headers: bearer }] = await once(child, 'message') as [{ address: string, headers: object }]
    const request = async (method: string, route: string, headers: object, body: Buffer | null = null) =>
      await fetch(address + route, { method, headers: { ...bearer, ...headers }, body: body && new Uint8Array(body) })
    return {
      request,
      kill: async () => {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    }
  }
  type Request = Awaited<ReturnType<typeof start>>['request']

  async function uploadForm (request: Request) {
    const { headers, payload } = createFilesForm([
      { field: 'poster', bytes: createPng(400, 300), type: 'image/png' },
      { field: 'file', bytes: video, type: 'video/mp4' }
    ])
    return (await request('POST', '/media', headers, payload)).status
  }

  async function uploadParts (request: Request) {
    const begun = await request('POST', '/media/uploads', { 'upload-length': String(video.length) })
    const { data: { upload } } = await begun.json() as { data: { upload: { id: string } } }
    for (let offset = 0; offset < video.length; offset += PART_BYTES) {
      const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) }
      await request('PATCH', `/media/uploads/${upload.id}`, headers, video.subarray(offset, offset + PART_BYTES))
    }
  }

  const listFiles = async (of: string) =>
    (await readdir(of, { recursive: true, withFileTypes: true })).filter((each) => each.isFile())
      .map((each) => path.join(each.parentPath, each.name))
  const hasFile = async (of: string, pattern: RegExp) => (await listFiles(of)).some((file) => pattern.test(file))
  /** The lock keeps what is being stored from being finished before the process is killed. */
  const isStoring = async (transaction: Trx) => {
    const storing = transaction.selectFrom('media').where('storing_until', '>', sql<Date>`now()`).select('key')
    return (await storing.forUpdate().execute()).length > 0
  }
  const hasPoster = async () => await hasFile(folder, /public.*\.webp$/)

  const moments: [string, (request: Request) => Promise<unknown>, (transaction: Trx) => Promise<boolean>][] = [
    ['while it arrives', uploadForm, async () => await hasFile(temporary, /tandem-upload/)],
    ['while it is processed', uploadForm, isStoring],
    ['between its poster and its file', uploadForm, async (held) => await isStoring(held) && await hasPoster()],
    ['between two parts', uploadParts, async () => await hasFile(folder, /uploads/)],
    ['while its parts are joined and stored', uploadParts, isStoring]
  ]
  for (const [moment, upload, isReached] of moments) {
    const { request, kill } = await start()
    const uploading = upload(request).then(() => 'done', () => 'interrupted')
    await db.transaction().execute(async (transaction) => {
      await until(async () => await isReached(transaction))
      await kill()
      // As if its lease had ended.
      await sql`update media set storing_until = now() - interval '1 second' where storing_until is not null`
        .execute(transaction)
      await markAbandoned(transaction)
    })
    t.equal(await uploading, moment.includes('parts are') ? 'done' : 'interrupted', moment)
  }
  t.ok((await listFiles(folder)).length > 0)
  t.ok((await listFiles(temporary)).length > 0)

  await sql`update media_uploads set expires_at = now() - interval '1 second'`.execute(db)
  await runHousekeeping(deps)
  // What was being written is swept when it is ten minutes old, by any process that starts.
  const remaining = async () => [...await listFiles(folder), ...await listFiles(temporary)]
  const old = new Date(Date.now() - 11 * 60_000)
  for (const file of await remaining()) if (/unfinished|tandem-upload/.test(file)) await utimes(file, old, old)
  await start()
  await until(async () => (await remaining()).length === 0)
  await sql`update media set deleted_at = now() - interval '31 days' where deleted_at is not null`.execute(db)
  await runHousekeeping(deps)
  t.same(await db.selectFrom('media').select('key').execute(), [])
  t.same(await db.selectFrom('media_uploads').select('id').execute(), [])
})
