import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { createMedia, createStorage, diskStorage, s3Storage, StorageAway, type Storage } from './index.ts'
import { startS3 } from './testing.ts'

const ana = '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e0f'
const ben = '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10'
const image = { bytes: Buffer.from('a picture'), mimeType: 'image/webp', width: 3, height: 2 }

async function folderOf (t: Test) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-media-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** What holds of any storage. `keys` lists what it keeps. */
async function keepsImages (t: Test, storage: Storage, keys: () => Promise<string[]> | string[]) {
  const media = createMedia({ storage, cdnUrl: 'https://cdn.example.com/media/' })
  const stored = await media.store('profile', ana, image)
  t.match(stored, { mimeType: 'image/webp', width: 3, height: 2, bytes: 9, url: `https://cdn.example.com/media/${stored.key}` })
  t.match(stored.key, new RegExp(`^profile/${ana}/[0-9a-f-]{36}\\.webp$`))
  t.same(await keys(), [stored.key])
  t.same(await storage.get(stored.key), image.bytes)

  for (const [owner, url] of [
    [ben, stored.url],
    [ana, stored.url.replace('cdn.', 'other.')],
    [ana, `https://cdn.example.com/media/profile/${ana}/../../etc/passwd`],
    [ana, `https://cdn.example.com/media/profile/${ana}/${ana}.webp`]
  ] as const) await media.discard(owner, url)
  t.same(await keys(), [stored.key], 'neither another\'s nor what is not here')

  await media.discard(ana, stored.url)
  await media.discard(ana, stored.url)
  t.same(await keys(), [])
  await t.rejects(storage.get(stored.key))
}

t.test('a folder keeps images', async (t) => {
  const folder = await folderOf(t)
  const files = async () => (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile()).map((each) => path.relative(folder, path.join(each.parentPath, each.name)))
  await keepsImages(t, createStorage({ MEDIA_DIR: folder }), files)
})

t.test('a bucket keeps images, for ever cacheable', async (t) => {
  const { settings, objects } = await startS3(t)
  const storage = createStorage({
    S3_ENDPOINT: settings.endpoint, S3_BUCKET: settings.bucket, S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret', MEDIA_DIR: '/nowhere'
  })
  await keepsImages(t, storage, () => [...objects.keys()])
  await storage.put('profile/a.webp', image.bytes, 'image/webp')
  t.match(objects.get('profile/a.webp')?.headers, { 'content-type': 'image/webp', 'cache-control': 'public, max-age=31536000, immutable' })
})

t.test('a store that is away, refuses or is full is answered as away, and nothing half-written is seen', async (t) => {
  const { settings, objects, refuse } = await startS3(t)
  const bucket = s3Storage(settings)
  for (const status of [403, 500, 503]) {
    refuse(status)
    await t.rejects(bucket.put('a/b.webp', image.bytes, 'image/webp'), new StorageAway())
    await t.rejects(bucket.remove('a/b.webp'), new StorageAway())
  }
  refuse(404)
  await bucket.remove('a/b.webp')
  refuse()
  t.equal(objects.size, 0)
  await t.rejects(s3Storage({ ...settings, secretAccessKey: 'x', accessKeyId: 'x' }).put('a', image.bytes, 'image/webp'), new StorageAway())
  await t.rejects(s3Storage({ ...settings, endpoint: 'http://127.0.0.1:1' }).put('a', image.bytes, 'image/webp'), new StorageAway())

  const folder = await folderOf(t)
  await writeFile(path.join(folder, 'taken'), '')
  await t.rejects(diskStorage(folder).put('taken/a.webp', image.bytes, 'image/webp'), new StorageAway())
  await chmod(folder, 0o700)
  t.same(await readdir(folder), ['taken'])
})

t.test('a service without a place for files does not start', (t) => {
  t.throws(() => createStorage({}), { message: /MEDIA_DIR/ })
  t.throws(() => createStorage({ S3_ENDPOINT: 'http://127.0.0.1', S3_BUCKET: 'a' }), { message: /S3_SECRET_ACCESS_KEY/ })
  t.end()
})

t.test('which addresses may be shown', (t) => {
  const storage = diskStorage('/nowhere')
  const [open, strict] = [false, true].map((onlyOwn) => createMedia({ storage, cdnUrl: 'https://cdn.example.com', onlyOwn }))
  const own = `https://cdn.example.com/profile/${ana}/${ben}.webp`
  const foreign = 'https://pictures.example.net/a.png'
  const sly = ['https://cdn.example.com.evil.example/a.webp', 'https://cdn.example.com@evil.example/a.webp', 'http://cdn.example.com/a.webp']
  t.same([own, foreign].map((url) => open?.accepts(url)), [true, true])
  t.same([own, foreign, ...sly].map((url) => strict?.accepts(url)), [true, false, false, false, false])
  t.same([own, foreign].map((url) => open?.acceptsFrom(ana, url)), [true, true])
  t.same([own, `${own}?x`, foreign].map((url) => open?.acceptsFrom(ben, url)), [false, false, true])
  t.same([own, foreign, ...sly, 'https://cdn.example.com/a.webp', `${own}?x`].map((url) => strict?.acceptsFrom(ana, url)), [true, ...Array(6).fill(false)])
  t.end()
})
