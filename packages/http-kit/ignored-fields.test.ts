import t from 'tap'
import { Type } from 'typebox'
import { data } from './envelope.ts'
import { Body, Id, Nullable, PageQuery, Text } from './schemas.ts'
import type { Routes } from './server.ts'
import { bearer, testServer } from './testing.ts'

const headers = bearer('ana')
const body = Body({
  name: Text({ max: 9 }),
  device: Type.Optional(Nullable(Body({ model: Type.String() }))),
  items: Type.Optional(Type.Array(Body({ id: Id }))),
  draft: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
})

const routes: Routes = async (app) => {
  app.post('/echo', { schema: { body } }, async ({ body }) => data(body))
  app.get('/page', { schema: { querystring: PageQuery() } }, async ({ query }) => data(query))
  app.get('/plain', { schema: { summary: 'No query' } }, async () => data({}))
  app.get('/proxied', async () => data({}))
}

t.test('the header names ignored fields and nothing else', async (t) => {
  const app = await testServer(t, routes)
  const namesOf = async (payload: object) =>
    (await app.inject({ method: 'POST', url: '/echo', headers, payload })).headers['x-ignored-fields']
  t.equal(await namesOf({ name: 'Ana' }), undefined)
  t.equal(await namesOf({ name: 'Ana', device: null, draft: { any: 1 } }), undefined)
  t.equal(
    await namesOf({
      name: 'Ana',
      nickname: 'A',
      device: { model: 'x', colour: 'red' },
      items: [{ note: 1 }, { note: 2 }]
    }),
    'nickname, device.colour, items.*.note'
  )
  t.equal(await namesOf({ nickname: 'A' }), 'nickname', 'also with an error, because the field may be misspelt')
  t.equal(
    await namesOf({ name: 'Ana', toString: 1, constructor: 1 }),
    'toString, constructor',
    'inherited property names are no exception'
  )

  const queryNames = async (url: string) => (await app.inject({ url, headers })).headers['x-ignored-fields']
  t.equal(await queryNames('/page?limit=2&cursor='), undefined)
  t.equal(await queryNames('/page?limit=2&page=3&utm_source=x'), 'page, utm_source')
  t.equal(await queryNames('/plain?a=1'), 'a')
  t.equal(await queryNames('/proxied?a=1'), undefined)
})

t.test('the header stays short and safe, whatever a client sends', async (t) => {
  const app = await testServer(t, routes)
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, i]))
  const names = async (payload: object) =>
    String((await app.inject({ method: 'POST', url: '/echo', headers, payload })).headers['x-ignored-fields'])
  t.equal((await names({ name: 'Ana', ...many })).split(', ').length, 20)
  t.equal(await names({ name: 'Ana', 'a\r\nset-cookie: x': 1, 'ü,b': 1 }), 'a??set-cookie??x, ??b')
  t.equal((await names({ name: 'Ana', ['x'.repeat(5_000)]: 1 })).length, 64)
})
