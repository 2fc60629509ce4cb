import { access, readdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { MatchFacts, People, PersonChanged } from '@tandem/contracts'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { createForm } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { testApp } from '../test/app.ts'
import { deleteMarked, markUnusedForDeletion } from './actions.ts'

const { app, db, deps, events, folder, givenPerson, callRpc, post, put, get } = await testApp(t, { onlyOwnMedia: true })
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)

async function upload (account: string, bytes: Buffer, { type = 'image/png', field = 'file' } = {}) {
  const { headers, payload } = createForm(bytes, { type, field, name: '../../me.png' })
  const response = await app.inject({
    method: 'POST',
    url: '/onboarding/upload-photo',
    headers: { ...bearer(account), ...headers },
    payload
  })
  return { status: response.statusCode, ...response.json() }
}
const stored = async () => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.webp')).length
const isStored = async (key: string) => await access(path.join(folder, key)).then(() => true, () => false)

t.test('an uploaded photo can be used in the profile and becomes the avatar', async (t) => {
  const ana = await givenPerson('Ana')
  const { status, data } = await upload(ana, pixel)
  t.equal(status, 200)
  t.match(data, { width: Number, height: Number, blurhash: String, thumbnails: Array })
  t.match(data, { url: `https://cdn.example.com/${data.key}`, key: /^public\/[0-9a-f-]{36}\.webp$/ })
  t.equal((await post(ana, '/onboarding/save-profile', { photos: [data.url] })).status, 200)
  t.equal((await get(ana, '/profile')).data.profile.image, data.url)
  const { width, height, blurhash, thumbnails } = data
  t.strictSame((await get(ana, '/profile')).data.profile.picture, {
    type: 'IMAGE',
    url: data.url,
    width,
    height,
    blurhash,
    thumbnails
  })
  const details = { width, height, blurhash }
  const copy = (await events()).findLast(({ type }) => type === PersonChanged.type)?.data
  t.match(copy, { accountId: ana, image: data.url, imageDetails: details })
  t.match(await callRpc(People, { accountIds: [ana] }), [{ imageDetails: details }])
  const elsewhere = 'https://elsewhere.example/a.png'
  await db.updateTable('people').set({ photos: [elsewhere, data.key] }).where('account_id', '=', ana).execute()
  t.match(await callRpc(MatchFacts, { accountId: ana }), {
    photos: [elsewhere, data.url],
    photoDetails: [null, details]
  })
})

t.test('with MEDIA_URLS_ONLY_OWN, external images are rejected', async (t) => {
  const ana = await givenPerson('Ana')
  t.match(await post(ana, '/onboarding/save-profile', { photos: ['https://evil.example.com/pixel.png'] }), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
})

t.test('a photo can be used only by the account that uploaded it', async (t) => {
  const [ana, ben] = [await givenPerson('Ana'), await givenPerson('Ben')]
  const { data: { url } } = await upload(ana, pixel)
  const spellings = [
    url,
    `${url}#x`,
    url.replace('/public/', '/./public/'),
    url.replace('/public/', '//public/'),
    url.replace('/public/', '/%70ublic/')
  ]
  for (const each of spellings) {
    t.match(await post(ben, '/onboarding/save-profile', { photos: [each] }), { status: 400, code: 'VALIDATION_ERROR' })
  }
  t.equal((await get(ben, '/profile')).data.profile.image, null)
})

t.test('a photo is in use, however its URL is spelled', async (t) => {
  const ana = await givenPerson('Ana')
  const { data: { url, key } } = await upload(ana, pixel)
  t.equal((await post(ana, '/onboarding/save-profile', { photos: [`${url}#x`] })).status, 200)
  t.same((await get(ana, '/onboarding/status')).data.profile.photos, [url])
  await sql`update uploads set unused_since = unused_since - interval '25 hours' where account_id = ${ana}`.execute(db)
  await runHousekeeping(deps)
  t.ok(await isStored(key))
})

t.test('a file that is not an image, has a wrong type or is broken is rejected, and nothing is stored', async (t) => {
  const ana = await givenPerson('Ana')
  const before = await stored()
  t.match(await upload(ana, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), { type: 'image/svg+xml' }), {
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE'
  })
  t.match(await upload(ana, Buffer.from('<html>'), { type: 'image/png' }), { status: 415 })
  t.match(await upload(ana, pixel, { type: 'image/jpeg' }), { status: 415 })
  t.match(await upload(ana, pixel.subarray(0, 50)), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await upload(ana, pixel, { field: 'photo' }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await upload(ana, Buffer.alloc(5 * 1024 * 1024 + 1)), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
  t.match(await post(ana, '/onboarding/upload-photo', {}), { status: 415 })
  t.equal(await stored(), before)
})

t.test('an account has at most twenty unused photos, however many it uploads', async (t) => {
  const ana = await givenPerson('Ana')
  const { data: named } = await upload(ana, pixel)
  t.equal((await post(ana, '/onboarding/save-profile', { photos: [named.url] })).status, 200)
  const before = await stored()
  const keys: string[] = []
  for (let turn = 0; turn < 7; turn++) {
    const sent = await Promise.all(Array.from({ length: 4 }, () => upload(ana, pixel)))
    keys.push(...sent.map(({ data }) => data.key))
  }
  t.equal(await stored(), before + 20)
  t.ok(await isStored(named.key))
  t.ok(await isStored(keys.at(-1)!))
  const gone = keys[0]!
  t.notOk(await isStored(gone))
})

t.test('a photo that no profile uses within a day is deleted, and cannot be used meanwhile', async (t) => {
  const ana = await givenPerson('Ana')
  const [named, forgotten] = [(await upload(ana, pixel)).data, (await upload(ana, pixel)).data]
  await post(ana, '/onboarding/save-profile', { photos: [named.url] })
  await runHousekeeping(deps)
  t.ok(await isStored(forgotten.key))
  await sql`update uploads set unused_since = unused_since - interval '25 hours' where account_id = ${ana}`.execute(db)

  const { remove } = deps.media
  deps.media.remove = async () => {
    throw new Error('the storage is unavailable')
  }
  await t.rejects(runHousekeeping(deps), { cause: { message: 'the storage is unavailable' } })
  t.match(await post(ana, '/onboarding/save-profile', { photos: [forgotten.url] }), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
  deps.media.remove = remove
  await runHousekeeping(deps)
  t.notOk(await isStored(forgotten.key))
  t.ok(await isStored(named.key))
})

t.test('a photo that is chosen while housekeeping marks it is refused', async (t) => {
  const ana = await givenPerson('Ana')
  const { key, url } = (await upload(ana, pixel)).data
  await sql`update uploads set unused_since = now() - interval '25 hours' where key = ${key}`.execute(db)
  let saving: ReturnType<typeof post> | undefined
  await db.transaction().execute(async (trx) => {
    await markUnusedForDeletion(trx)
    saving = post(ana, '/onboarding/save-profile', { photos: [url] })
    // Long enough for it to wait for this transaction.
    await sleep(500)
  })
  t.match(await saving, { status: 400, code: 'VALIDATION_ERROR' })
  await deleteMarked(deps)
  t.notOk(await isStored(key))
  t.equal((await get(ana, '/profile')).data.profile.image, null)
})

t.test('a photo whose upload did not end is deleted after a day', async (t) => {
  const ana = await givenPerson('Ana')
  const { store } = deps.media
  let written = ''
  deps.media.store = async (visibility, image, record) => {
    written = (await store(visibility, image, record)).key
    throw new Error('the process ended')
  }
  t.match(await upload(ana, pixel), { status: 500 })
  deps.media.store = store
  t.ok(await isStored(written))
  await sql`update uploads set unused_since = unused_since - interval '25 hours' where account_id = ${ana}`.execute(db)
  await runHousekeeping(deps)
  t.notOk(await isStored(written))
})

t.test('a photo that the profile no longer uses is deleted after a day', async (t) => {
  const ana = await givenPerson('Ana')
  const [first, second] = [(await upload(ana, pixel)).data, (await upload(ana, pixel)).data]
  await post(ana, '/onboarding/save-profile', { photos: [first.url, second.url] })
  await post(ana, '/onboarding/save-profile', { photos: [second.url] })
  t.ok(await isStored(first.key))
  await sql`update uploads set unused_since = unused_since - interval '25 hours' where account_id = ${ana}`.execute(db)
  await runHousekeeping(deps)
  t.notOk(await isStored(first.key))
  t.ok(await isStored(second.key))
})

t.test('pictures are published again when the media URL changes', async (t) => {
  const ana = await givenPerson('Ana')
  const { data: { key } } = await upload(ana, pixel)
  await post(ana, '/onboarding/save-profile', { photos: [deps.media.urlOf(key)] })
  const url = deps.media.urlOf(key)
  await sql`update people set published_media_base = null`.execute(db)
  await runHousekeeping(deps)
  const publishedImages = async () =>
    (await events()).filter(({ type }) => type === PersonChanged.type).map(({ data }) =>
      data as { accountId: string, image: string }
    )
      .filter(({ accountId }) => accountId === ana).map(({ image }) => image)
  t.equal((await publishedImages()).at(-1), url)
  const count = (await publishedImages()).length
  await runHousekeeping(deps)
  t.equal((await publishedImages()).length, count, 'only once')

  await runHousekeeping({
    ...deps,
    media: createMedia({ storage: diskStorage(folder), cdnUrl: 'https://new.example' })
  })
  t.equal(
    (await publishedImages()).at(-1),
    url.replace('cdn.example.com', 'new.example'),
    'and again after the base URL changes'
  )
  await put(ana, '/profile', { height: 168 })
  t.equal((await publishedImages()).at(-1), url, 'also with another change, before housekeeping')
})
