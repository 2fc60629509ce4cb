import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { thumbnailKeyOf } from '@tandem/media-url-kit'
import { Unavailable } from '@tandem/process-kit'
import t, { type Test } from 'tap'
import { createMedia, createStorage, diskStorage, privateCopyKeyOf, s3Storage, type Storage } from './index.ts'
import { createImage, startS3 } from './testing.ts'

const ana = '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e0f'
const cdnUrl = 'https://cdn.example.com'
const ben = '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10'
const image = createImage(Buffer.from('a picture'))

async function folderOf (t: Test) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-media-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Tests the contract of any storage. `keys` lists its files. */
async function testStorage (t: Test, storage: Storage, keys: () => Promise<string[]> | string[]) {
  const media = createMedia({ storage, cdnUrl: 'https://cdn.example.com/media/' })
  const stored = await media.store('public', image, async () => {})
  t.match(stored, { mimeType: 'image/webp', width: 200, height: 100, blurhash: image.blurhash, bytes: 9 })
  t.match(stored.key, /^public\/[0-9a-f-]{36}\.webp$/)
  const thumbnail = thumbnailKeyOf(stored.key, 160)
  t.same((await keys()).sort(), [thumbnail, stored.key].sort())
  t.same(await storage.find(stored.key), image.bytes)

  const copy = privateCopyKeyOf(stored.key)
  t.match(copy, /^private\/[0-9a-f-]{36}\.webp$/)
  t.equal(await media.copy(stored.key, copy), true)
  t.same((await keys()).sort(), [copy, thumbnailKeyOf(copy, 160), stored.key, thumbnail].sort())
  t.same(await storage.find(copy), image.bytes)
  t.equal(await media.copy(`public/${ana}.webp`, `public/${ben}.webp`), false, 'a missing image has no copy')

  for (const key of [stored.key, stored.key, copy]) await media.remove(key)
  t.same(await keys(), [])
  t.equal(await storage.find(stored.key), undefined)

  // Longer than two parts of an upload to S3.
  const long = Buffer.concat(Array.from({ length: 20 }, (_, index) => Buffer.alloc(1024 * 1024, index)))
  const chunks = async function* () {
    for (let at = 0; at < long.length; at += 100_000) yield long.subarray(at, at + 100_000)
  }
  await storage.putStream('private/long.zip', chunks(), 'application/zip')
  t.ok(long.equals(await buffer((await storage.read('private/long.zip'))!)), 'a long file is streamed')
  const range = { start: 1024 * 1024 - 2, end: 1024 * 1024 + 1 }
  t.same(await buffer((await storage.read('private/long.zip', range))!), Buffer.from([0, 0, 1, 1]))
  t.equal(await storage.read('private/missing.zip'), undefined)
  t.same(await storage.list('private/'), ['private/long.zip'])
  await storage.putStream('private/empty.zip', empty(), 'application/zip')
  t.same(await storage.find('private/empty.zip'), Buffer.alloc(0))
  await t.rejects(storage.putStream('private/broken.zip', broken(), 'application/zip'), new Unavailable())
  const file = path.join(import.meta.dirname, 'test-videos/phone.mov')
  await storage.putFile('private/copied.zip', file, 'application/zip')
  t.ok(readFileSync(file).equals((await storage.find('private/copied.zip'))!), 'a file is copied')
  await t.rejects(storage.putFile('private/missing.zip', `${file}.missing`, 'application/zip'), new Unavailable())
  await storage.put('private/folder/a', image.bytes, 'image/webp')
  await storage.put('private/folder/b', image.bytes, 'image/webp')
  await storage.removeFolder('private/folder/')
  await storage.removeFolder('private/missing/')
  for (const name of ['long', 'empty', 'broken', 'copied']) await storage.remove(`private/${name}.zip`)
  t.same(await keys(), [], 'no partial file is left')
}

async function* empty (): AsyncGenerator<Buffer> {}
async function* broken () {
  yield Buffer.alloc(9 * 1024 * 1024)
  throw new Error('the source broke')
}

t.test('disk storage stores images', async (t) => {
  const folder = await folderOf(t)
  const files = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile()).map((each) =>
      path.relative(folder, path.join(each.parentPath, each.name))
    )
  const storage = createStorage({ MEDIA_DIR: folder })
  await testStorage(t, storage, files)
})

t.test('S3 storage uses two buckets: public images are cached for ever, private ones for an hour', async (t) => {
  const { settings, objects, keys } = await startS3(t)
  const storage = createStorage({
    S3_ENDPOINT: settings.endpoint,
    S3_BUCKET: settings.bucket,
    S3_PRIVATE_BUCKET: 'private-bucket',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'secret',
    MEDIA_DIR: '/nowhere'
  })
  await testStorage(t, storage, keys)
  await storage.put('public/a.webp', image.bytes, 'image/webp')
  await storage.put('private/a.webp', image.bytes, 'image/webp')
  t.match(objects.get('bucket/public/a.webp')?.headers, {
    'content-type': 'image/webp',
    'cache-control': 'public, max-age=604800, immutable'
  })
  t.match(objects.get('private-bucket/private/a.webp')?.headers, {
    'content-type': 'image/webp',
    'cache-control': 'private, max-age=3600'
  })
})

t.test('an unreachable, failing or full store is unavailable, and no partial file is visible', async (t) => {
  const { settings, objects, failWith } = await startS3(t)
  const bucket = s3Storage(settings)
  for (const status of [403, 500, 503]) {
    failWith(status)
    await t.rejects(bucket.put('a/b.webp', image.bytes, 'image/webp'), new Unavailable())
    await t.rejects(bucket.remove('a/b.webp'), new Unavailable())
  }
  failWith(404)
  await bucket.remove('a/b.webp')
  failWith()
  t.equal(objects.size, 0)
  await t.rejects(
    s3Storage({ ...settings, secretAccessKey: 'x', accessKeyId: 'x' }).put('a', image.bytes, 'image/webp'),
    new Unavailable()
  )
  await t.rejects(
    s3Storage({ ...settings, endpoint: 'http://127.0.0.1:1' }).put('a', image.bytes, 'image/webp'),
    new Unavailable()
  )

  const folder = await folderOf(t)
  await writeFile(path.join(folder, 'taken'), '')
  await t.rejects(diskStorage(folder).put('taken/a.webp', image.bytes, 'image/webp'), new Unavailable())
  await chmod(folder, 0o700)
  t.same(await readdir(folder), ['taken'])
})

t.test('a video is stored, copied and deleted with its poster, on disk and in S3', async (t) => {
  const folder = await folderOf(t)
  const source = path.join(folder, 'source')
  await writeFile(source, 'a video')
  const { settings, objects, keys } = await startS3(t)
  const diskFolder = await folderOf(t)
  const onDisk = async () =>
    (await readdir(diskFolder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile()).length
  for (
    const [storage, count] of [[diskStorage(diskFolder), onDisk], [
      s3Storage(settings),
      async () => keys().length
    ]] as const
  ) {
    const media = createMedia({ storage, cdnUrl, signingKey: 'k'.repeat(32) })
    const [key, copy] = [`public/${ana}.mp4`, `private/${ben}.mp4`]
    await media.storeVideo(key, source, image)
    t.equal(await media.size(key), 7)
    t.equal(await media.size(copy), undefined)
    t.ok(await media.copy(key, copy))
    t.notOk(await media.copy(`public/${ben}.mp4`, copy))
    const part = await (await media.read(copy, { start: 2, end: 4 }))?.toArray()
    t.equal(Buffer.concat(part as Buffer[]).toString(), 'vid')
    t.equal(await count(), 6, 'a video, a poster and its thumbnail, twice')
    const details = {
      width: 320,
      height: 240,
      blurhash: image.blurhash,
      durationSeconds: 2,
      poster: { width: 200, height: 100 }
    }
    const described = media.describe(key, details)
    t.match(described, {
      type: 'VIDEO',
      url: `${cdnUrl}/${key}`,
      posterUrl: `${cdnUrl}/public/${ana}.webp`,
      durationSeconds: 2,
      thumbnails: [{ width: 160, height: 80 }]
    })
    t.equal(media.toStoredValue(media.describe(copy, details).url), copy)
    await media.remove(key)
    await media.remove(copy)
    t.equal(await count(), 0)
    if (storage.presign) await media.storeVideo(key, source, undefined)
  }
  t.match(objects.get(`bucket/public/${ana}.mp4`)?.headers, {
    'content-type': 'video/mp4',
    'content-disposition': 'inline'
  })
})

t.test('a video that cannot be copied stays in no open file: one that is collected ends the process', async (t) => {
  const storage = diskStorage(await folderOf(t))
  const key = `public/${ana}.mp4`
  await storage.put(key, Buffer.from('a video'), 'video/mp4')
  await storage.put(`public/${ana}.webp`, image.bytes, 'image/webp')
  const full = async () => {
    throw new Unavailable()
  }
  for (const failing of [{ put: full }, { putStream: full }]) {
    const opened: Readable[] = []
    const watched: Storage = {
      ...storage,
      ...failing,
      async read (key) {
        const video = await storage.read(key)
        if (video) opened.push(video)
        return video
      }
    }
    await t.rejects(createMedia({ storage: watched, cdnUrl }).copy(key, `private/${ben}.mp4`), new Unavailable())
    t.same(opened.map((video) => video.destroyed), [true])
  }
})

t.test('a service without file storage does not start', (t) => {
  t.throws(() => createStorage({}), { message: /MEDIA_DIR/ })
  // Also with a folder: what was to be in the store would be on a disk, and private files where media are served from.
  for (const MEDIA_DIR of [undefined, '/nowhere']) {
    for (const given of [{ S3_ENDPOINT: 'http://127.0.0.1', S3_BUCKET: 'a' }, { S3_BUCKET: 'a' }]) {
      t.throws(() => createStorage({ ...given, MEDIA_DIR }), { message: /S3_SECRET_ACCESS_KEY/ })
    }
  }
  t.end()
})

t.test('URLs are built from stored values and map back to them', (t) => {
  const [one, other] = ['https://cdn.example.com/media', 'https://other.example'].map((cdnUrl) =>
    createMedia({ storage: diskStorage('/nowhere'), cdnUrl })
  )
  const key = `public/${ana}.webp`
  t.equal(one?.urlOf(key), `https://cdn.example.com/media/${key}`)
  t.equal(other?.urlOf(key), `https://other.example/${key}`, 'another CDN_URL changes every URL')
  for (
    const spelling of [
      key,
      `${key}#x`,
      `${key}?w=160#x`,
      `./${key}`,
      `x/../${key}`,
      `%2e/${key}`,
      `%70ublic/${ana}.webp`,
      `public%2f${ana}.webp`,
      `public\\${ana}.webp`
    ]
  ) {
    t.equal(one?.toStoredValue(`https://cdn.example.com/media/${spelling}`), key, spelling)
  }
  t.equal(one?.toStoredValue(`http://CDN.example.com:80/%6dedia/${key}`), key)
  t.equal(one?.urlOf(null), null)
  for (
    const foreign of [
      'https://pictures.example.net/a.png',
      `https://cdn.example.com.evil.example/media/${key}`,
      `https://cdn.example.com/media/${key}/../x`,
      `https://cdn.example.com/media/public/${ana}/${ben}.webp`,
      'https://cdn.example.com/media/../secret'
    ]
  ) {
    t.equal(one?.toStoredValue(foreign), foreign)
    t.equal(one?.urlOf(foreign), foreign)
  }
  t.end()
})

t.test('an image is described with the URLs of its thumbnails', (t) => {
  const details = { width: 700, height: 350, blurhash: image.blurhash }
  const [own, hidden] = [`public/${ana}.webp`, `private/${ana}.webp`]
  const onDisk = createMedia({ storage: diskStorage('/nowhere'), cdnUrl, signingKey: 'k'.repeat(32) })
  t.strictSame(onDisk.describe(own, details), {
    type: 'IMAGE',
    url: `${cdnUrl}/${own}`,
    ...details,
    thumbnails: [
      { url: `${cdnUrl}/${own}?w=160`, width: 160, height: 80 },
      { url: `${cdnUrl}/${own}?w=320`, width: 320, height: 160 },
      { url: `${cdnUrl}/${own}?w=640`, width: 640, height: 320 }
    ]
  })
  t.match(onDisk.describe(hidden, details).thumbnails[0]?.url, /\?expires=\d+&signature=[\w-]+&w=160$/)
  const s3 = s3Storage({
    endpoint: 'https://s3.example',
    bucket: 'b',
    region: 'x',
    accessKeyId: 'k',
    secretAccessKey: 's'
  })
  const inBucket = createMedia({ storage: s3, cdnUrl })
  t.equal(inBucket.describe(own, details).thumbnails[1]?.url, `${cdnUrl}/public/${ana}-w320.webp`)
  t.match(inBucket.describe(hidden, details).thumbnails[0]?.url, `https://s3.example/b/private/${ana}-w160.webp?X-Amz`)
  for (const media of [onDisk, inBucket]) {
    for (const key of [own, hidden]) {
      const { thumbnails } = media.describe(key, details)
      t.same(thumbnails.map(({ url }) => media.toStoredValue(url)), [key, key, key], 'a thumbnail stands for its image')
    }
    t.match(media.describe('https://elsewhere.example/a.png'), { width: null, blurhash: null, thumbnails: [] })
    t.same(media.describe(own, { ...details, blurhash: null }).thumbnails, [], 'an image from before has none')
  }
  t.end()
})

t.test('with ownUrlsOnly only URLs of our own files are allowed', (t) => {
  const [open, strict] = [false, true].map((ownUrlsOnly) =>
    createMedia({ storage: diskStorage('/nowhere'), cdnUrl: 'https://cdn.example.com', ownUrlsOnly })
  )
  const own = `https://cdn.example.com/public/${ben}.webp`
  const foreign = 'https://pictures.example.net/a.png'
  const sly = [
    'https://cdn.example.com.evil.example/a.webp',
    'https://cdn.example.com@evil.example/a.webp',
    'http://cdn.example.com/a.webp',
    'https://cdn.example.com/../anything',
    'https://cdn.example.com/%zz'
  ]
  t.same([own, `${own}#x`, foreign].map((url) => open?.isAllowedUrl(url)), [true, true, true])
  t.same([own, foreign].map((url) => strict?.isAllowedUrl(url)), [true, false])
  t.same(sly.filter((url) => strict?.isAllowedUrl(url)), [])
  for (const path of [`/public/${ben}.webp`, `%2570ublic/${ben}.webp`, 'a.webp', '../anything']) {
    t.notOk(open?.isAllowedUrl(`https://cdn.example.com/${path}`), `${path} is none of our files`)
  }
  t.end()
})

t.test('a deleted public image is purged from the CDN, and the deletion repeated until that succeeded', async (t) => {
  const purged: { files: string[], authorization: string | undefined }[] = []
  let status = 503
  const cdn = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    purged.push({ ...JSON.parse(body) as { files: string[] }, authorization: request.headers.authorization })
    response.writeHead(status).end('{}')
  })
  await new Promise<void>((resolve) => cdn.listen(0, '127.0.0.1', resolve))
  t.teardown(() => cdn.close())
  const storage = diskStorage(await folderOf(t))
  const purgeUrl = `http://127.0.0.1:${(cdn.address() as AddressInfo).port}/purge`
  const media = createMedia({ storage, cdnUrl, purgeUrl, purgeToken: 'secret' })
  const { key } = await media.store('public', image, async () => {})
  const secret = await media.store('private', image, async () => {})

  await t.rejects(media.remove(key), new Unavailable())
  t.equal(await storage.find(key), undefined, 'the file is gone before')
  status = 200
  await media.remove(key)
  const files = [`${cdnUrl}/${key}`, ...[160, 320, 640, 1080].map((width) => `${cdnUrl}/${key}?w=${width}`)]
  t.same(purged, Array.from({ length: 2 }, () => ({ files, authorization: 'Bearer secret' })))
  await media.remove(secret.key)
  t.equal(purged.length, 2, 'no cache has a private image')
})
