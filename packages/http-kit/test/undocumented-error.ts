import t from 'tap'
import { defineError } from '@tandem/process-kit'
import { testServer } from '../testing.ts'

const AlreadyLiked = defineError('ALREADY_LIKED', 400)

// The program of a test in route-errors.test.ts, which expects it to fail.
t.test('a route returns an error that it does not list', async (t) => {
  const app = await testServer(t, async (app) => {
    app.get('/likes', { schema: {}, config: { public: true } }, async () => {
      throw new AlreadyLiked()
    })
  })
  await app.inject('/likes')
})
