import { sql } from 'kysely'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { asOperator, db, post, givenAccount, login } = await testApp(t)

t.test('moderators end no ban, also with the restriction of a banned person', async (t) => {
  const account = await givenAccount()
  const decide = async (actions: object[], headers: Record<string, string>) =>
    await post('/operator/decisions', {
      case: null,
      accountId: account.id,
      actions,
      reason: 'SPAM',
      statement: 'You sold things.'
    }, { headers })
  const lift = [{ type: 'LIFT', scope: 'ALL' }]
  const moderator = await asOperator('MODERATOR')
  t.equal((await decide([{ type: 'RESTRICT', scope: 'ALL', days: 7 }], moderator)).status, 201)
  t.equal((await decide([{ type: 'BAN' }], await asOperator())).status, 201)

  t.match(await decide(lift, moderator), { status: 403, code: 'FORBIDDEN' })
  const unproved = await asOperator('ADMIN', { provedSecondsAgo: 660 })
  t.match(await decide(lift, unproved), { status: 403, code: 'PROOF_REQUIRED' })
  t.match(await login(account.email), { code: 'ACCOUNT_BANNED' })
  const { rows } = await sql`select from decisions where account_id = ${account.id} and actions @> '[{"type": "LIFT"}]'`
    .execute(db)
  t.equal(rows.length, 0, 'nothing was decided')

  t.equal((await decide([{ type: 'LIFT', scope: 'FITMATCH' }], moderator)).status, 201)
  t.equal((await decide(lift, await asOperator())).status, 201)
  t.match(await login(account.email), { status: 200 })
  t.equal((await decide([{ type: 'RESTRICT', scope: 'ALL', days: 7 }], moderator)).status, 201)
  t.equal((await decide(lift, moderator)).status, 201, 'a restriction they do')
})
