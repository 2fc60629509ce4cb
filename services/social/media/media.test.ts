import { randomUUID } from 'node:crypto'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import t from 'tap'
import { bearer } from '@tandem/service-kit/testing'
import { testApp } from '../testing.ts'

function chunk (type: string, content: Buffer) {
  const body = Buffer.concat([Buffer.from(type), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** A grey PNG. */
function png (width: number, height: number) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header),
    chunk('tEXt', Buffer.from('Comment\0taken at home')), chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))), chunk('IEND', Buffer.alloc(0))
  ])
}

function form (bytes: Buffer, { field = 'file', type = 'image/png', name = '../../etc/a.png' } = {}) {
  const boundary = 'x-boundary-x'
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    payload: Buffer.concat([
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`)
    ])
  }
}

t.test('media', async (t) => {
  const { app, db, folder, post, del, person } = await testApp(t)
  const ana = await person('Ana')
  const upload = async ({ headers, payload }: ReturnType<typeof form>, more: Record<string, string> = {}) => {
    const response = await app.inject({ method: 'POST', url: '/media', headers: { ...bearer(ana), ...headers, ...more }, payload })
    return { status: response.statusCode, ...response.json() }
  }
  const isKept = (key: string) => access(path.join(folder, key)).then(() => true, () => false)

  t.test('an image is made anew, kept, and can be shown', async (t) => {
    const { status, data } = await upload(form(png(2_000, 500)))
    t.equal(status, 200)
    t.same(Object.keys(data.media).sort(), ['bytes', 'height', 'key', 'mimeType', 'url', 'width'])
    t.match(data.media, { url: `https://cdn.example.com/${data.media.key}`, mimeType: 'image/webp', width: 1_600, height: 400 })
    t.match(data.media.key, new RegExp(`^social/${ana}/[0-9a-f-]{36}\\.webp$`))
    t.ok(await isKept(data.media.key))
  })

  t.test('what is no such image is refused', async (t) => {
    t.match(await upload(form(Buffer.from('<svg/>'), { type: 'image/svg+xml' })), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    t.match(await upload(form(png(2, 2), { type: 'image/jpeg' })), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    t.match(await upload(form(png(2, 2), { field: 'photo' })), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await upload(form(Buffer.concat([png(2, 2), Buffer.alloc(5 * 1024 * 1024)]))), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
    t.match(await post(ana, '/media', {}), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  })

  t.test('sent again under a key it is kept once', async (t) => {
    const key = { 'idempotency-key': randomUUID() }
    const first = await upload(form(png(3, 3)), key)
    t.same(await upload(form(png(3, 3)), key), first)
    t.match(await upload(form(png(4, 3)), key), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
  })

  t.test('the image of a deleted story goes too, unless something else shows it', async (t) => {
    const make = async () => (await upload(form(png(5, 5)))).data.media
    const story = async (mediaUrl: string) => (await post(ana, '/stories', { mediaUrl, mediaType: 'IMAGE' })).data.story.id
    const [only, shared] = [await make(), await make()]
    await del(ana, `/stories/${await story(only.url)}`)
    t.notOk(await isKept(only.key))
    await post(ana, '/feed', { type: 'IMAGE', mediaUrls: [shared.url] })
    await del(ana, `/stories/${await story(shared.url)}`)
    t.ok(await isKept(shared.key))

    const ben = await person('Ben')
    const own = await make()
    await del(ben, `/stories/${(await post(ben, '/stories', { mediaUrl: own.url, mediaType: 'IMAGE' })).data.story.id}`)
    t.ok(await isKept(own.key), 'another\'s image is not deleted by showing it')
    t.equal((await db.selectFrom('media').select('key').where('key', '=', own.key).execute()).length, 1)
  })
})
