import { randomUUID } from 'node:crypto'
import { access } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { formWith, somePng } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/service-kit/testing'
import { testApp } from '../testing.ts'

t.test('media', async (t) => {
  const { app, db, folder, post, del, person } = await testApp(t)
  const ana = await person('Ana')
  const upload = async ({ headers, payload }: ReturnType<typeof formWith>, more: Record<string, string> = {}) => {
    const response = await app.inject({ method: 'POST', url: '/media', headers: { ...bearer(ana), ...headers, ...more }, payload })
    return { status: response.statusCode, ...response.json() }
  }
  const isKept = (key: string) => access(path.join(folder, key)).then(() => true, () => false)

  t.test('an image is made anew, kept, and can be shown', async (t) => {
    const { status, data } = await upload(formWith(somePng(2_000, 500)))
    t.equal(status, 200)
    t.same(Object.keys(data.media).sort(), ['bytes', 'height', 'key', 'mimeType', 'url', 'width'])
    t.match(data.media, { url: `https://cdn.example.com/${data.media.key}`, mimeType: 'image/webp', width: 1_600, height: 400 })
    t.match(data.media.key, new RegExp(`^social/${ana}/[0-9a-f-]{36}\\.webp$`))
    t.ok(await isKept(data.media.key))
  })

  t.test('what is no such image is refused', async (t) => {
    t.match(await upload(formWith(Buffer.from('<svg/>'), { type: 'image/svg+xml' })), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    t.match(await upload(formWith(somePng(2, 2), { type: 'image/jpeg' })), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    t.match(await upload(formWith(somePng(2, 2), { field: 'photo' })), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await upload(formWith(Buffer.concat([somePng(2, 2), Buffer.alloc(5 * 1024 * 1024)]))), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
    t.match(await post(ana, '/media', {}), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  })

  t.test('sent again under a key it is kept once', async (t) => {
    const key = { 'idempotency-key': randomUUID() }
    const first = await upload(formWith(somePng(3, 3)), key)
    t.same(await upload(formWith(somePng(3, 3)), key), first)
    t.match(await upload(formWith(somePng(4, 3)), key), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
  })

  t.test('the image of a deleted story goes too, unless something else shows it', async (t) => {
    const make = async () => (await upload(formWith(somePng(5, 5)))).data.media
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
