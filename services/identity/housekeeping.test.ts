import { sql } from 'kysely'
import { checkSteps } from '@tandem/database-kit/testing'
import t from 'tap'
import { runHousekeeping } from './housekeeping.ts'
import { testApp } from './test/app.ts'

const { db } = await testApp(t)

t.test('a step that fails does not stop the next', async (t) => {
  await checkSteps(t, {
    db,
    run: async () => await runHousekeeping(db),
    missing: 'staff_sessions',
    expired: sql`
      insert into passkey_challenges (challenge, purpose, expires_at) values ('old', 'SIGN_IN', now() - interval '1 day')`,
    table: 'passkey_challenges'
  })
})
