import { sql } from 'kysely'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { listIssues } from '../operator/queries.ts'
import { randomEmail, testApp } from '../test/app.ts'

const { db, post } = await testApp(t)

t.test('anybody can report a sign-in problem, and operators can read it', async (t) => {
  const email = randomEmail()
  const response = await post('/auth/report-issue', {
    email: email.toUpperCase(),
    description: '  The code never arrives.  '
  })
  t.strictSame(response, { status: 200, success: true, data: { message: 'Thank you, we will look into it' } })
  t.match(await listIssues(db), [{ email, description: 'The code never arrives.', at: Date }])
  const age = async (days: number) => {
    await db.updateTable('issue_reports').set({ created_at: sql<Date>`now() - ${`${days} days`}::interval` }).execute()
    await runHousekeeping(db)
    return (await listIssues(db)).length
  }
  t.same([await age(179), await age(181)], [1, 0], 'for half a year')
})

t.test('a description has 10 to 1,000 characters', async (t) => {
  const report = async (
    description: unknown,
    email: unknown = randomEmail()
  ) => (await post('/auth/report-issue', { email, description }))
  t.match(await report('1234567890'), { status: 200 })
  t.match(await report('😀'.repeat(1_000)), { status: 200 })
  for (const bad of ['123456789', '  123456789  ', 'x'.repeat(1_001), '', undefined, 5]) {
    t.match(await report(bad), { status: 400, code: 'VALIDATION_ERROR' })
  }
  t.match(await report('1234567890', 'ana'), { status: 400, code: 'VALIDATION_ERROR' })
})
