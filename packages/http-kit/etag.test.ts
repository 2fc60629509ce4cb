import t from 'tap'
import Type from 'typebox'
import { NotFound } from './errors.ts'
import { NotModified } from './etag.ts'
import { Data, data } from './index.ts'
import { testServer } from './testing.ts'

t.test('a client that has the current response gets 304, and the new one after a change', async (t) => {
  let name = 'Ana'
  const app = await testServer(t)
  const response = { 200: Data(Type.Object({ name: Type.String() })), 304: NotModified }
  const config = { public: true }
  app.get('/person', { schema: { response, errors: [NotFound] }, config }, async () => {
    if (name === '') throw new NotFound()
    return data({ name })
  })
  app.get(
    '/cached',
    { schema: { response }, config },
    async (_request, reply) =>
      reply.headers({ 'cache-control': 'public, max-age=60', 'etag': '"own"' }).send(data({ name }))
  )
  const get = async (etag?: string, url = '/person') =>
    await app.inject({ url, headers: { ...etag !== undefined && { 'if-none-match': etag } } })

  const first = await get()
  const etag = String(first.headers['etag'])
  t.match(first, { statusCode: 200, headers: { 'cache-control': 'private, no-cache' } })
  t.match(etag, /^W\/"[\w-]{22}"$/)
  for (const header of [etag, etag.slice(2), `"other", ${etag}`]) {
    const again = await get(header)
    t.match(again, { statusCode: 304, body: '', headers: { etag } }, header)
    t.notOk(again.headers['content-type'])
  }
  t.equal((await get('"other"')).statusCode, 200)

  name = 'Ben'
  const changed = await get(etag)
  t.match(changed.json(), { data: { name: 'Ben' } })
  t.not(changed.headers['etag'], etag)
  name = ''
  const failed = await get(etag)
  t.equal(failed.statusCode, 404)
  t.notOk(failed.headers['etag'], 'an error has none')
  t.match((await get(undefined, '/cached')).headers, { 'etag': '"own"', 'cache-control': 'public, max-age=60' })
})
