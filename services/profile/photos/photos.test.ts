import { access, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { PersonChanged } from '@tandem/contracts'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { createForm } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/service-kit/testing'
import { clearOld } from '../housekeeping.ts'
import { testApp } from '../test/app.ts'

const { app, db, deps, events, folder, givenPerson, post, get } = await testApp(t, { onlyOwnMedia: true })
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

async function upload (account: string, bytes: Buffer, { type = 'image/png', field = 'file' } = {}) {
  const { headers, payload } = createForm(bytes, { type, field, name: '../../me.png' })
  const response = await app.inject({ method: 'POST', url: '/onboarding/upload-photo', headers: { ...bearer(account), ...headers }, payload })
  return { status: response.statusCode, ...response.json() }
}
const stored = async () => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.webp')).length
const isStored = async (key: string) => await access(path.join(folder, key)).then(() => true, () => false)

t.test('an uploaded photo can be named in the profile and becomes the avatar', async (t) => {
  const ana = await givenPerson('Ana')
  const { status, data } = await upload(ana, pixel)
  t.equal(status, 200)
  t.match(data, { url: `https://cdn.example.com/${data.key}`, key: /^public\/[0-9a-f-]{36}\.webp$/ })
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

  const { remove } = deps.media
  deps.media.remove = async () => { throw new Error('the storage is unavailable') }
  await t.rejects(clearOld(deps), { message: '1 photos could not be deleted' })
  t.match(await post(ana, '/onboarding/save-profile', { photos: [forgotten.url] }), { status: 400, code: 'VALIDATION_ERROR' })
  deps.media.remove = remove
  await clearOld(deps)
  t.notOk(await isStored(forgotten.key))
  t.ok(await isStored(named.key))
})

t.test('a photo that the profile names no longer is deleted after a day', async (t) => {
  const ana = await givenPerson('Ana')
  const [first, second] = [(await upload(ana, pixel)).data, (await upload(ana, pixel)).data]
  await post(ana, '/onboarding/save-profile', { photos: [first.url, second.url] })
  await post(ana, '/onboarding/save-profile', { photos: [second.url] })
  t.ok(await isStored(first.key))
  await sql`update uploads set unused_since = unused_since - interval '25 hours' where account_id = ${ana}`.execute(db)
  await clearOld(deps)
  t.notOk(await isStored(first.key))
  t.ok(await isStored(second.key))
})

t.test('photos of before are shown under keys that hold no id, their files follow, and others hear of it', async (t) => {
  const storage = diskStorage(folder)
  const ana = await givenPerson('Ana')
  const former = `photos/${ana}/${crypto.randomUUID()}.webp`
  await storage.put(former, pixel, 'image/webp')
  await db.updateTable('people').set({ photos: [`https://earlier.example/media/${former}`], image: `https://earlier.example/media/${former}` }).where('account_id', '=', ana).execute()
  const migration = await readFile(path.join(import.meta.dirname, '../migrations/005-media-keys.sql'), 'utf8')
  // The column and its index are there already.
  await sql.raw(migration.replace(/^(alter table|create index) .*$/gm, '')).execute(db)

  const url = deps.media.urlOf(deps.media.toStoredValue(`https://cdn.example.com/${former}`))
  t.notOk(url.includes(ana))
  t.equal((await get(ana, '/profile')).data.profile.image, url)
  t.equal((await get(ana, '/onboarding/status')).data.profile.photos[0], url)
  t.equal((await post(ana, '/onboarding/save-profile', { photos: [url] })).status, 200, 'it is still theirs')
  t.equal((await post(ana, '/onboarding/save-profile', { photos: [`https://cdn.example.com/${former}`] })).status, 200, 'also by the address that a client may still hold')

  await sql`update people set announced_base = null`.execute(db)
  await clearOld(deps)
  const announced = async () => (await events()).filter(({ type }) => type === PersonChanged.type).map(({ data }) => data as { accountId: string, image: string })
    .filter(({ accountId }) => accountId === ana).map(({ image }) => image)
  t.equal((await announced()).at(-1), url)
  const count = (await announced()).length
  await clearOld(deps)
  t.equal((await announced()).length, count, 'once')
  t.same(await storage.find(new URL(url).pathname.slice(1)), pixel)
  t.equal(await storage.find(former), undefined)

  await clearOld({ ...deps, media: createMedia({ storage, cdnUrl: 'https://new.example' }) })
  t.equal((await announced()).at(-1), url.replace('cdn.example.com', 'new.example'), 'and again when the address changes')
})
