import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { createServer } from '@tandem/http-kit'
import { silentLog, testKeys } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import t, { type Test } from 'tap'
import {
  MAX_FILE_BYTES,
  readImage,
  UPLOAD_BODY_LIMIT,
  multipartUploads,
  VIDEO_BODY_LIMIT,
  withUpload
} from './uploads.ts'
import { createFilesForm, createForm, createPng, startUploadServer, testVideo } from './testing.ts'

const tempFolder = tmpdir()

/** Creates a server that takes uploads, with its own folder for temporary files. */
async function server (t: Test) {
  const folder = await mkdtemp(path.join(tempFolder, 'tandem-uploads-'))
  process.env['TMPDIR'] = folder
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys })
  t.teardown(() => app.close())
  await app.register(async (app) => {
    await app.register(multipartUploads)
    app.post(
      '/photos',
      { bodyLimit: UPLOAD_BODY_LIMIT, config: { public: true } },
      async (request, reply) => {
        const { width, height } = await readImage(request, reply, 'file', randomUUID())
        return { width, height }
      }
    )
    app.post(
      '/media',
      { bodyLimit: VIDEO_BODY_LIMIT, config: { public: true } },
      async (request) =>
        await withUpload(
          request,
          { maxVideoMegabytes: 1 },
          async ({ file: { isVideo, bytes } }) => ({ isVideo, bytes })
        )
    )
  })
  const send = async ({ headers, payload }: { headers: object, payload: Buffer | string }) => {
    const response = await app.inject({
      method: 'POST',
      url: '/photos',
      headers: headers as Record<string, string>,
      payload
    })
    return { status: response.statusCode, ...response.json() }
  }
  return { app, send, listFiles: () => readdir(folder) }
}

/** Creates a PNG of exactly `length` bytes; decoders ignore what follows its end. */
const ofLength = (length: number) => Buffer.concat([createPng(), Buffer.alloc(length - createPng().length)])

t.test('the file in the named field is read, whatever else the form contains', async (t) => {
  const { send, listFiles } = await server(t)
  t.same(await send(createForm(createPng(3, 2))), { status: 200, width: 3, height: 2 })
  const field = '--form\r\ncontent-disposition: form-data; name="note"\r\n\r\nhello\r\n'
  t.same(await send(createForm(createPng(3, 2), { before: field })), { status: 200, width: 3, height: 2 })
  t.same(await send(createForm(createPng(3, 2), { after: `\r\n${field}`, end: '--form--\r\n' })), {
    status: 200,
    width: 3,
    height: 2
  })
  t.same(await listFiles(), [])
})

t.test('a file has at most five megabytes', async (t) => {
  const { send, listFiles } = await server(t)
  t.equal(MAX_FILE_BYTES, 5 * 1024 * 1024)
  t.match(await send(createForm(ofLength(MAX_FILE_BYTES))), { status: 200 })
  t.match(await send(createForm(ofLength(MAX_FILE_BYTES + 1))), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
  t.match(await send(createForm(ofLength(MAX_FILE_BYTES * 2))), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
  t.match(await send(createForm(ofLength(MAX_FILE_BYTES + 1), { field: 'other' })), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
  t.same(await listFiles(), [])
})

t.test('anything but a form with an image is rejected and leaves no file', async (t) => {
  const { send, listFiles } = await server(t)
  const multipart = { 'content-type': 'multipart/form-data; boundary=form' }
  const cases: [number, Parameters<typeof send>[0]][] = [
    [400, createForm(createPng(), { field: 'photo' })],
    [415, createForm(createPng(), { type: 'image/jpeg' })],
    [415, createForm(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), { type: 'image/svg+xml' })],
    [415, createForm(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), { type: 'image/png' })],
    [415, createForm(Buffer.alloc(0))],
    [413, createForm(createPng(16_000, 16_000))],
    [400, createForm(createPng(40, 40).subarray(0, 70))],
    [400, createForm(createPng(), { end: '' })],
    [400, createForm(createPng().subarray(0, 20), { end: '' })],
    [400, { headers: multipart, payload: '' }],
    [400, { headers: multipart, payload: 'nonsense' }],
    [400, { headers: multipart, payload: '--form--\r\n' }],
    [400, {
      headers: multipart,
      payload: '--form\r\ncontent-disposition: form-data; name="file"\r\n\r\nno file\r\n--form--\r\n'
    }],
    [400, {
      headers: multipart,
      payload: '--form\r\ncontent-disposition: form-data; name="__proto__"\r\n\r\nx\r\n--form--\r\n'
    }],
    [400, { headers: { 'content-type': 'multipart/form-data' }, payload: createForm(createPng()).payload }],
    [415, { headers: { 'content-type': 'application/json' }, payload: '{}' }],
    [415, { headers: { 'content-type': 'image/png' }, payload: createPng() }]
  ]
  for (const [index, [status, form]] of cases.entries()) {
    const { error, code, details, ...answer } = await send(form)
    t.same({ ...answer, is: typeof error }, { status, success: false, is: 'string' }, `${index}: ${code} ${error}`)
    if (details) t.match(details, [{ field: 'file' }])
  }
  t.match(await send(createForm(createPng(), { field: 'photo' })), { details: [{ field: 'file' }] })
  t.same(await listFiles(), [])
})

t.test('a connection stays usable after a form that was not read to its end, and clients may disconnect midway', async (t) => {
  const { app, listFiles } = await server(t)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const tail = Buffer.alloc(60_000, 'x').toString()
  for (let turn = 0; turn < 3; turn++) {
    const { headers, payload } = createForm(createPng(3, 2), {
      after: `\r\n--form\r\ncontent-disposition: form-data; name="tail"\r\n\r\n${tail}`
    })
    t.same(
      await (await fetch(`${address}/photos`, { method: 'POST', headers, body: new Uint8Array(payload) })).json(),
      { width: 3, height: 2 }
    )
  }

  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write(
    'POST /photos HTTP/1.1\r\nhost: a\r\ncontent-type: multipart/form-data; boundary=form\r\ncontent-length: 4000000\r\n\r\n'
  )
  socket.write(createForm(ofLength(1_000_000), { end: '' }).payload)
  await until(async () => (await listFiles()).length === 1)
  socket.destroy()
  await until(async () => (await listFiles()).length === 0)
  t.equal((await app.inject('/health/live')).statusCode, 200)
})

t.test('a video without a type is recognized, however few of its bytes arrive first', async (t) => {
  const { app, listFiles } = await server(t)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const video = testVideo()
  const { headers, payload } = createForm(video, { type: 'application/octet-stream' })
  for (const firstBytes of [1, 7, 8]) {
    const sending = request(`${address}/media`, { method: 'POST', headers })
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>
    const end = payload.indexOf(video) + firstBytes
    sending.write(payload.subarray(0, end))
    await until(async () => (await listFiles()).length === 1)
    sending.end(payload.subarray(end))
    const [answer] = await answered
    t.same(await json(answer), { isVideo: true, bytes: video.length }, `${firstBytes} bytes`)
  }
  const files = [video, createPng()].map((bytes) => ({ field: 'file', bytes, type: 'application/octet-stream' }))
  files[1]!.field = 'poster'
  for (const each of [files, files.toReversed()]) {
    const form = createFilesForm(each)
    t.match((await app.inject({ method: 'POST', url: '/media', ...form })).json(), { isVideo: true })
  }
})

t.test('twenty parallel uploads of five megabytes are held on disk, not in memory', async (t) => {
  const { address, folder, ask } = await startUploadServer(t)
  const held = async () => await ask('held') / 1024 ** 2
  const onDisk = async () => {
    const files = (await readdir(folder)).filter((name) => name.startsWith('tandem-upload-'))
    return (await Promise.all(files.map(async (name) => (await stat(path.join(folder, name))).size))).reduce(
      (sum, size) => sum + size,
      0
    ) / 1024 ** 2
  }
  const { headers, payload } = createForm(ofLength(MAX_FILE_BYTES))
  // All but the last bytes of each, so that all twenty are in progress when memory is measured.
  const startUpload = () => {
    const sending = request(address, { method: 'POST', headers: { ...headers, 'content-length': payload.length } })
    sending.write(payload.subarray(0, -100))
    return sending
  }
  const finishUpload = async (sending: ClientRequest) => {
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>
    sending.end(payload.subarray(-100))
    const [answer] = await answered
    answer.resume()
    return answer.statusCode
  }

  t.equal(await finishUpload(startUpload()), 200)
  const before = await held()
  const uploadsInProgress = Array.from({ length: 20 }, startUpload)
  // A hundred megabytes have arrived.
  await until(async () => await onDisk() >= 98)
  const during = await held()
  t.ok(during - before < 20, `${before.toFixed()} MB before, ${during.toFixed()} MB with twenty uploads in progress`)

  t.same(await Promise.all(uploadsInProgress.map(finishUpload)), Array(20).fill(200))
  const after = await held()
  t.ok(after - before < 20, `${before.toFixed()} MB before, ${after.toFixed()} MB after`)
  t.equal(await onDisk(), 0)
})
