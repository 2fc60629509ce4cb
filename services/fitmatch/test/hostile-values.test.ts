import { bearer, fuzzApi, createInjector } from '@tandem/http-kit/testing'
import t from 'tap'
import { testApp } from './app.ts'

t.test('no value in a path, query or body causes a server error', async (t) => {
  const { app, member, createMatch } = await testApp(t)
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const matchId = await createMatch(ana, ben)
  const { bad, sent } = await fuzzApi((await app.inject('/openapi.json')).json(), {
    send: createInjector(app, bearer(ana.id, { role: 'ADMIN' })),
    ids: { chat: matchId, profile: ben.profileId }
  })
  t.strictSame(bad, [])
  t.ok(sent > 1_000, `${sent} requests`)
})
