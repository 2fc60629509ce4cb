import t from 'tap'
import { createTandem, TandemError, uploadOf, uploadVideo } from './index.ts'

const PART = 1024 * 1024
const media = { key: 'k', mediaType: 'VIDEO', url: 'http://tandem.example/v.mp4' }

/**
 * A server that keeps what arrives, and loses the response of every part whose number is in `lost`. The next requests
 * after these, or after the last part if there are none, do not arrive, as many as `outage` says.
 */
function receiving ({ lost = [], refused, outage = 0 }: { lost?: number[], refused?: number, outage?: number }) {
  const parts: number[] = []
  let received = 0
  let size = 0
  let metadata = ''
  let polls = 0
  const tandem = createTandem({
    url: 'http://tandem.example',
    retries: { attempts: 1 },
    fetch: async (request) => {
      const { method, headers } = request
      request.signal.throwIfAborted()
      const upload = () => ({ upload: { id: 'u', offset: received, size, expiresAt: '2026-11-27T10:00:00Z' } })
      if (method === 'POST') {
        size = Number(headers.get('upload-length'))
        metadata = headers.get('upload-metadata') ?? ''
        return Response.json({ success: true, data: upload() }, { status: 201 })
      }
      if (method === 'GET') {
        if (outage-- > 0) throw new TypeError('the server cannot be reached')
        if (received < size || polls++ === 0) return Response.json({ success: true, data: upload() }, { status: 202 })
        return Response.json({ success: true, data: { media } })
      }
      if (refused !== undefined) {
        return Response.json({ success: false, error: 'A sentence', code: 'REFUSED' }, { status: refused })
      }
      if (Number(headers.get('upload-offset')) !== received) throw new Error('a part is sent twice')
      received += (await request.arrayBuffer()).byteLength
      if (lost.includes(parts.push(received))) throw new TypeError('the connection is lost')
      return new Response(null, { status: 204 })
    }
  })
  return { tandem, parts, metadata: () => metadata }
}

t.test('a video goes in parts, goes on where it has arrived, and waits until it is processed', async (t) => {
  const { tandem, parts, metadata } = receiving({ lost: [2] })
  const progress: number[] = []
  const file = new Blob([new Uint8Array(2.5 * PART)], { type: 'video/mp4' })
  const uploaded = await uploadVideo(tandem, file, { poster: 'p', onProgress: (share) => progress.push(share) })
  t.match(uploaded, media)
  t.same(parts, [PART, 2 * PART, 2.5 * PART])
  t.same(progress, [0.4, 0.8, 1])
  t.equal(metadata(), `filetype ${btoa('video/mp4')},poster ${btoa('p')}`)
})

t.test('an upload outlasts an outage in which it is tried four times, while it sends and while it waits, and no longer one', async (t) => {
  const { setTimeout } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (work: () => void, delayMs: number) => setTimeout(work, delayMs / 100)
  })
  const file = new Blob([new Uint8Array(2.5 * PART)], { type: 'video/mp4' })
  t.match(await uploadVideo(receiving({ lost: [2], outage: 3 }).tandem, file), media, 'the lost part is the first')
  t.match(await uploadVideo(receiving({ outage: 4 }).tandem, file), media)
  for (const outage of [{ lost: [2], outage: 4 }, { outage: 5 }]) {
    const error = await uploadVideo(receiving(outage).tandem, file).catch((error: unknown) => error)
    t.match(error, { status: 0, code: 'NETWORK_ERROR' })
  }
})

t.test('files and long texts have the time of an upload, other requests have not', async (t) => {
  const { setTimeout } = globalThis
  let delaysMs: number[] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (work: () => void, delayMs: number) => {
      delaysMs.push(delayMs)
      return setTimeout(work, delayMs)
    }
  })
  const timeouts = () => {
    const found = delaysMs.filter((each) => each >= 30_000)
    delaysMs = []
    return found
  }
  const { tandem, parts } = receiving({})
  t.match(await uploadVideo(tandem, new Blob(['frames'], { type: 'video/mp4' })), media)
  t.equal(parts.length, 1)
  t.equal(timeouts().filter((each) => each === 15 * 60_000).length, 1, 'a part')
  await tandem.uploadMedia(uploadOf(new File(['pixels'], 'a.png', { type: 'image/png' })))
  t.same(timeouts(), [15 * 60_000], 'a form')
  const send = async (base64: string) =>
    await tandem.sendMessage({
      path: { matchId: 'm' },
      body: { content: 'Hi', image: { base64, mimeType: 'image/png' } }
    })
  await send('a'.repeat(100_000))
  t.same(timeouts(), [15 * 60_000], 'an image of a chat')
  await send('a')
  await tandem.listFeed()
  await tandem.likePost({ path: { id: 'p' } })
  t.same(timeouts(), [30_000, 30_000, 30_000], 'a short text, a read and an empty body')
})

t.test('an upload can be stopped, while it sends and while it waits', async (t) => {
  const file = new Blob([new Uint8Array(2.5 * PART)], { type: 'video/mp4' })
  const stop = async (share: number, afterMs: number) => {
    const { tandem, parts } = receiving({})
    const controller = new AbortController()
    const { signal } = controller
    const abort = () => controller.abort()
    const onProgress = (arrived: number) => {
      if (arrived === share && afterMs === 0) abort()
      else if (arrived === share) setTimeout(abort, afterMs)
    }
    const error = await uploadVideo(tandem, file, { onProgress, signal }).catch((error: unknown) => error)
    t.match(error, { code: 'ABORTED' })
    return parts
  }
  t.same(await stop(0.4, 0), [PART], 'nothing is sent after it')
  t.same(await stop(1, 100), [PART, 2 * PART, 2.5 * PART], 'it does not wait for the next poll')
})

t.test('a part that is refused is not sent again', async (t) => {
  const { tandem } = receiving({ refused: 413 })
  const error = await uploadVideo(tandem, new Blob(['frames'], { type: 'video/mp4' })).catch((error: unknown) => error)
  t.ok(error instanceof TandemError)
  t.match(error, { status: 413 })
})
