import { randomUUID } from 'node:crypto'
import { access, copyFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { privateCopyKeyOf } from '@tandem/media-kit'
import { createForm, createPng } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { givenPost, givenStory, testApp } from '../test/app.ts'
import { postsWithPublicImages } from './private-copies.ts'

t.test('media', async (t) => {
  const { app, db, deps, folder, follows, get, post, put, del, person } = await testApp(t)
  const ana = await person('Ana')
  const upload = async ({ headers, payload }: ReturnType<typeof createForm>, more: Record<string, string> = {}) => {
    const response = await app.inject({
      method: 'POST',
      url: '/media',
      headers: { ...bearer(ana), ...headers, ...more },
      payload
    })
    return { status: response.statusCode, ...response.json() }
  }
  const isKept = (key: string) => access(path.join(folder, key)).then(() => true, () => false)

  t.test('an image is re-encoded and stored, and a post can show it', async (t) => {
    const { status, data } = await upload(createForm(createPng(2_000, 500)))
    t.equal(status, 200)
    t.same(Object.keys(data.media).sort(), [
      'blurhash',
      'bytes',
      'height',
      'key',
      'mediaType',
      'mimeType',
      'thumbnails',
      'type',
      'url',
      'width'
    ])
    t.match(data.media, {
      url: `https://cdn.example.com/${data.media.key}`,
      mimeType: 'image/webp',
      width: 1_600,
      height: 400
    })
    t.match(data.media.key, /^public\/[0-9a-f-]{36}\.webp$/)
    t.ok(await isKept(data.media.key))
  })

  t.test('posts and stories have the sizes, blurhash and thumbnails of their images', async (t) => {
    const { media } = (await upload(createForm(createPng(400, 200)))).data
    const { url, width, height, blurhash, thumbnails } = media
    t.same(thumbnails.map((each: { width: number }) => each.width), [160, 320])
    const external = 'https://example.com/elsewhere.mp4'
    const unknown = { url: external, width: null, height: null, blurhash: null, thumbnails: [] }
    const { id } = (await post(ana, '/feed', { type: 'IMAGE', mediaUrls: [url, external] })).data.post
    t.same((await get(ana, `/feed/${id}`)).data.post.media, [
      { type: 'IMAGE', url, width, height, blurhash, thumbnails },
      { type: 'IMAGE', ...unknown }
    ])
    const { data: { post: video } } = await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [external] })
    t.same(video.media, [{ type: 'VIDEO', ...unknown }])
    await put(ana, `/feed/${id}`, { visibility: 'PRIVATE' })
    const [copy] = (await get(ana, `/feed/${id}`)).data.post.media
    t.match(copy, { width, height, blurhash, thumbnails: [{ url: /private.*signature=.*&w=160$/ }, { width: 320 }] })
    t.ok(await isKept(privateCopyKeyOf(media.key).replace('.', '-w320.')), 'the copy has its own thumbnails')

    await post(ana, '/stories', { mediaUrl: url, mediaType: 'IMAGE' })
    const [story] = (await get(ana, `/stories?userId=${ana}`)).data.stories
    t.match(story.media, { type: 'IMAGE', url: story.mediaUrl, width, height, blurhash, thumbnails: [{}, {}] })
    t.same((await get(ana, `/stories/${story.id}`)).data.story.media, story.media)
    await del(ana, `/feed/${id}`)
    await del(ana, `/stories/${story.id}`)
    t.notOk(await isKept(privateCopyKeyOf(media.key).replace('.', '-w320.')), 'and they are deleted with it')
  })

  t.test('unsupported and oversized uploads are refused', async (t) => {
    t.match(await upload(createForm(Buffer.from('<svg/>'), { type: 'image/svg+xml' })), {
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE'
    })
    t.match(await upload(createForm(createPng(2, 2), { type: 'image/jpeg' })), {
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE'
    })
    t.match(await upload(createForm(createPng(2, 2), { field: 'photo' })), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await upload(createForm(Buffer.concat([createPng(2, 2), Buffer.alloc(5 * 1024 * 1024)]))), {
      status: 413,
      code: 'PAYLOAD_TOO_LARGE'
    })
    t.match(await post(ana, '/media', {}), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  })

  t.test('a repeat with the same idempotency key is stored once', async (t) => {
    const key = { 'idempotency-key': randomUUID() }
    const first = await upload(createForm(createPng(3, 3)), key)
    t.same(await upload(createForm(createPng(3, 3)), key), first)
    t.match(await upload(createForm(createPng(4, 3)), key), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
  })

  t.test('eight repeats at once with one key are one upload and get the same response', async (t) => {
    const countImages = async () =>
      (await db.selectFrom('media').where('delete_requested_at', 'is', null).select('key').execute()).length
    const before = await countImages()
    const key = { 'idempotency-key': randomUUID() }
    const large = createForm(createPng(6_000, 6_000))
    const [first, ...repeats] = await Promise.all(Array.from({ length: 8 }, () => upload(large, key)))
    t.equal(first!.status, 200)
    t.same(repeats, Array(7).fill(first))
    t.equal(await countImages() - before, 1)
    const discarded = await db.selectFrom('media').where('delete_requested_at', 'is not', null)
      .where('width', '=', first!.data.media.width).select('key').execute()
    for (const { key } of discarded) t.notOk(await isKept(key), 'the file of a repeat is deleted')
  })

  t.test('an account uploads at most 500 MB of images a day, also with six at once', async (t) => {
    const png = createPng(5, 5)
    await upload(createForm(png))
    const used = (bytes: number) =>
      db.updateTable('daily_quotas').where('account_id', '=', ana).where('name', '=', 'image bytes').set({
        used: bytes
      })
        .execute()
    await used(500 * 1024 * 1024 - 2 * 64 * 1024)
    const results = await Promise.all(Array.from({ length: 6 }, async () => await upload(createForm(png))))
    t.same(results.map(({ status }) => String(status)).sort(), ['200', '200', '429', '429', '429', '429'])
    t.match(results.find(({ status }) => status === 429), {
      code: 'LIMIT_EXCEEDED',
      error: /500 MB of images.*tomorrow/
    })
    await used(0)
  })

  const uploadOne = async () => (await upload(createForm(createPng(5, 5)))).data.media
  const showInPost = async (...mediaUrls: string[]) => await post(ana, '/feed', { type: 'IMAGE', mediaUrls })
  const showInStory = async (mediaUrl: string, who = ana) =>
    (await post(who, '/stories', { mediaUrl, mediaType: 'IMAGE' })).data.story.id
  const ageUnusedMedia = async (days: number) =>
    await sql`update media set unused_since = unused_since - make_interval(days => ${days})`.execute(db)

  t.test('images of a deleted post or story are deleted too, unless something else shows them', async (t) => {
    const [only, shared, second] = [await uploadOne(), await uploadOne(), await uploadOne()]
    const first = (await showInPost(only.url, shared.url, 'https://example.com/elsewhere.jpg')).data.post.id
    const other = (await showInPost(shared.url, second.url)).data.post.id
    const [story, again] = [await showInStory(shared.url), await showInStory(shared.url)]
    t.equal((await del(ana, `/feed/${first}`)).status, 200)
    t.notOk(await isKept(only.key))
    t.ok(await isKept(shared.key))
    await del(ana, `/stories/${story}`)
    t.ok(await isKept(privateCopyKeyOf(shared.key)), 'another story shows the same copy')
    await del(ana, `/feed/${other}`)
    t.ok(await isKept(privateCopyKeyOf(shared.key)), 'it does not depend on the public image')
    await del(ana, `/stories/${again}`)
    t.notOk(await isKept(privateCopyKeyOf(shared.key)))
    t.notOk(await isKept(shared.key))
    t.notOk(await isKept(second.key))
    t.match(await showInPost(shared.url), { status: 400, code: 'VALIDATION_ERROR' }, 'a deleted image cannot be shown')
    t.match(await post(ana, '/stories', { mediaUrl: only.url, mediaType: 'IMAGE' }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
  })

  t.test("showing and removing another person's image does not delete it", async (t) => {
    const ben = await person('Ben')
    const own = await uploadOne()
    await del(ben, `/stories/${await showInStory(own.url, ben)}`)
    t.ok(await isKept(own.key))
    t.equal((await showInPost(own.url)).status, 201)
  })

  t.test('the image of an expired story is deleted with its content', async (t) => {
    const image = await uploadOne()
    const id = await showInStory(image.url)
    await runHousekeeping(deps)
    t.ok(await isKept(privateCopyKeyOf(image.key)))
    await sql`update stories set expires_at = now() - interval '25 hours' where id = ${id}`.execute(db)
    await runHousekeeping(deps)
    t.notOk(await isKept(privateCopyKeyOf(image.key)))
  })

  t.test('an upload that nothing has shown for seven days is deleted', async (t) => {
    const [unused, shown, late] = [await uploadOne(), await uploadOne(), await uploadOne()]
    await showInPost(shown.url)
    await ageUnusedMedia(6)
    await runHousekeeping(deps)
    t.ok(await isKept(unused.key))
    // An image that is shown but still has unused_since: housekeeping checks its use before it deletes anything.
    await showInPost(late.url)
    await sql`update media set unused_since = now() - interval '8 days' where key = ${late.key}`.execute(db)
    await ageUnusedMedia(1)
    await runHousekeeping(deps)
    t.notOk(await isKept(unused.key))
    t.ok(await isKept(shown.key))
    t.ok(await isKept(late.key))
    t.match(await showInPost(unused.url), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('what a process stored before it ended is deleted after a week', async (t) => {
    const { store, copy } = deps.media
    const written: string[] = []
    deps.media.store = async (visibility, image, record) => {
      const { key } = await store(visibility, image, record)
      written.push(key)
      throw new Error('the process ended')
    }
    t.match(await upload(createForm(createPng(5, 5))), { status: 500 })
    deps.media.store = store
    const image = await uploadOne()
    deps.media.copy = async (from, to) => {
      await copy(from, to)
      written.push(to)
      throw new Error('the process ended')
    }
    t.match(await post(ana, '/stories', { mediaUrl: image.url, mediaType: 'IMAGE' }), { status: 500 })
    deps.media.copy = copy

    t.equal(written.length, 2)
    for (const key of written) t.ok(await isKept(key))
    await ageUnusedMedia(8)
    await runHousekeeping(deps)
    for (const key of written) t.notOk(await isKept(key))
  })

  t.test('a private copy that was not finished is made again', async (t) => {
    const { copy } = deps.media
    const image = await uploadOne()
    deps.media.copy = async () => {
      throw new Error('the process ended')
    }
    t.match(await post(ana, '/stories', { mediaUrl: image.url, mediaType: 'IMAGE' }), { status: 500 })
    deps.media.copy = copy
    await showInStory(image.url)
    t.ok(await isKept(privateCopyKeyOf(image.key)))
  })

  t.test('a file is copied once for all that show it, and not for a repeat', async (t) => {
    const image = await uploadOne()
    const copied = t.capture(deps.media, 'copy', deps.media.copy)
    const key = { 'idempotency-key': randomUUID() }
    const shown = { type: 'IMAGE', visibility: 'PRIVATE', mediaUrls: Array.from({ length: 10 }, () => image.url) }
    await post(ana, '/feed', { type: 'TEXT', content: 'first' }, key)
    t.equal((await post(ana, '/feed', shown, key)).code, 'IDEMPOTENCY_CONFLICT')
    t.equal(copied().length, 0)
    const statuses = await Promise.all([1, 2, 3].map(async () => (await post(ana, '/feed', shown)).status))
    t.same(statuses, [201, 201, 201])
    t.equal(copied().length, 1)
  })

  t.test('an upload has at most 50 private copies in a month, however many were deleted', async (t) => {
    const image = await uploadOne()
    for (let copy = privateCopyKeyOf(image.key), count = 0; count < 49; copy = privateCopyKeyOf(copy), count++) {
      await db.insertInto('media').values({
        key: copy,
        account_id: ana,
        mime_type: 'image/webp',
        width: 1,
        height: 1,
        bytes: 1,
        delete_requested_at: new Date(),
        deleted_at: new Date()
      }).execute()
    }
    const publish = async () =>
      await post(ana, '/feed', { type: 'IMAGE', visibility: 'PRIVATE', mediaUrls: [image.url] })
    const { status, data } = await publish()
    t.equal(status, 201)
    t.equal((await publish()).data.post.mediaUrls[0].split('?')[0], data.post.mediaUrls[0].split('?')[0])
    await db.updateTable('media').set({ delete_requested_at: new Date(), deleted_at: new Date() })
      .where('key', 'like', 'private/%').where('account_id', '=', ana).execute()
    t.match(await publish(), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test("a public post keeps copies of other services' photos: one of each, for a repeat none, and 500 a day", async (t) => {
    const source = `public/${randomUUID()}.webp`
    await copyFile(path.join(folder, (await uploadOne()).key), path.join(folder, source))
    const urlOf = (photo: string) => `https://cdn.example.com/${photo}`
    const cleo = await person('Cleo')
    const countKept = async () =>
      (await db.selectFrom('media').where('account_id', '=', cleo).select('key').execute()).length
    const photos = { type: 'IMAGE', mediaUrls: [urlOf(source), urlOf(source), urlOf(source)] }
    const key = { 'idempotency-key': randomUUID() }
    const [first, repeat] = [await post(cleo, '/feed', photos, key), await post(cleo, '/feed', photos, key)]
    t.equal(new Set(first.data.post.mediaUrls).size, 1)
    t.not(first.data.post.mediaUrls[0], urlOf(source))
    t.equal(repeat.data.post.id, first.data.post.id)
    t.equal(await countKept(), 1)
    const missing = { ...photos, mediaUrls: [urlOf(`public/${randomUUID()}.webp`)] }
    for (const visibility of ['PUBLIC', 'PRIVATE']) {
      t.equal((await post(cleo, '/feed', { ...missing, visibility })).status, 400)
    }
    t.equal(await countKept(), 1, 'what is missing leaves no row')
    for (const author of [cleo, ana]) await post(author, '/feed', { ...photos, visibility: 'PRIVATE' })
    for (const author of [cleo, ana]) {
      t.ok(await isKept(privateCopyKeyOf(source, author)), 'each has an own private copy')
    }
    await db.updateTable('daily_quotas').where('account_id', '=', cleo).set({ used: 500 }).execute()
    t.match(await post(cleo, '/feed', photos), { status: 429, code: 'RATE_LIMITED' })
  })

  t.test('a failed deletion from the storage is retried later', async (t) => {
    const { remove } = deps.media
    const image = await uploadOne()
    const { id } = (await showInPost(image.url)).data.post
    deps.media.remove = async () => {
      throw new Error('the storage is unavailable')
    }
    t.equal((await del(ana, `/feed/${id}`)).status, 200, 'the post is deleted anyway')
    t.ok(await isKept(image.key))
    await t.rejects(runHousekeeping(deps), { cause: { message: 'the storage is unavailable' } })
    deps.media.remove = remove
    await runHousekeeping(deps)
    t.notOk(await isKept(image.key))
  })

  t.test('an image that is shown again during its deletion is either kept or refused', async (t) => {
    const outcomes = new Set<number>()
    for (let round = 0; round < 30; round++) {
      const image = await uploadOne()
      const { id } = (await showInPost(image.url)).data.post
      const week = round % 2 === 0
      if (week) {
        await sql`update media set unused_since = now() - interval '8 days' where key = ${image.key}`.execute(db)
      }
      const [, , again] = await Promise.all([
        del(ana, `/feed/${id}`),
        week ? runHousekeeping(deps) : undefined,
        showInPost(image.url)
      ])
      outcomes.add(again.status)
      t.equal(await isKept(image.key), again.status === 201, `round ${round}: ${again.status}`)
    }
    t.ok([...outcomes].every((status) => status === 201 || status === 400))
  })

  t.test('non-public posts and stories show a private copy at a signed URL', async (t) => {
    const [ben, eve] = [await person('Ben'), await person('Eve')]
    await follows(ben, ana)
    for (const visibility of ['FOLLOWERS', 'PRIVATE'] as const) {
      const image = await uploadOne()
      const { data } = await post(ana, '/feed', {
        type: 'IMAGE',
        mediaUrls: [image.url, 'https://elsewhere.example/a.png'],
        visibility
      })
      const [shown, foreign] = data.post.mediaUrls
      t.match(shown, /^https:\/\/cdn\.example\.com\/private\/[0-9a-f-]{36}\.webp\?expires=\d+&signature=[\w-]+$/)
      t.equal(foreign, 'https://elsewhere.example/a.png')
      t.notOk(shown.includes(image.key.slice('public/'.length, -'.webp'.length)))
      t.equal(
        (await get(ana, `/feed/${data.post.id}`)).data.post.mediaUrls[0],
        shown,
        'the URL is stable for a while, so that clients can cache it'
      )
      if (visibility === 'FOLLOWERS') t.equal((await get(ben, `/feed/${data.post.id}`)).data.post.mediaUrls[0], shown)
      t.notOk(JSON.stringify(await get(eve, `/feed/${data.post.id}`)).includes('private/'))
      const key = shown.slice('https://cdn.example.com/'.length).split('?')[0]
      t.ok(await isKept(key))
      await del(ana, `/feed/${data.post.id}`)
      t.notOk(await isKept(key), 'it is deleted with the post')
    }
    const story = await showInStory((await uploadOne()).url)
    t.match((await get(ben, `/stories/${story}`)).data.story.mediaUrl, /\/private\/.*signature=/)
    t.match((await get(ben, `/stories?userId=${ana}`)).data.stories.at(-1).mediaUrl, /\/private\/.*signature=/)
    t.match(
      (await showInPost((await uploadOne()).url)).data.post.mediaUrls,
      [/\/public\/[^?]+$/],
      'a public post has an unsigned URL'
    )
  })

  t.test('only the owner of a private image can show it', async (t) => {
    const ben = await person('Ben')
    await follows(ben, ana)
    const image = await uploadOne()
    const { id } =
      (await post(ana, '/feed', { type: 'IMAGE', mediaUrls: [image.url], visibility: 'FOLLOWERS' })).data.post
    const [shown] = (await get(ben, `/feed/${id}`)).data.post.mediaUrls
    t.match(shown, /private/)
    for (const url of [shown, shown.split('?')[0], `https://cdn.example.com/private/${randomUUID()}.webp`]) {
      t.match(await post(ben, '/feed', { type: 'IMAGE', mediaUrls: [url] }), { status: 400, code: 'VALIDATION_ERROR' })
      t.match(await post(ben, '/stories', { mediaUrl: url, mediaType: 'IMAGE' }), {
        status: 400,
        code: 'VALIDATION_ERROR'
      })
    }
    t.equal((await post(ana, '/feed', { type: 'IMAGE', mediaUrls: [shown] })).status, 201)
    t.notMatch(
      (await post(ben, '/feed', {
        type: 'TEXT',
        content: shown.slice('https://cdn.example.com/'.length).split('?')[0]
      })).data.post.content,
      'signature',
      'its key in a text does not become a URL'
    )
  })

  t.test('a post with narrowed visibility shows private images, and the public URL no longer works', async (t) => {
    const image = await uploadOne()
    const { id } = (await showInPost(image.url)).data.post
    const { data } = await put(ana, `/feed/${id}`, { visibility: 'FOLLOWERS' })
    t.match(data.post.mediaUrls, [/\/private\/.*signature=/])
    t.notOk(await isKept(image.key))
    t.match((await put(ana, `/feed/${id}`, { visibility: 'PUBLIC' })).data.post.mediaUrls, data.post.mediaUrls)
  })

  t.test('housekeeping makes public images of non-public posts and stories private, once', async (t) => {
    const [one, other] = [await uploadOne(), await uploadOne()]
    const { id } = await givenPost(db, {
      author_id: ana,
      media_urls: [one.key, `public/${randomUUID()}.webp`],
      visibility: 'FOLLOWERS'
    })
    const story = await givenStory(db, { author_id: ana, media_url: other.key })
    await Promise.all([runHousekeeping(deps), runHousekeeping(deps)])
    t.match((await get(ana, `/feed/${id}`)).data.post.mediaUrls, [/private/, /private/])
    t.match((await get(ana, `/stories/${story.id}`)).data.story.mediaUrl, /private/)
    for (const { key } of [one, other]) t.notOk(await isKept(key))
    const before = await db.selectFrom('posts').where('id', '=', id).select('media_urls').executeTakeFirst()
    await runHousekeeping(deps)
    t.same(await db.selectFrom('posts').where('id', '=', id).select('media_urls').executeTakeFirst(), before)
  })

  t.test('housekeeping finds public images by index, however many posts show private ones', async (t) => {
    await sql`insert into posts (author_id, type, visibility, content, media_urls)
      select ${ana}, 'IMAGE', 'FOLLOWERS', '', array['private/' || gen_random_uuid() || '.webp']
      from generate_series(1, 1000)`.execute(db)
    await sql`analyze posts`.execute(db)
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${postsWithPublicImages(db).select('id')}`.execute(db)
    t.match(rows.map((row) => row['QUERY PLAN']).join(), /posts_with_public_image/)
  })

  t.test('a post is made private, and a story shows its image, after a private copy of it was deleted', async (t) => {
    const image = await uploadOne()
    const story = await showInStory(image.url)
    const { id } = (await showInPost(image.url)).data.post
    await del(ana, `/stories/${story}`)
    t.notOk(await isKept(privateCopyKeyOf(image.key)))

    const again = await showInStory(image.url)
    const shown = (await get(ana, `/stories/${again}`)).data.story.mediaUrl
    t.ok(await isKept(shown.slice('https://cdn.example.com/'.length).split('?')[0]))
    t.same((await put(ana, `/feed/${id}`, { visibility: 'PRIVATE' })).data.post.mediaUrls, [shown], 'with one copy')
    t.notOk(await isKept(image.key))
  })

  t.test('images that were deleted do not stop a post from becoming private', async (t) => {
    const image = await uploadOne()
    await del(ana, `/stories/${await showInStory(image.url)}`)
    const { id } = await givenPost(db, { author_id: ana, media_urls: [image.key] })
    await deps.media.remove(image.key)
    t.match((await put(ana, `/feed/${id}`, { visibility: 'PRIVATE' })).data.post.mediaUrls, [/private/])
  })

  t.test('housekeeping makes images private, however many others it cannot copy', async (t) => {
    const { copy } = deps.media
    const image = await uploadOne()
    const broken = await uploadOne()
    const given = async (key: string) =>
      await givenPost(db, { author_id: ana, media_urls: [key], visibility: 'FOLLOWERS' })
    const { id } = await given(image.key)
    for (let n = 0; n < 60; n++) await given(broken.key)
    const { id: last } = await given(image.key)
    deps.media.copy = async (from, to) => {
      if (from === broken.key) throw new Error('it cannot be read')
      return await copy(from, to)
    }
    t.teardown(() => deps.media.copy = copy)
    await t.rejects(runHousekeeping(deps))
    for (const each of [id, last]) t.match((await get(ana, `/feed/${each}`)).data.post.mediaUrls, [/private/])
    deps.media.copy = copy
    await runHousekeeping(deps)
    t.notOk(await isKept(broken.key))
  })
})
