import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { access, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { copyCaseFiles } from '@tandem/case-kit'
import { privateCopyKeyOf } from '@tandem/media-kit'
import { createFilesForm, createPng, testVideo } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { posterKeyOf } from '@tandem/media-url-kit'
import { operatorBearer } from '@tandem/operator-kit/testing'
import { createLogger } from '@tandem/process-kit'
import { runHousekeeping } from '../housekeeping.ts'
import { releaseImage } from '../reports/background.ts'
import { testApp } from '../test/app.ts'

const file = (name = 'phone.mov', type = 'video/quicktime') => ({ field: 'file', bytes: testVideo(name), type })
const poster = { field: 'poster', bytes: createPng(400, 300), type: 'image/png' }

async function start (t: Test, options: Parameters<typeof testApp>[1] = {}) {
  const test = await testApp(t, options)
  const { app, db, folder } = test
  const ana = await test.person('Ana')
  const upload = async (
    files: { field: string, bytes: Buffer, type: string }[] = [file()],
    { who = ana, headers = {} }: { who?: string, headers?: Record<string, string> } = {}
  ) => {
    const form = createFilesForm(files)
    const response = await app.inject({
      method: 'POST',
      url: '/media',
      headers: { ...bearer(who), ...form.headers, ...headers },
      payload: form.payload
    })
    return { status: response.statusCode, headers: response.headers, ...response.json() }
  }
  return {
    ...test,
    ana,
    upload,
    uploadOne: async (...files: Parameters<typeof upload>[0] & object) => {
      const { data } = await upload(files.length > 0 ? files : undefined)
      return data.media
    },
    isKept: (key: string) => access(path.join(folder, key)).then(() => true, () => false),
    files: async () =>
      (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile()).length,
    countRows: async () => (await db.selectFrom('media').select('key').execute()).length
  }
}

t.test('a video with its poster is stored, and a post shows it', async (t) => {
  const { ana, db, folder, get, post, upload } = await start(t)
  const { status, data: { media } } = await upload([file(), poster])
  t.equal(status, 200)
  t.match(media, {
    type: 'VIDEO',
    mediaType: 'VIDEO',
    mimeType: 'video/mp4',
    width: 320,
    height: 240,
    durationSeconds: 2,
    key: /^public\/[0-9a-f-]{36}\.mp4$/,
    url: `https://cdn.example.com/${media.key}`,
    posterUrl: `https://cdn.example.com/${posterKeyOf(media.key)}`,
    thumbnails: [{ width: 160, height: 120 }, { width: 320, height: 240 }]
  })
  const stored = await readFile(path.join(folder, media.key))
  t.equal(stored.length, media.bytes)
  for (const trace of ['©xyz', '+48.', 'Evening run', 'x264', 'com.apple']) t.notOk(stored.includes(trace), trace)

  const published = (await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [media.url] })).data.post
  t.equal(published.mediaUrls[0], media.url)
  const { key, mediaType, mimeType, bytes, ...shown } = media
  t.same((await get(ana, `/feed/${published.id}`)).data.post.media, [shown])
  t.equal((await db.selectFrom('media').where('storing_until', 'is not', null).select('key').execute()).length, 0)
})

t.test('the poster may stand first, and without one the placeholder has the colour of the author', async (t) => {
  const { db, ana, upload } = await start(t)
  t.match((await upload([poster, file()])).data.media, { type: 'VIDEO', posterUrl: /webp$/ })
  const grey = (await upload()).data.media
  t.match(grey, { posterUrl: null, thumbnails: [], blurhash: /^00.{4}$/ })
  const setAvatar = async (hash: string) =>
    await db.updateTable('people').set({ image_blurhash: hash }).where('account_id', '=', ana).execute()
  await setAvatar('LEHV6nWB2yk8pyo0adR*.7kCMdnj')
  t.equal((await upload()).data.media.blurhash, '00HV6n')
  await setAvatar('L00000fQfQfQfQfQfQfQfQfQfQfQ')
  t.equal((await upload()).data.media.blurhash, grey.blurhash, 'never black')
})

t.test('width and height are as shown, and a video may be silent or untyped', async (t) => {
  const { upload } = await start(t)
  t.match((await upload([file('rotated.mp4', 'video/mp4')])).data.media, { width: 240, height: 320 })
  t.match((await upload([file('silent.mp4', 'application/octet-stream')])).data.media, { type: 'VIDEO', width: 320 })
})

t.test('what cannot be played everywhere is refused with what to do, and nothing is stored', async (t) => {
  const { upload, files, countRows } = await start(t)
  const large = Buffer.concat([testVideo('silent.mp4'), Buffer.alloc(50 * 1024 * 1024)])
  for (
    const [sent, status, error] of [
      [[file('hevc.mov')], 415, /HEVC.*videoCodec: "avc1"/],
      [[file('two-videos.mp4')], 415, /several pictures/],
      [[file('long.mp4')], 400, /at most 60 seconds/],
      [[{ ...file(), bytes: testVideo().subarray(0, 20_000) }], 400, /incomplete or damaged/],
      [[{ ...file(), bytes: Buffer.from('hello, this is no video') }], 415, /MP4 or MOV/],
      [[{ ...file(), bytes: Buffer.alloc(0) }], 415, /MP4 or MOV/],
      [[{ ...file(), type: 'video/webm' }], 415, /MP4 or MOV/],
      [[{ ...file(), bytes: large }], 413, /50 MB/],
      [[{ ...file(), type: 'image/png' }], 415, /JPEG, PNG or WebP/],
      [[file(), { ...poster, bytes: Buffer.from('no picture') }], 415, /JPEG, PNG or WebP/],
      [[file(), { ...poster, bytes: Buffer.alloc(5 * 1024 * 1024 + 1) }], 413, /5 MB/],
      [[poster], 400, /file is required/],
      [[file(), file()], 400, /file is required/]
    ] as const
  ) {
    const answer = await upload([...sent])
    t.equal(answer.status, status, answer.error)
    t.match(answer.error, error)
  }
  t.equal(await files(), 0)
  t.equal(await countRows(), 0)
})

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0
t.test(
  'with ffmpeg, what cannot be played everywhere is written again, and a frame is the poster',
  { skip: !hasFfmpeg && 'ffmpeg is not installed' },
  async (t) => {
    const { upload, folder, files, countRows } = await start(t, { transcodesVideos: true })
    const { status, data: { media } } = await upload([file('hevc.mov')])
    t.equal(status, 200)
    t.match(media, { mimeType: 'video/mp4', posterUrl: `https://cdn.example.com/${posterKeyOf(media.key)}` })
    t.ok((await readFile(path.join(folder, media.key))).includes('avc1'))
    t.ok((await readFile(path.join(folder, posterKeyOf(media.key)))).length > 500, 'a picture of the video')

    const [kept, rows] = [await files(), await countRows()]
    t.match(await upload([file('two-videos.mp4')]), { status: 415 })
    t.match(await upload([file('long.mp4')]), { status: 400 })
    const damaged = testVideo('hevc.mov')
    damaged.fill(0xff, damaged.indexOf('mdat') + 4)
    t.match(await upload([{ ...file(), bytes: damaged }]), { status: 400, error: /incomplete or damaged/ })
    t.same([await files(), await countRows()], [kept, rows], 'nothing of these is stored')
  }
)

t.test('a video is stored without a poster if ffmpeg cannot take one, and the log says why', async (t) => {
  const lines: object[] = []
  const log = createLogger('test', 'warn', { write: (line) => void lines.push(JSON.parse(line)) })
  const { upload } = await start(t, { transcodesVideos: true, log })
  const { PATH } = process.env
  t.teardown(() => Object.assign(process.env, { PATH }))
  process.env['PATH'] = ''
  const { status, data } = await upload()
  t.equal(status, 200)
  t.equal(data.media.posterUrl, null)
  t.match(lines, [{
    msg: 'a video is stored without a poster',
    err: { cause: { message: 'spawn ffmpeg ENOENT' } }
  }])
})

t.test('a story takes its duration from the video', async (t) => {
  const { ana, db, get, post, uploadOne } = await start(t)
  const video = await uploadOne()
  const publish = async (more: object = {}) =>
    await post(ana, '/stories', { mediaUrl: video.url, mediaType: 'VIDEO', ...more })
  const { status, data: { story } } = await publish()
  t.equal(status, 201)
  t.match((await get(ana, `/stories/${story.id}`)).data.story, {
    duration: 2,
    mediaUrl: /private\/.*\.mp4\?expires/,
    media: { type: 'VIDEO', width: 320, durationSeconds: 2, posterUrl: null }
  })
  t.equal((await publish({ duration: 2.9 })).status, 201)
  t.match(await publish({ duration: 4 }), { status: 400, code: 'VALIDATION_ERROR', error: /2 seconds/ })
  await sql`update media set duration_seconds = 61`.execute(db)
  t.match(await publish(), { status: 400, error: /at most 60 seconds/ })
})

t.test('a type must be that of the upload', async (t) => {
  const { ana, post, upload, uploadOne } = await start(t)
  const video = await uploadOne()
  const image = (await upload([{ ...poster, field: 'file' }])).data.media
  t.equal(image.mediaType, 'IMAGE')
  for (
    const [path, body] of [
      ['/feed', { type: 'IMAGE', mediaUrls: [video.url] }],
      ['/feed', { type: 'VIDEO', mediaUrls: [video.url, image.url] }],
      ['/stories', { mediaType: 'IMAGE', mediaUrl: video.url }],
      ['/stories', { mediaType: 'VIDEO', mediaUrl: image.url }]
    ] as const
  ) {
    t.match(await post(ana, path, body), { status: 400, code: 'VALIDATION_ERROR', error: /Use the type/ })
  }
  const unknown = video.url.replace(/[0-9a-f-]{36}/, randomUUID())
  t.match(await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [unknown] }), { status: 400 })
  t.match(await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [unknown], visibility: 'PRIVATE' }), { status: 400 })
})

t.test('a video is private with its post, and deleted with it and with its poster', async (t) => {
  const { ana, del, deps, get, isKept, post, put, uploadOne, files } = await start(t)
  const video = await uploadOne(file(), poster)
  const { id } = (await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [video.url] })).data.post
  await put(ana, `/feed/${id}`, { visibility: 'FOLLOWERS' })
  const [shown] = (await get(ana, `/feed/${id}`)).data.post.media
  t.match(shown, {
    url: /private\/.*\.mp4\?.*signature/,
    posterUrl: /private\/.*\.webp\?.*signature/,
    durationSeconds: 2
  })
  t.notOk(await isKept(video.key))
  t.ok(await isKept(posterKeyOf(privateCopyKeyOf(video.key))))
  await del(ana, `/feed/${id}`)
  t.equal(await files(), 0)

  const unused = await uploadOne(file(), poster)
  await sql`update media set unused_since = now() - interval '8 days'`.execute(deps.db)
  await runHousekeeping(deps)
  t.notOk(await isKept(unused.key))
  t.equal(await files(), 0)
})

t.test('a repeat with the same idempotency key is stored once', async (t) => {
  const { upload, files, countRows } = await start(t)
  const headers = { 'idempotency-key': randomUUID() }
  const [first, second] = await Promise.all([upload(undefined, { headers }), upload(undefined, { headers })])
  t.equal(first.status, 200)
  t.same(second.data, first.data)
  t.equal(await files(), 1)
  t.equal(await countRows(), 1)
  t.match(await upload([file('silent.mp4')], { headers }), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
  t.equal(await files(), 1)
})

t.test('an account uploads at most 500 MB a day, also with twenty uploads at once', async (t) => {
  const { ana, db, upload, uploadOne } = await start(t)
  await uploadOne()
  const bytes = file().bytes.length
  await sql`update daily_quotas set used = ${500 * 1024 * 1024 - 2 * bytes} where account_id = ${ana}`.execute(db)
  const results = await Promise.all(Array.from({ length: 6 }, async () => await upload()))
  t.same(results.map(({ status }) => String(status)).sort(), ['200', '200', '429', '429', '429', '429'])
  t.match(results.find(({ status }) => status === 429), { code: 'LIMIT_EXCEEDED', error: /500 MB.*tomorrow/ })
})

t.test('three videos of an account are stored at once; a fourth waits, and is then told when to come back', async (t) => {
  const { ana, db, upload, person } = await start(t)
  const ben = await person('Ben')
  const hold = async () =>
    await sql`
      insert into media (key, account_id, mime_type, width, height, bytes, storing_until)
      select 'public/' || gen_random_uuid() || '.mp4', ${ana}, 'video/mp4', 0, 0, 0, now() + interval '1 minute'
      from generate_series(1, 3)`.execute(db)
  await hold()
  t.equal((await upload(undefined, { who: ben })).status, 200, 'others do not wait')
  const waiting = upload()
  await sleep(500)
  await sql`delete from media where account_id = ${ana}`.execute(db)
  t.equal((await waiting).status, 200)
  await hold()
  t.match(await upload(), { status: 429, code: 'RATE_LIMITED', headers: { 'retry-after': '10' } })
  await sql`update media set storing_until = now() - interval '1 second' where storing_until is not null`.execute(db)
  t.equal((await upload()).status, 200, 'those of a killed process do not count')
})

t.test('what a killed process has stored is deleted by housekeeping', async (t) => {
  const { ana, db, deps, files, countRows } = await start(t)
  const key = `public/${randomUUID()}.mp4`
  const row = { account_id: ana, mime_type: 'video/mp4', width: 0, height: 0, bytes: 0 }
  const until = (minutes: number) => sql<Date>`now() + make_interval(mins => ${minutes})`
  await db.insertInto('media').values({ ...row, key, storing_until: until(1) }).execute()
  await deps.media.storeVideo(key, path.join(import.meta.dirname, 'videos.ts'), undefined)
  await runHousekeeping(deps)
  t.equal(await files(), 1, 'it may still be storing')
  await db.updateTable('media').set({ storing_until: until(-1) }).execute()
  await runHousekeeping(deps)
  t.equal(await files(), 0)
  await sql`update media set deleted_at = now() - interval '31 days'`.execute(db)
  await runHousekeeping(deps)
  t.equal(await countRows(), 0)
})

t.test('a failed store leaves no row and no file', async (t) => {
  const { deps, upload, files, countRows } = await start(t)
  const { storeVideo } = deps.media
  deps.media.storeVideo = async (key, source, image) => {
    await storeVideo(key, source, image)
    throw new Error('the storage broke')
  }
  t.equal((await upload()).status, 500)
  t.equal(await files(), 0)
  t.equal(await countRows(), 0)
})

t.test('a video whose commit succeeds, although its answer is lost, is kept', async (t) => {
  const { deps, upload, files, isKept, db } = await start(t)
  const { storeVideo } = deps.media
  const transaction = db.transaction.bind(db)
  deps.media.storeVideo = async (...video) => {
    await storeVideo(...video)
    db.transaction = () => {
      db.transaction = transaction
      const builder = transaction()
      const execute = builder.execute.bind(builder)
      builder.execute = async (work) => {
        await execute(work)
        throw new Error('the connection broke')
      }
      return builder
    }
  }
  t.equal((await upload()).status, 500)
  const { key } = await db.selectFrom('media').select('key').where('storing_until', 'is', null)
    .where('delete_requested_at', 'is', null).executeTakeFirstOrThrow()
  t.ok(await isKept(key))
  t.equal(await files(), 1)
})

t.test('a reported video is frozen with its poster, and operators play it in parts', async (t) => {
  const { ana, app, db, deps, del, folder, isKept, person, post, uploadOne } = await start(t)
  const ben = await person('Ben')
  const video = await uploadOne(file(), poster)
  const { id } = (await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [video.url] })).data.post
  t.equal((await post(ben, '/reports', { targetType: 'POST', targetId: id, reason: 'SPAM' })).status, 201)
  await del(ana, `/feed/${id}`)
  t.ok(await isKept(video.key), 'it stays until it is copied')
  const original = createHash('sha256').update(await readFile(path.join(folder, video.key))).digest()
  await copyCaseFiles(deps, releaseImage)
  await runHousekeeping(deps)
  t.notOk(await isKept(video.key))
  const { copy, case_id, sha256 } = await db.selectFrom('case_files').selectAll().executeTakeFirstOrThrow()
  t.match(copy, /^private\/.*\.mp4$/)
  t.ok(await isKept(posterKeyOf(copy)))
  t.same(sha256, original)
  const headers = { ...operatorBearer(), range: 'bytes=10-' }
  const part = await app.inject({ url: `/operator/cases/${case_id}/files/1`, headers })
  t.equal(part.statusCode, 206)
  t.match(part.headers, {
    'content-type': 'video/mp4',
    'content-range': `bytes 10-${video.bytes - 1}/${video.bytes}`,
    'cache-control': 'no-store'
  })
  t.same(part.rawPayload, (await readFile(path.join(folder, copy))).subarray(10))
  const behind = await app.inject({
    url: `/operator/cases/${case_id}/files/1`,
    headers: { ...headers, range: 'bytes=9999999-' }
  })
  t.equal(behind.statusCode, 416)
})

t.test('an erasure takes the files of a video, and an export names them', async (t) => {
  const { ana, db, deps, uploadOne, files } = await start(t)
  const { key } = await uploadOne(file(), poster)
  const pages: { rows: object[], files: string[] }[] = []
  for (let after: string | null = null;;) {
    const page = await deps.erasure.readPersonalData({ accountId: ana, after })
    pages.push(...page.things)
    if (page.next === null) break
    after = page.next
  }
  t.match(pages.find(({ files }) => files.length > 0), {
    rows: [{ key, mime_type: 'video/mp4', duration_seconds: 2 }],
    files: [key, posterKeyOf(key)]
  })
  await db.insertInto('departures').values({ account_id: ana, erasure_id: randomUUID() }).execute()
  await deps.erasure.eraseDue()
  t.equal(await files(), 0)
})
