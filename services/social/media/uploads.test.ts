import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { Upload } from 'tus-js-client'
import { beginUpload } from '@tandem/media-kit'
import { createForm, createPng, testVideo } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import { runHousekeeping } from '../housekeeping.ts'
import { UploadNotFound } from '../errors.ts'
import { testApp } from '../test/app.ts'
import { storePart } from './uploads.ts'

const PART_TYPE = 'application/offset+octet-stream'

async function start (t: Test) {
  const test = await testApp(t)
  const { app, folder, get } = test
  await app.listen({ host: '127.0.0.1', port: 0 })
  const endpoint = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/media/uploads`
  const ana = await test.person('Ana')
  const send = async (
    method: 'POST' | 'HEAD' | 'PATCH' | 'DELETE' | 'GET',
    path = '',
    { headers = {}, payload, who = ana }: { headers?: Record<string, string>, payload?: Buffer, who?: string } = {}
  ) => await app.inject({ method, url: `/media/uploads${path}`, headers: { ...bearer(who), ...headers }, payload })
  return {
    ...test,
    ana,
    endpoint,
    send,
    /** Begins an upload and returns its id. */
    begin: async (bytes: number) => {
      const response = await send('POST', '', { headers: { 'upload-length': String(bytes) } })
      t.equal(response.statusCode, 201, response.body)
      return response.json().data.upload.id as string
    },
    sendPart: async (id: string, offset: number, payload: Buffer, who = ana) =>
      await send('PATCH', `/${id}`, {
        who,
        payload,
        headers: { 'content-type': PART_TYPE, 'upload-offset': String(offset) }
      }),
    finished: async (id: string, who = ana) => {
      await until(async () => (await get(who, `/media/uploads/${id}`)).status !== 202)
      return await get(who, `/media/uploads/${id}`)
    },
    files: async () =>
      (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile()).length
  }
}

t.test('a client of the protocol sends a video in parts, over a connection that breaks off', async (t) => {
  const { ana, app, endpoint, files, finished, folder, post } = await start(t)
  let parts = 0
  app.server.prependListener('request', (request) => {
    // The second part arrives, and its response gets lost.
    if (request.method === 'PATCH' && ++parts === 2) request.once('end', () => request.socket.destroy())
  })
  const upload = new Upload(testVideo(), {
    endpoint,
    chunkSize: 10_000,
    retryDelays: [10, 10],
    headers: bearer(ana),
    metadata: { filetype: 'video/quicktime', filename: 'holiday.mov' }
  })
  await new Promise<void>((resolve, reject) => {
    upload.options.onSuccess = () => resolve()
    upload.options.onError = reject
    upload.start()
  })
  const id = upload.url?.split('/').at(-1) ?? ''
  t.match(upload.url, /\/media\/uploads\/[0-9a-f-]{36}$/)
  t.ok(parts >= 3)
  const { status, data } = await finished(id)
  t.equal(status, 200)
  t.match(data.media, { type: 'VIDEO', mediaType: 'VIDEO', width: 320, durationSeconds: 2, mimeType: 'video/mp4' })
  // Its parts are deleted after the video is there.
  await until(async () => await files() === 1)
  t.same(await readdir(path.join(folder, 'private/uploads')), [], 'and so is their folder')
  t.equal((await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [data.media.url] })).status, 201)
})

t.test('the poster is an image that was uploaded before, and of the same account', async (t) => {
  const { ana, app, finished, person, send, sendPart } = await start(t)
  const ben = await person('Ben')
  const uploadImage = async (who: string) => {
    const { headers, payload } = createForm(createPng(400, 300))
    const response = await app.inject({
      method: 'POST',
      url: '/media',
      headers: { ...bearer(who), ...headers },
      payload
    })
    return response.json().data.media.key as string
  }
  const video = testVideo()
  const begin = async (poster: string) => {
    const metadata = `filetype ${btoa('video/quicktime')},poster ${btoa(poster)}`
    return await send('POST', '', { headers: { 'upload-length': String(video.length), 'upload-metadata': metadata } })
  }
  const image = await uploadImage(ana)
  const { id } = (await begin(image)).json().data.upload
  await sendPart(id, 0, video)
  t.match((await finished(id)).data.media, {
    type: 'VIDEO',
    posterUrl: /webp$/,
    thumbnails: [{ width: 160 }, { width: 320 }]
  })
  const others = [await uploadImage(ben), `public/${randomUUID()}.webp`, `public/${randomUUID()}.mp4`, 'a\u0000b', '']
  for (const poster of others) {
    t.match((await begin(poster)).json(), { code: 'VALIDATION_ERROR', error: /^poster/ }, poster)
  }
})

t.test('where an upload has arrived is known, and of two parts for one place one counts', async (t) => {
  const { begin, send, sendPart, finished, files } = await start(t)
  const video = testVideo()
  const id = await begin(video.length)
  const where = async () => {
    const { statusCode, headers } = await send('HEAD', `/${id}`)
    return [statusCode, headers['upload-offset'], headers['upload-length'], headers['tus-resumable']]
  }
  t.same(await where(), [200, '0', String(video.length), '1.0.0'])
  for (const type of ['application/json', 'video/mp4', `${PART_TYPE}+json`]) {
    const headers = { 'content-type': type, 'upload-offset': '0' }
    t.match(await send('PATCH', `/${id}`, { headers, payload: video.subarray(0, 9) }), { statusCode: 415 }, type)
  }
  const both = await Promise.all([sendPart(id, 0, video.subarray(0, 9_000)), sendPart(id, 0, video.subarray(0, 8_000))])
  t.same(both.map(({ statusCode }) => String(statusCode)).sort(), ['204', '409'])
  const first = both.find(({ statusCode }) => statusCode === 204)
  const offset = Number(first?.headers['upload-offset'])
  t.match(first?.headers['upload-expires'], / GMT$/)
  t.same(await where(), [200, String(offset), String(video.length), '1.0.0'])
  t.match((await sendPart(id, 0, video)).json(), { code: 'UPLOAD_OFFSET', error: new RegExp(String(offset)) })
  t.match((await sendPart(id, offset, video)).json(), { code: 'VALIDATION_ERROR', error: /longer/ })
  t.match((await send('GET', `/${id}`)).json(), { data: { upload: { id, size: video.length, offset } } })
  t.equal(await files(), 1, 'what does not count is not kept')
  t.equal((await sendPart(id, offset, video.subarray(offset))).statusCode, 204)
  t.equal((await finished(id)).status, 200)
})

t.test('a part that counts, although the answer of Postgres is lost, is kept', async (t) => {
  const { ana, begin, deps, finished, send } = await start(t)
  const video = testVideo()
  const id = await begin(video.length)
  const losing = deps.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult ({ result }) {
      if (result.numAffectedRows !== undefined) throw new Error('the connection broke')
      return result
    }
  })
  const chunks = (async function* () {
    yield video
  })()
  const storing = storePart({ ...deps, db: losing }, { id, accountId: ana, offset: 0, chunks })
  await t.rejects(storing, { message: 'the connection broke' })
  t.equal((await send('HEAD', `/${id}`)).headers['upload-offset'], String(video.length))
  t.equal((await finished(id)).status, 200)
})

t.test('an upload belongs to its account, ends when it is deleted or a day old, and is limited', async (t) => {
  const { begin, db, deps, person, send, sendPart, files } = await start(t)
  const ben = await person('Ben')
  const [id, other] = [await begin(20_000), await begin(20_000)]
  await sendPart(id, 0, Buffer.alloc(5_000))
  await sendPart(other, 0, Buffer.alloc(5_000))
  for (const method of ['HEAD', 'GET', 'DELETE'] as const) {
    t.equal((await send(method, `/${id}`, { who: ben })).statusCode, 404, method)
  }
  t.equal((await sendPart(id, 5_000, Buffer.alloc(1), ben)).statusCode, 404)
  t.equal((await send('GET', `/${randomUUID()}`)).statusCode, 404)
  t.equal((await send('DELETE', `/${id}`)).statusCode, 204)
  t.equal((await send('HEAD', `/${id}`)).statusCode, 404)
  t.equal(await files(), 1)
  await sql`update media_uploads set expires_at = now() - interval '1 second'`.execute(db)
  t.equal((await sendPart(other, 5_000, Buffer.alloc(1))).statusCode, 404)
  await runHousekeeping(deps)
  t.equal(await files(), 0)
  const length = (bytes: number, more = {}) => ({ headers: { 'upload-length': String(bytes), ...more } })
  t.equal((await send('POST', '', length(51 * 1024 * 1024))).statusCode, 413)
  t.equal((await send('POST', '', length(0))).statusCode, 400)
  t.equal((await send('POST', '')).statusCode, 400)
  const webm = { 'upload-metadata': `filetype ${Buffer.from('video/webm').toString('base64')}` }
  t.equal((await send('POST', '', length(1_000, webm))).statusCode, 415)
  for (let counted = 0; counted < 9; counted++) await begin(50 * 1024 * 1024)
  t.match(await send('POST', '', length(50 * 1024 * 1024)), { statusCode: 429 }, '500 MB a day')
})

t.test('a part that arrives while its upload is deleted leaves no file', async (t) => {
  const { ana, begin, deps, files, send } = await start(t)
  const id = await begin(20_000)
  const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const chunks = (async function* () {
    begun.resolve()
    await goesOn.promise
    yield Buffer.alloc(5_000)
  })()
  const refused = t.rejects(storePart(deps, { id, accountId: ana, offset: 0, chunks }), new UploadNotFound())
  await begun.promise
  // It lists the files of the upload, which has none yet.
  deps.uploadParts.remove = async () => {
    goesOn.resolve()
    await refused
  }
  t.equal((await send('DELETE', `/${id}`)).statusCode, 204)
  t.equal(await files(), 0)
})

t.test('all uploads of yesterday are deleted at once, and of small ones an account begins hundreds', async (t) => {
  const { ana, begin, db, deps, send } = await start(t)
  await begin(1)
  const left = async () => (await db.selectFrom('media_uploads').select('id').execute()).length
  await sql`
    insert into media_uploads (account_id, mime_type, bytes, expires_at)
    select ${ana}, 'video/mp4', 1, now() - interval '1 second' from generate_series(1, 100)`.execute(db)
  t.equal(await left(), 101)
  await runHousekeeping(deps)
  t.equal(await left(), 1)
  await sql`update daily_quotas set used = 500 * 1024 * 1024 - 1 where name = 'video bytes'`.execute(db)
  t.equal((await send('POST', '', { headers: { 'upload-length': '1' } })).statusCode, 429)
})

t.test('a refused video says so when it is asked for, and keeps nothing', async (t) => {
  const { begin, sendPart, finished, files } = await start(t)
  const video = testVideo('hevc.mov')
  const id = await begin(video.length)
  await sendPart(id, 0, video)
  t.match(await finished(id), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', error: /HEVC/ })
  // The answer is there before the parts are gone.
  await until(async () => await files() === 0)
})

t.test('what a killed process did not finish, the next question starts again', async (t) => {
  const { ana, begin, db, get, sendPart, finished } = await start(t)
  const video = testVideo()
  const id = await begin(video.length)
  const lease = async (minutes: number) =>
    await sql`update media_uploads set processing_until = now() + make_interval(mins => ${minutes})`.execute(db)
  await lease(3)
  await sendPart(id, 0, video)
  t.equal((await get(ana, `/media/uploads/${id}`)).status, 202, 'the other process may still work')
  await lease(-3)
  t.equal((await finished(id)).status, 200)
})

t.test('a processing that fails is repeated for a later question, not for every one', async (t) => {
  const { ana, begin, db, deps, finished, get, sendPart } = await start(t)
  const { storeVideo } = deps.media
  let attempts = 0
  deps.media.storeVideo = async () => {
    attempts++
    throw new Error('the storage broke')
  }
  const video = testVideo()
  const id = await begin(video.length)
  await sendPart(id, 0, video)
  const readUntil = async () =>
    (await db.selectFrom('media_uploads').select('processing_until').executeTakeFirstOrThrow()).processing_until!
  await until(async () => attempts === 1 && (await readUntil()).getTime() < Date.now() + 60_000)
  const processingUntil = await readUntil()
  for (let question = 0; question < 5; question++) {
    t.equal((await get(ana, `/media/uploads/${id}`)).status, 202)
  }
  t.strictSame(await readUntil(), processingUntil, 'nobody has claimed it again')
  deps.media.storeVideo = storeVideo
  t.equal((await finished(id)).status, 200, 'after ten seconds')
})

t.test('a video in parts waits while the disk of the process is full of others', async (t) => {
  const { ana, begin, db, finished, get, sendPart } = await start(t)
  const disk = beginUpload(50)
  const chunk = Buffer.alloc(50 * 1024 * 1024)
  for await (const _ of disk.count(Readable.from(Array(36).fill(chunk))));
  const video = testVideo()
  const id = await begin(video.length)
  await sendPart(id, 0, video)
  const failed = async () =>
    (await sql`select from media_uploads where processing_until < now() + interval '1 minute'`.execute(db)).rows.length
  await until(async () => await failed() === 1)
  t.equal((await get(ana, `/media/uploads/${id}`)).status, 202)
  disk.free()
  await sql`update media_uploads set processing_until = now() - interval '1 second'`.execute(db)
  t.equal((await finished(id)).status, 200)
})

t.test('an erasure takes the parts', async (t) => {
  const { ana, begin, db, deps, files, sendPart } = await start(t)
  await sendPart(await begin(20_000), 0, Buffer.alloc(5_000))
  t.equal(await files(), 1)
  await db.insertInto('departures').values({ account_id: ana, erasure_id: randomUUID() }).execute()
  await deps.erasure.eraseDue()
  t.equal(await files(), 0)
})
