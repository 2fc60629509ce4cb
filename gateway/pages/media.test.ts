import path from 'node:path'
import t, { type Test } from 'tap'
import { createUrlSigner } from '@tandem/media-url-kit'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
import { testGateway } from '../test/gateway.ts'

const name = '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e0f.webp'
const video = name.replace('webp', 'mp4')
const thumbnail = name.replace('.', '-w320.')

function folderOf (t: Test) {
  const folder = t.testdir({
    media: {
      public: { [name]: '0123456789', 'page.html': '<script>', [thumbnail]: 'smaller', [video]: '0123456789' },
      private: { [name]: 'for few', '.hidden': 'x', [thumbnail]: 'small for few', [video]: 'a film for few' },
      '.unfinished': { a: 'x' }
    },
    'outside.txt': 'secret'
  })
  return path.join(folder, 'media')
}

const withMedia = async (t: Test, env: NodeJS.ProcessEnv = {}) =>
  await testGateway(t, { env: { MEDIA_DIR: folderOf(t), MEDIA_SIGNING_KEY: mediaSigningKey, ...env } })

t.test('public images are cached forever, and no other file of the folder is served', async (t) => {
  const { call } = await withMedia(t)
  const file = await call(`/media/public/${name}`)
  t.equal(file.body.toString(), '0123456789')
  t.match(file, {
    status: 200,
    headers: {
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=604800, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': /sandbox/,
      etag: /./
    }
  })
  t.match(await call(`/media/public/${name}`, { headers: { range: 'bytes=2-4' } }), {
    status: 206,
    headers: { 'content-range': 'bytes 2-4/10' },
    body: { length: 3 }
  })
  t.equal((await call(`/media/public/${name}`, { headers: { range: 'bytes=10-' } })).status, 416)
  t.match(await call(`/media/public/${name}`, { headers: { 'if-none-match': file.headers.etag } }), { status: 304 })
  t.match(await call(`/media/public/${name}`, { method: 'HEAD' }), { status: 200, headers: { 'content-length': '10' } })
  for (
    const wrong of [
      '/media/',
      '/media',
      '/media/public',
      '/media/public/',
      '/media/private/.hidden',
      '/media/public/page.html',
      '/media/.unfinished/a',
      `/media/public/${name.replace('0f', '10')}`,
      '/media/../outside.txt',
      '/media/%2e%2e/outside.txt',
      '/media/..%2foutside.txt',
      '/media/%00'
    ]
  ) {
    const answer = await call(wrong)
    t.equal(answer.status, 404, wrong)
    t.match(answer.json(), { success: false, code: 'NOT_FOUND' })
    t.notMatch(answer.headers['cache-control'], 'max-age')
  }
})

t.test('a private image needs a signed URL and is not stored by shared caches', async (t) => {
  const { call } = await withMedia(t)
  const key = `private/${name}`
  const signed = `/media/${key}?${createUrlSigner(mediaSigningKey).sign(key)}`
  const file = await call(signed)
  t.equal(file.body.toString(), 'for few')
  const { 'cache-control': caching = '', etag } = file.headers
  const [, seconds] = /^private, max-age=(\d+)$/.exec(caching) ?? []
  t.ok(Number(seconds) > 29 * 60 && Number(seconds) <= 60 * 60, caching)
  t.match(await call(signed, { headers: { 'if-none-match': etag } }), {
    status: 304,
    headers: { 'cache-control': /^private/ }
  })
  t.match(await call(signed, { headers: { range: 'bytes=0-2' } }), {
    status: 206,
    headers: { 'cache-control': /^private/ }
  })

  const hourAgo = createUrlSigner(mediaSigningKey, () => Date.now() - 3_600_000).sign(key)
  const absent = key.replace('0f', '10')
  for (
    const [wrong, status] of [
      [`/media/${key}`, 403],
      [`/media/${key}?${hourAgo}`, 403],
      [`${signed}A`, 403],
      [`/media/${key}?${createUrlSigner('x'.repeat(40)).sign(key)}`, 403],
      [signed.replace('0f.', '10.'), 403],
      [`/media/${absent}?${createUrlSigner(mediaSigningKey).sign(absent)}`, 404],
      // No other spelling makes it a public file.
      [`/media/public/../${key}`, 404],
      [`/media/public/%2e%2e/${key}`, 404],
      [`/media/public/..%2f${key}`, 404],
      [`/media//${key}`, 404],
      [`/media/./${key}`, 404],
      [`/media/%70rivate/${name}`, 403],
      [`/media/PRIVATE/${name}`, 404],
      [`/media/private%2f${name}`, 403],
      [`/media/private//${name}`, 404],
      [`/media/private\\${name}`, 404]
    ] as const
  ) {
    const answer = await call(wrong)
    t.equal(answer.status, status, wrong)
    t.match(answer.json(), { success: false, code: status === 403 ? 'FORBIDDEN' : 'NOT_FOUND' })
    t.notOk(answer.body.includes('for few'))
    t.notMatch(answer.headers['cache-control'], 'max-age')
  }
})

t.test('a thumbnail is served for a width, and the image if it is not wider', async (t) => {
  const { call } = await withMedia(t)
  const caching = { headers: { 'cache-control': 'public, max-age=604800, immutable' } }
  const small = await call(`/media/public/${name}?w=320`)
  t.match(small, { status: 200, ...caching })
  t.equal(small.body.toString(), 'smaller')
  t.equal((await call(`/media/public/${name}?w=1080`)).body.toString(), '0123456789')
  t.match(await call(`/media/public/${name}?w=320`, { method: 'HEAD' }), { headers: { 'content-length': '7' } })
  for (const width of ['0', '321', '', '320.0', '320&w=640', '../320', '-320']) {
    const response = await call(`/media/public/${name}?w=${width}`)
    t.match(response.json(), { code: 'VALIDATION_ERROR', error: 'w must be one of 160, 320, 640, 1080' }, width)
    t.equal(response.headers['cache-control'], 'no-store', width)
  }
  t.equal((await call(`/media/public/${thumbnail}`)).status, 404, 'it has no other URL')

  const key = `private/${name}`
  const signature = createUrlSigner(mediaSigningKey).sign(key)
  const hidden = await call(`/media/${key}?${signature}&w=320`)
  t.match(hidden.headers['cache-control'], /^private/)
  t.equal(hidden.body.toString(), 'small for few')
  t.equal((await call(`/media/${key}?w=320`)).status, 403)
})

t.test('a range of thousands of spaces or digits costs no processor time', async (t) => {
  const { call } = await withMedia(t)
  const read = async (range: string) => await call(`/media/public/${video}`, { headers: { range } })
  await read('bytes=0-1')
  for (const character of [' ', '1', '-']) {
    const before = process.cpuUsage()
    t.equal((await read(`bytes=${character.repeat(15_000)}x`)).status, 416)
    t.ok(process.cpuUsage(before).user < 200_000, `15,000 times "${character}"`)
  }
})

t.test('a video is sent whole, or the range that a player asks for', async (t) => {
  const { call } = await withMedia(t)
  const url = `/media/public/${video}`
  const whole = await call(url)
  t.match(whole, {
    status: 200,
    headers: {
      'content-type': 'video/mp4',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'content-disposition': 'inline',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=604800, immutable',
      etag: /^"[0-9a-f-]{36}"$/
    }
  })
  t.equal(whole.body.toString(), '0123456789')
  const { etag = '', 'last-modified': modified = '' } = whole.headers
  const read = async (range: string, more: Record<string, string> = {}, method = 'GET') => {
    const { status, headers, body } = await call(url, { method, headers: { range, ...more } })
    return [status, headers['content-range'], body.toString()]
  }
  t.same(await read('bytes=0-1'), [206, 'bytes 0-1/10', '01'])
  t.same(await read('bytes=2-'), [206, 'bytes 2-9/10', '23456789'])
  t.same(await read('bytes=9-200'), [206, 'bytes 9-9/10', '9'])
  t.same(await read('bytes=-3'), [206, 'bytes 7-9/10', '789'])
  t.same(await read('bytes=-30'), [206, 'bytes 0-9/10', '0123456789'])
  t.same(await read('bytes=0-99999999999999999999'), [206, 'bytes 0-9/10', '0123456789'])
  for (const range of ['bytes=10-', 'bytes=5-4', 'bytes=-0', 'bytes=0-1,4-5', 'bytes=', 'bytes=a-b']) {
    const { status, headers, json } = await call(url, { headers: { range } })
    t.match({ status, headers }, {
      status: 416,
      headers: { 'content-range': 'bytes */10', 'cache-control': 'no-store' }
    })
    t.match(json(), { code: 'RANGE_NOT_SATISFIABLE', error: /one range/ }, range)
  }
  t.same(await read('lines=1-2'), [200, undefined, '0123456789'])
  t.same(await read('bytes=2-3', { 'if-range': etag }), [206, 'bytes 2-3/10', '23'])
  for (const other of ['"another"', `W/${etag}`, modified]) {
    t.same(await read('bytes=2-3', { 'if-range': other }), [200, undefined, '0123456789'], other)
  }
  t.same(await read('bytes=2-3', {}, 'HEAD'), [206, 'bytes 2-3/10', ''])
  t.match(await call(url, { method: 'HEAD' }), { status: 200, headers: { 'content-length': '10' } })
  for (const known of [etag, `W/${etag}`, `"a", ${etag}`]) {
    t.match(await call(url, { headers: { 'if-none-match': known } }), { status: 304, headers: { etag } })
  }
  const absent = await call(url.replace('0f', '10'))
  t.equal(absent.status, 404)
  t.match(absent.json(), { code: 'NOT_FOUND' })

  const key = `private/${video}`
  const signed = `/media/${key}?${createUrlSigner(mediaSigningKey).sign(key)}`
  t.match(await call(signed, { headers: { range: 'bytes=2-5' } }), {
    status: 206,
    headers: { 'cache-control': /^private, max-age=/ }
  })
  t.equal((await call(`/media/${key}`)).status, 403)
})

t.test('a secret is rotated by putting the new one in front', async (t) => {
  const { call } = await withMedia(t, { MEDIA_SIGNING_KEY: `${'n'.repeat(32)},${mediaSigningKey}` })
  const key = `private/${name}`
  for (const secret of [mediaSigningKey, 'n'.repeat(32)]) {
    t.equal((await call(`/media/${key}?${createUrlSigner(secret).sign(key)}`)).status, 200)
  }
})

t.test('media with another origin are not served by the gateway', async (t) => {
  const withOtherOrigin = await withMedia(t, {
    PUBLIC_URL: 'https://api.example.org',
    CDN_URL: 'https://cdn.example.org/media'
  })
  t.equal((await withOtherOrigin.call(`/media/public/${name}`)).status, 404)
  const withSameOrigin = await withMedia(t, {
    PUBLIC_URL: 'https://api.example.org',
    CDN_URL: 'https://api.example.org/files/v1/'
  })
  t.equal((await withSameOrigin.call(`/files/v1/public/${name}`)).status, 200)
  for (const path of ['', '/', '/docs', '/api/x']) {
    await t.rejects(withMedia(t, { CDN_URL: `https://api.example.org${path}` }), {
      name: 'ConfigError',
      message: /CDN_URL must have its own path/
    })
  }
  await t.rejects(testGateway(t, { env: { MEDIA_DIR: folderOf(t) } }), {
    name: 'ConfigError',
    message: /MEDIA_SIGNING_KEY/
  })
})
