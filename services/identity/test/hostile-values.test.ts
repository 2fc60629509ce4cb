import { fuzzApi, createInjector } from '@tandem/http-kit/testing'
import t from 'tap'
import { as, testApp } from './app.ts'

t.test('no value in a path, a query or a body causes a server error', async (t) => {
  const { app, givenAccount } = await testApp(t)
  const ana = await givenAccount()
  const { bad, sent } = await fuzzApi((await app.inject('/openapi.json')).json(), {
    send: createInjector(app, as(ana))
  })
  t.strictSame(bad, [])
  t.ok(sent > 1_000, `${sent} requests`)
})
