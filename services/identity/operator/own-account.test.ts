import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp } from '../test/app.ts'

t.test('operators change nothing of their own account in the app', async (t) => {
  const { asOperator, canRefresh, db, get, post, givenAccount } = await testApp(t)
  const account = await givenAccount({ provider: 'PROVIDER_A' })
  const support = await asOperator('SUPPORT', { accountId: account.id })
  const reason = 'for me'
  for (
    const [path, body] of [
      ['subscription/grant', { planId: 'premium', days: 3_650, reason }],
      ['subscription/take', { reason }],
      ['subscription/recheck', { reason }],
      ['sessions/end', { reason }],
      ['providers/remove', { provider: 'PROVIDER_A', reason }]
    ] as const
  ) {
    t.match(
      await post(`/operator/people/${account.id}/${path}`, body, { headers: support }),
      { status: 403, code: 'FORBIDDEN' },
      path
    )
  }
  t.equal((await get('/subscription', { as: account })).data.subscription, null)
  t.ok(await canRefresh(account))
  t.match(await get(`/operator/people/${account.id}?reason=mine`, { headers: support }), { status: 200 })
  const granted = { planId: 'premium', days: 30, reason: 'an apology' }
  const other = await givenAccount()
  t.match(await post(`/operator/people/${other.id}/subscription/grant`, granted, { headers: support }), { status: 200 })
  const actions = await db.selectFrom('audit_entries').where('subject', '=', account.id).where('reason', '=', reason)
    .select('action').execute()
  t.equal(actions.length, 5, 'that they tried is in the audit')
})

for (const fourEyes of [new Set<never>(), new Set(['HOLD'] as const)]) {
  t.test(`nor hold or release its deletion, with ${fourEyes.size + 1} operators`, async (t) => {
    const { asOperator, db, get, post, givenAccount } = await testApp(t, { fourEyes })
    const account = await givenAccount()
    const headers = await asOperator('ADMIN', { accountId: account.id })
    const id = randomUUID()
    const statusOf = async () => (await get('/operator/erasures', { headers })).data.erasures[0].status
    for (const [change, status] of [['hold', 'SCHEDULED'], ['release', 'HELD']] as const) {
      await db.deleteFrom('erasures').execute()
      await db.insertInto('erasures').values({
        id,
        account_id: account.id,
        cause: 'OPERATOR',
        erase_at: new Date(Date.now() + 60_000),
        status,
        ...(status === 'HELD' && { hold_reason: 'a court', held_until: new Date(Date.now() + 60_000) })
      }).execute()
      t.match(
        await post(`/operator/erasures/${id}/${change}`, { days: 30, reason: 'for me' }, { headers }),
        { status: 403, code: 'FORBIDDEN' },
        change
      )
      t.equal(await statusOf(), status)
    }
  })
}
