import { access, readdir } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { createImage, createPng } from '@tandem/media-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, testApp } from '../test/app.ts'

t.test('photos', async (t) => {
  const { get, post, put, del, upload, member, createMatch, deps, cdnUrl, folder } = await testApp(t)
  const photosOf = async (accountId: string) =>
    (await get(accountId, '/fitmatch/photos')).data.photos as {
      id: string,
      url: string,
      isMain: boolean,
      sortOrder: number
    }[]
  const isKept = async (url: string) =>
    await access(path.join(folder, 'media', url.slice(cdnUrl.length + 1))).then(() => true, () => false)

  t.test('are added one by one and re-encoded, the first as the main one', async (t) => {
    const { id: ana } = await member('Ana', { photos: [] })
    t.strictSame(await photosOf(ana), [])
    const first = await upload(ana, '/fitmatch/photos', 'file', createPng())
    t.match(first, {
      status: 200,
      data: {
        photo: {
          id: String,
          url: /^https:\/\/cdn\.example\/own\/public\/[0-9a-f-]{36}\.webp$/,
          isMain: true,
          sortOrder: 0
        }
      }
    })
    t.strictSame(Object.keys(first.data.photo).sort(), [
      'blurhash',
      'height',
      'id',
      'isMain',
      'sortOrder',
      'thumbnails',
      'type',
      'url',
      'width'
    ])
    t.ok(await isKept(first.data.photo.url))
    t.match(await upload(ana, '/fitmatch/photos', 'file', createPng()), {
      data: { photo: { isMain: false, sortOrder: 1 } }
    })
  })

  t.test('have sizes, a blurhash and thumbnails wherever they are shown', async (t) => {
    const ana = await member('Ana', { photos: [] })
    const png = createPng(400, 200)
    for (let count = 0; count < 2; count++) await upload(ana.id, '/fitmatch/photos', 'file', png)
    const [main] = await photosOf(ana.id)
    const details = {
      type: 'IMAGE',
      width: 400,
      height: 200,
      blurhash: /.{6}/,
      thumbnails: [
        { url: `${main?.url}?w=160`, width: 160, height: 80 },
        { url: `${main?.url}?w=320`, width: 320, height: 160 }
      ]
    }
    const ben = await member('Ben')
    await createMatch(ana, ben)
    const cy = await member('Cy')
    t.match(main, details)
    t.match((await get(ana.id, '/fitmatch/profile')).data.photos, { 0: details })
    t.match((await get(cy.id, `/fitmatch/profile/${ana.profileId}`)).data.photos, { 0: details })
    t.match((await get(ben.id, '/fitmatch/matches')).data.newMatches, [{ profile: { photos: { 0: details } } }])
    const { profiles } = (await get(cy.id, '/fitmatch/discover?limit=50')).data
    t.match(profiles.find(({ id }: { id: string }) => id === ana.profileId), { photos: { 0: details } })
  })

  t.test('keep their sizes when they are taken from the main profile; those of other hosts have none', async (t) => {
    const { key, width, height, blurhash } = await deps.media.store('public', createImage(), async () => {})
    const ana = await member('Ana', {
      photos: [deps.media.urlOf(key), 'https://elsewhere.example/a.png'],
      photoDetails: [{ width, height, blurhash }, null]
    })
    const [own, other] = await photosOf(ana.id)
    t.match(own, { width, height, blurhash, thumbnails: [{ url: `${own?.url}?w=160`, width: 160, height: 80 }] })
    t.match(other, { width: null, height: null, blurhash: null, thumbnails: [] })
    const ben = await member('Ben', { photos: [deps.media.urlOf(key)] })
    t.match(await photosOf(ben.id), [{ width: null, blurhash: null }], 'nor those from a profile without them')
  })

  t.test('are rejected if they are not images', async (t) => {
    const { id: ana } = await member('Ana', { photos: [] })
    t.match(await upload(ana, '/fitmatch/photos', 'other', createPng()), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await upload(ana, '/fitmatch/photos', 'file', createPng(), 'image/jpeg'), {
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE'
    })
    t.match(await upload(ana, '/fitmatch/photos', 'file', Buffer.alloc(5 * 1024 * 1024 + 1)), {
      status: 413,
      code: 'PAYLOAD_TOO_LARGE'
    })
    t.match(await upload('0198c000-0000-7000-8000-000000000001', '/fitmatch/photos', 'file', createPng()), {
      status: 404,
      code: 'PROFILE_NOT_FOUND'
    })
    t.strictSame(await photosOf(ana), [])
  })

  t.test('are deleted later if the storage is unavailable, or the process ends in between', async (t) => {
    const { id: ana } = await member('Ana', { photos: [] })
    const { data: { photo } } = await upload(ana, '/fitmatch/photos', 'file', createPng())
    const { remove } = deps.media
    deps.media.remove = async () => {
      throw new Error('the storage is unavailable')
    }
    t.match(await del(ana, `/fitmatch/photos?id=${photo.id}`), { status: 200 })
    t.strictSame(await photosOf(ana), [])
    t.ok(await isKept(photo.url))
    await t.rejects(runHousekeeping(deps), { cause: { message: 'the storage is unavailable' } })
    deps.media.remove = remove
    await runHousekeeping(deps)
    t.notOk(await isKept(photo.url))
    t.strictSame(await deps.db.selectFrom('unused_files').selectAll().execute(), [])
  })

  t.test('and chat images are deleted an hour later if the process ends before their rows', async (t) => {
    const main = await deps.media.store('public', createImage(), async () => {})
    const { store, copy } = deps.media
    const ana = await member('Ana', { photos: [] })
    const ben = await member('Ben')
    const matchId = await createMatch(ana, ben)
    const written: string[] = []
    deps.media.store = async (visibility, image, record) => {
      const { key } = await store(visibility, image, record)
      written.push(key)
      throw new Error('the process ended')
    }
    deps.media.copy = async (from, to) => {
      await copy(from, to)
      written.push(to)
      throw new Error('the process ended')
    }
    t.match(await upload(ana.id, '/fitmatch/photos', 'file', createPng()), { status: 500 })
    const image = { base64: createPng().toString('base64'), mimeType: 'image/png' }
    t.match(await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { image }), { status: 500 })
    await t.rejects(member('Cy', { photos: [deps.media.urlOf(main.key)] }))
    Object.assign(deps.media, { store, copy })

    const areKept = async () => await Promise.all(written.map(async (key) => await isKept(`${cdnUrl}/${key}`)))
    t.strictSame(await areKept(), [true, true, true])
    await runHousekeeping(deps)
    t.strictSame(await areKept(), [true, true, true], 'their rows may still come')
    await sql`update unused_files set delete_after = delete_after - interval '1 hour'`.execute(deps.db)
    await runHousekeeping(deps)
    t.strictSame(await areKept(), [false, false, false])
  })

  t.test('are never more than six, with exactly one main photo', async (t) => {
    const { id: ana } = await member('Ana')
    const added = await inParallel(7, () => upload(ana, '/fitmatch/photos', 'file', createPng()))
    t.equal(added.filter(({ status }) => status === 200).length, 4)
    t.equal(added.filter(({ status, code }) => status === 400 && code === 'LIMIT_EXCEEDED').length, 3)
    const photos = await photosOf(ana)
    t.equal(photos.length, 6)
    await Promise.all([
      ...photos.map(({ id }) => put(ana, '/fitmatch/photos', { mainPhotoId: id })),
      del(ana, `/fitmatch/photos?id=${photos[0]?.id}`),
      del(ana, `/fitmatch/photos?id=${photos[3]?.id}`)
    ])
    t.equal((await photosOf(ana)).filter(({ isMain }) => isMain).length, 1)
    t.equal((await photosOf(ana)).length, 4)
  })

  const countFiles = async () => (await readdir(path.join(folder, 'media/public'))).length

  t.test('are added once under an idempotency key, including the sixth', async (t) => {
    const before = await countFiles()
    const { id: ana } = await member('Ana')
    for (const key of ['a', 'b', 'c', 'd', 'd']) {
      t.match(await upload(ana, '/fitmatch/photos', 'file', createPng(), 'image/png', { 'idempotency-key': key }), {
        status: 200
      })
    }
    t.match(await upload(ana, '/fitmatch/photos', 'file', createPng(3), 'image/png', { 'idempotency-key': 'd' }), {
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT'
    })
    t.match(await upload(ana, '/fitmatch/photos', 'file', createPng(), 'image/png', { 'idempotency-key': 'e' }), {
      status: 400,
      code: 'LIMIT_EXCEEDED'
    })
    t.equal((await photosOf(ana)).length, 6)
    t.equal(await countFiles(), before + 4, 'no file of a retry or of a rejected upload is left')
  })

  t.test('are added once by eight repeats at once with one idempotency key', async (t) => {
    const { id: ana } = await member('Ana', { photos: [] })
    const picture = createPng(4_000, 4_000)
    const add = async (key: Record<string, string>) =>
      await upload(ana, '/fitmatch/photos', 'file', picture, 'image/png', key)
    const before = await countFiles()
    const [first, ...repeats] = await inParallel(8, () => add({ 'idempotency-key': 'a' }))
    t.match(first, { status: 200 })
    t.same(repeats.map(({ data }) => data), Array(7).fill(first!.data))
    t.equal((await photosOf(ana)).length, 1)
    const filesOfOne = await countFiles() - before
    await add({})
    t.equal(await countFiles(), before + 2 * filesOfOne, 'no file of a repeat is left')
  })

  t.test('are reordered by a list that contains each once', async (t) => {
    const [{ id: ana }, { id: ben }] = [await member('Ana'), await member('Ben')]
    const [one = '', two = ''] = (await photosOf(ana)).map(({ id }) => id)
    const [theirs = ''] = (await photosOf(ben)).map(({ id }) => id)
    for (const photoIds of [[], [one], [one, one], [one, theirs], [one, two, theirs], [one, 'garbage']]) {
      t.match(await put(ana, '/fitmatch/photos', { photoIds }), { status: 400, code: 'VALIDATION_ERROR' })
    }
    t.match(await put(ana, '/fitmatch/photos', {}), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await put(ana, '/fitmatch/photos', { photoIds: [two, one] }), {
      status: 200,
      data: { photos: [{ id: two, isMain: false, sortOrder: 0 }, { id: one, isMain: true, sortOrder: 1 }] }
    })
    t.match(await put(ana, '/fitmatch/photos', { mainPhotoId: two }), {
      status: 200,
      data: { photos: [{ id: two, isMain: true }, { id: one, isMain: false }] }
    })
    t.match(await put(ana, '/fitmatch/photos', { mainPhotoId: theirs }), { status: 404, code: 'NOT_FOUND' })
  })

  t.test('are deleted together with their file if it was uploaded here', async (t) => {
    const [{ id: ana }, { id: ben }] = [await member('Ana'), await member('Ben')]
    const { data: { photo } } = await upload(ana, '/fitmatch/photos', 'file', createPng())
    t.match(await del(ben, `/fitmatch/photos?id=${photo.id}`), { status: 404, code: 'NOT_FOUND' })
    t.match(await del(ana, '/fitmatch/photos?id=garbage'), { status: 404, code: 'NOT_FOUND' })
    t.match(await del(ana, '/fitmatch/photos'), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await del(ana, `/fitmatch/photos?id=${photo.id}`), { status: 200, success: true, message: String })
    t.notOk(await isKept(photo.url))
    const [main] = await photosOf(ana)
    await del(ana, `/fitmatch/photos?id=${main?.id}`)
    t.match(await photosOf(ana), [{ isMain: true }], 'the next one becomes the main photo')
  })
})
