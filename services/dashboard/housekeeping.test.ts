import { randomUUID } from 'node:crypto'
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

t.test('what an account used on a day that is over is deleted', async (t) => {
  const [over, current] = [-3, 1].map((days) => ({
    account_id: randomUUID(),
    name: 'imports',
    used: 1,
    ends_at: new Date(Date.now() + days * 86_400_000)
  }))
  await db.insertInto('daily_quotas').values([over!, current!]).execute()
  await runHousekeeping(db)
  const left = await db.selectFrom('daily_quotas').select('account_id').execute()
  t.strictSame(left, [{ account_id: current!.account_id }])
})
