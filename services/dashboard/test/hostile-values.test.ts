import { bearer, fuzzApi, createInjector } from '@tandem/http-kit/testing'
import t from 'tap'
import { testApp } from './app.ts'

t.test('no value in a path, a query or a body causes a server error', async (t) => {
  const { app, newUser } = await testApp(t)
  const { account } = newUser()
  const { bad, sent } = await fuzzApi((await app.inject('/openapi.json')).json(), {
    send: createInjector(app, bearer(account))
  })
  t.strictSame(bad, [])
  t.ok(sent > 1_000, `${sent} requests`)
})
