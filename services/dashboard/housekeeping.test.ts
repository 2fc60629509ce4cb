import { checkSteps, expiredIdempotencyKey } from '@tandem/database-kit/testing'
import t from 'tap'
import { runHousekeeping } from './housekeeping.ts'
import { testApp } from './test/app.ts'

const { db } = await testApp(t)

t.test('a step that fails does not stop the next', async (t) => {
  await checkSteps(t, {
    db,
    run: async () => await runHousekeeping(db),
    missing: 'logs',
    expired: expiredIdempotencyKey(),
    table: 'idempotency_keys'
  })
})
