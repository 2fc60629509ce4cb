import { bearer, fuzzApi, createInjector } from '@tandem/http-kit/testing'
import t from 'tap'
import { givenPost, givenStory, testApp } from './app.ts'

t.test('no value in a path, a query or a body causes a server error', async (t) => {
  const { app, db, person } = await testApp(t)
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const post = await givenPost(db, { author_id: ben })
  const story = await givenStory(db, { author_id: ana })
  const { bad, sent } = await fuzzApi((await app.inject('/openapi.json')).json(), {
    send: createInjector(app, bearer(ana)),
    ids: { feed: post.id, users: ben, stories: story.id }
  })
  t.strictSame(bad, [])
  t.ok(sent > 1_000, `${sent} requests`)
})
