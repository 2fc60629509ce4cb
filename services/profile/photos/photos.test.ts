import { access, readdir } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { formWith } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/service-kit/testing'
import { clearOld } from '../housekeeping.ts'
import { testApp } from '../testing.ts'

const { app, db, deps, folder, givenPerson, post, get } = await testApp(t, { onlyOwnMedia: true })
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

async function upload (account: string, bytes: Buffer, { type = 'image/png', field = 'file' } = {}) {
  const { headers, payload } = formWith(bytes, { type, field, name: '../../me.png' })
  const response = await app.inject({ method: 'POST', url: '/onboarding/upload-photo', headers: { ...bearer(account), ...headers }, payload })
  return { status: response.statusCode, ...response.json() }
}
const stored = async () => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.webp')).length
const isStored = async (key: string) => await access(path.join(folder, key)).then(() => true, () => false)

t.test('an uploaded photo can be named in the profile and becomes the avatar', async (t) => {
  const ana = await givenPerson('Ana')
  const { status, data } = await upload(ana, pixel)
  t.equal(status, 200)
  t.match(data, { url: `https://cdn.example.com/${data.key}`, key: new RegExp(`^photos/${ana}/[0-9a-f-]{36}\\.webp$`) })
  t.equal((await post(ana, '/onboarding/save-profile', { photos: [data.url] })).status, 200)
  t.equal((await get(ana, '/profile')).data.profile.image, data.url)
})

t.test('where only own images may be shown, those of elsewhere are refused', async (t) => {
  const ana = await givenPerson('Ana')
  t.match(await post(ana, '/onboarding/save-profile', { photos: ['https://evil.example.com/pixel.png'] }), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('a photo belongs to who uploaded it', async (t) => {
  const [ana, ben] = [await givenPerson('Ana'), await givenPerson('Ben')]
  const { data: { url } } = await upload(ana, pixel)
  t.match(await post(ben, '/onboarding/save-profile', { photos: [url] }), { status: 400, code: 'VALIDATION_ERROR' })
  t.equal((await get(ben, '/profile')).data.profile.image, null)
})

t.test('what is no image, lies about itself or is broken is refused, and nothing is stored', async (t) => {
  const ana = await givenPerson('Ana')
  const before = await stored()
  t.match(await upload(ana, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), { type: 'image/svg+xml' }), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  t.match(await upload(ana, Buffer.from('<html>'), { type: 'image/png' }), { status: 415 })
  t.match(await upload(ana, pixel, { type: 'image/jpeg' }), { status: 415 })
  t.match(await upload(ana, pixel.subarray(0, 50)), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await upload(ana, pixel, { field: 'photo' }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await upload(ana, Buffer.alloc(5 * 1024 * 1024 + 1)), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
  t.match(await post(ana, '/onboarding/upload-photo', {}), { status: 415 })
  t.equal(await stored(), before)
})

t.test('uploads that no profile names take no more than twenty photos of an account, however many it sends', async (t) => {
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

t.test('a photo that no profile has named within a day is deleted, and cannot be named while it goes', async (t) => {
  const ana = await givenPerson('Ana')
  const [named, forgotten] = [(await upload(ana, pixel)).data, (await upload(ana, pixel)).data]
  await post(ana, '/onboarding/save-profile', { photos: [named.url] })
  await clearOld(deps)
  t.ok(await isStored(forgotten.key))
  await sql`update uploads set unused_since = unused_since - interval '25 hours' where account_id = ${ana}`.execute(db)

  const { discard } = deps.media
  deps.media.discard = async () => { throw new Error('the storage is unavailable') }
  await t.rejects(clearOld(deps), { message: '1 photos could not be deleted' })
  t.match(await post(ana, '/onboarding/save-profile', { photos: [forgotten.url] }), { status: 400, code: 'VALIDATION_ERROR' })
  deps.media.discard = discard
  await clearOld(deps)
  t.notOk(await isStored(forgotten.key))
  t.ok(await isStored(named.key))
})
