import path from 'node:path'
import t from 'tap'
import { testGateway } from './testing.ts'

t.test('uploaded media are served for ever, and nothing else of the folder', async (t) => {
  const folder = t.testdir({ media: { posts: { 'a.webp': '0123456789' }, '.hidden': 'x', 'page.html': '<script>' }, 'outside.txt': 'secret' })
  const { call } = await testGateway(t, { env: { MEDIA_DIR: path.join(folder, 'media') } })
  const file = await call('/media/posts/a.webp')
  t.equal(file.body.toString(), '0123456789')
  t.match(file, { status: 200, headers: { 'content-type': 'image/webp', 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin', 'content-security-policy': /sandbox/, etag: /./ } })
  t.match(await call('/media/posts/a.webp', { headers: { range: 'bytes=2-4' } }), { status: 206, headers: { 'content-range': 'bytes 2-4/10' }, body: { length: 3 } })
  t.match(await call('/media/posts/a.webp', { headers: { 'if-none-match': file.headers.etag } }), { status: 304 })
  t.match(await call('/media/posts/a.webp', { method: 'HEAD' }), { status: 200, headers: { 'content-length': '10' } })
  for (const wrong of ['/media/', '/media', '/media/posts', '/media/posts/', '/media/.hidden', '/media/none.webp', '/media/../outside.txt', '/media/%2e%2e/outside.txt', '/media/..%2foutside.txt', '/media/%00']) {
    const answer = await call(wrong)
    t.equal(answer.status, 404, wrong)
    t.match(answer.json(), { success: false, code: 'NOT_FOUND' })
  }
})

t.test('media of another origin are not served here', async (t) => {
  const folder = t.testdir({ 'a.webp': 'x' })
  const elsewhere = await testGateway(t, { env: { MEDIA_DIR: folder, PUBLIC_URL: 'https://api.example.org', CDN_URL: 'https://cdn.example.org/media' } })
  t.equal((await elsewhere.call('/media/a.webp')).status, 404)
  const here = await testGateway(t, { env: { MEDIA_DIR: folder, PUBLIC_URL: 'https://api.example.org', CDN_URL: 'https://api.example.org/files/v1/' } })
  t.equal((await here.call('/files/v1/a.webp')).status, 200)
  await t.rejects(testGateway(t, { env: { MEDIA_DIR: folder, CDN_URL: 'https://api.example.org/api/x' } }), { name: 'ConfigError', message: /CDN_URL/ })
})
