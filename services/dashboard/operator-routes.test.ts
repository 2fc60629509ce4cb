import t from 'tap'
import { checkOperatorRoutes } from '@tandem/operator-kit/testing'
import { testApp } from './test/app.ts'

t.test('nothing below /operator is open', async (t) => {
  const { app } = await testApp(t)
  await checkOperatorRoutes(t, app)
})
