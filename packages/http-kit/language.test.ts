import t from 'tap'
import { Type } from 'typebox'
import { data } from './envelope.ts'
import { languageOfRequest } from './language.ts'
import { Data } from './schemas.ts'
import type { Routes } from './server.ts'
import { testServer } from './testing.ts'

const routes: Routes = async (app) => {
  app.get('/language', {
    config: { public: true },
    schema: { response: { 200: Data(Type.Object({ language: Type.String() })) } }
  }, async (request) => data({ language: languageOfRequest(request, 'id') }))
}

t.test('a client gets its preferred supported language, or the default of the route', async (t) => {
  const app = await testServer(t, routes)
  const cases = [
    ['en', 'en'],
    ['fr, en;q=0.5, id;q=0.4', 'en'],
    ['in-ID', 'id'],
    ['en;q=0.1, in', 'id'],
    ['fr', 'id'],
    ['*', 'id'],
    ['fr, *;q=0.5', 'id'],
    ['*;q=0.5, en;q=0.1', 'en'],
    ['', 'id']
  ] as const
  for (const [acceptLanguage, language] of cases) {
    const response = await app.inject({ url: '/language', headers: { 'accept-language': acceptLanguage } })
    t.equal(response.json().data.language, language, acceptLanguage)
  }
  t.equal((await app.inject('/language')).json().data.language, 'id')
})
