import t from 'tap'
import { listMissingExamples } from '@tandem/service-kit/testing'
import { testApp } from './test/app.ts'

t.test('every operation is documented with a whole example of its body and of its answer', async (t) => {
  const { app } = await testApp(t)
  t.strictSame(await listMissingExamples(app), [])
})
