import t from 'tap'
import { setLimits } from '@tandem/brand-kit/testing'
import { createFilesForm, createPng, pngChunk, testVideo } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { testApp } from './test/app.ts'

// Other tests show the limits of the built-in brand.

const MEBIBYTE = 1024 * 1024
const story = { mediaUrl: 'https://images.example/a.webp', mediaType: 'IMAGE' }

t.test('a brand says how many stories a day has', async (t) => {
  setLimits(t, { storiesPerDay: 2 })
  const { person, post } = await testApp(t)
  const ana = await person('Ana')
  for (const status of [201, 201, 429]) t.equal((await post(ana, '/stories', story)).status, status)
  t.match(await post(ana, '/stories', story), {
    code: 'LIMIT_EXCEEDED',
    error: "You have reached today's limit of stories (2). Try again tomorrow."
  })
})

async function testUploads (t: Parameters<typeof testApp>[0]) {
  const { app, person, post } = await testApp(t)
  const ana = await person('Ana')
  return {
    publish: async (body: object) => await post(ana, '/stories', body),
    begin: async (bytes: number) =>
      (await app.inject({
        method: 'POST',
        url: '/media/uploads',
        headers: { ...bearer(ana), 'upload-length': String(bytes) }
      })).json(),
    upload: async (bytes: Buffer, type: string) => {
      const form = createFilesForm([{ field: 'file', bytes, type }])
      const headers = { ...bearer(ana), ...form.headers }
      return (await app.inject({ method: 'POST', url: '/media', headers, payload: form.payload })).json()
    }
  }
}

t.test('a brand says how long a video is, and how long in a story', async (t) => {
  setLimits(t, { videoSeconds: 600, storyVideoSeconds: 1 })
  const { upload, publish } = await testUploads(t)
  const { data: { media } } = await upload(testVideo('long.mp4'), 'video/mp4')
  t.ok(media.durationSeconds > 60, 'longer than the limit of the built-in brand')
  t.match(await publish({ mediaUrl: media.url, mediaType: 'VIDEO' }), {
    status: 400,
    error: 'The video of a story has at most 1 seconds. Trim it, or publish it as a post'
  })
  t.match(await publish({ mediaUrl: 'https://videos.example/a.mp4', mediaType: 'VIDEO', duration: 2 }), {
    status: 400,
    details: [{ field: 'duration' }]
  })
})

t.test('a brand says how large a video is; an image is not limited by it', async (t) => {
  setLimits(t, { videoMegabytes: 1 })
  const { begin, upload } = await testUploads(t)
  t.match(await begin(MEBIBYTE + 1), {
    code: 'PAYLOAD_TOO_LARGE',
    error: 'The video must not be larger than 1 MB'
  })
  t.match(await begin(MEBIBYTE), { success: true })
  t.match(await upload(Buffer.concat([testVideo('phone.mov'), Buffer.alloc(MEBIBYTE)]), 'video/quicktime'), {
    code: 'PAYLOAD_TOO_LARGE',
    error: 'The video must not be larger than 1 MB'
  })
  const png = createPng(40, 30)
  const ending = png.subarray(-12)
  const image = Buffer.concat([png.subarray(0, -12), pngChunk('teSt', Buffer.alloc(2 * MEBIBYTE)), ending])
  t.match(await upload(image, 'image/png'), { success: true })
})
