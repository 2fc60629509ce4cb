import t from 'tap'
import { listMissingExamples } from '@tandem/http-kit/testing'
import { testApp } from './test/app.ts'

t.test('every operation is documented with complete examples of its body and response', async (t) => {
  const { app } = await testApp(t)
  t.strictSame(await listMissingExamples(app), [])
})
