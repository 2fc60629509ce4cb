import { randomUUID } from 'node:crypto'
import t from 'tap'
import { OperatorActed } from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
import { registry } from '@tandem/process-kit'
import { bearer, silentLog } from '@tandem/http-kit/testing'
import { startCopying } from './safety/background.ts'
import { inParallel, testApp } from './test/app.ts'

t.test('what operators read and decide is published with account, session, network and request id', async (t) => {
  const { app, db, get, post, upload, memberWithPhotos, operator, publishedEvents } = await testApp(t)
  const [ana, ben, eve] = [
    await memberWithPhotos('Ana'),
    await memberWithPhotos('Ben'),
    await memberWithPhotos('Eve')
  ]
  const admin = { accountId: randomUUID(), sessionId: randomUUID() }
  const acts = async () => await publishedEvents(OperatorActed)

  /** Sends a request as an operator and returns what the published event says about it. */
  async function act (method: 'GET' | 'POST', url: string, payload?: object) {
    const response = await app.inject({
      method,
      url: `/fitmatch/admin/${url}`,
      headers: bearer(admin.accountId, { role: 'ADMIN', sessionId: admin.sessionId }),
      remoteAddress: '203.0.113.7',
      ...(payload && { payload })
    })
    t.equal(response.statusCode, 200, url)
    return { ...admin, network: '203.0.113.0/24', requestId: response.headers['x-request-id'] }
  }
  const verify = async (accountId: string) => {
    await upload(accountId, '/fitmatch/verification', 'photo', createPng())
    const { id } = await db.selectFrom('verifications').where('account_id', '=', accountId).select('id')
      .executeTakeFirstOrThrow()
    return id
  }

  const [first, second] = [await verify(ana.id), await verify(ben.id)]
  const seen = await act('GET', `verifications/${first}/selfie`)
  const approved = await act('POST', `verifications/${first}/approve`)
  const rejected = await act('POST', `verifications/${second}/reject`, { reason: 'The face is covered' })
  const { data: { report: { id: report } } } = await post(ana.id, '/fitmatch/report', {
    reportedProfileId: eve.profileId,
    reason: 'SPAM'
  })
  const listed = await act('GET', 'reports')
  const suspended = await act('POST', `reports/${report}/resolve`, { action: 'SUSPEND', note: 'Seen it' })
  const restored = await act('POST', `reports/${report}/resolve`, { action: 'RESTORE' })
  t.strictSame(
    (await db.selectFrom('audit_entries').where('staff_id', '=', admin.accountId).select(['role', 'action'])
      .orderBy('number').execute()).map(({ role, action }) => `${role} ${action}`),
    [
      'APP_ADMIN GET /fitmatch/admin/verifications/:id/selfie',
      'APP_ADMIN POST /fitmatch/admin/verifications/:id/approve',
      'APP_ADMIN POST /fitmatch/admin/verifications/:id/reject',
      'APP_ADMIN GET /fitmatch/admin/reports',
      'APP_ADMIN POST /fitmatch/admin/reports/:id/resolve',
      'APP_ADMIN POST /fitmatch/admin/reports/:id/resolve'
    ],
    'the audit has it too'
  )
  t.strictSame(await acts(), [
    { ...seen, action: 'SELFIE_READ', subjectId: first },
    { ...approved, action: 'VERIFICATION_APPROVE', subjectId: first },
    { ...rejected, action: 'VERIFICATION_REJECT', subjectId: second },
    { ...listed, action: 'REPORTS_READ', subjectId: null },
    { ...suspended, action: 'REPORT_SUSPEND', subjectId: report },
    { ...restored, action: 'REPORT_RESTORE', subjectId: report }
  ])

  const before = (await acts()).length
  await inParallel(4, () => operator('POST', `/fitmatch/admin/verifications/${second}/approve`))
  t.match(await operator('GET', `/fitmatch/admin/verifications/${randomUUID()}/selfie`), { status: 404 })
  t.match(await operator('POST', `/fitmatch/admin/reports/${randomUUID()}/resolve`, { action: 'DISMISS' }), {
    status: 404
  })
  t.match(await get(ana.id, `/fitmatch/admin/verifications/${first}/selfie`), { status: 403 })
  t.equal((await acts()).length, before, 'rejected requests are not published')
})

t.test('reports are counted by reason', async (t) => {
  const { member, post } = await testApp(t)
  const count = async () =>
    (await registry.getSingleMetric('fitmatch_reports_total')?.get())?.values.find(({ labels }) =>
      labels.reason === 'HARASSMENT'
    )?.value ?? 0
  const before = await count()
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await post(ana.id, '/fitmatch/report', { reportedProfileId: ben.profileId, reason: 'HARASSMENT' })
  t.equal(await count(), before + 1)
})

t.test('a case that is overdue is counted by the next reading of the metrics', async (t) => {
  const { db, deps, member, post } = await testApp(t)
  t.teardown(startCopying(deps, silentLog))
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await post(ana.id, '/fitmatch/report', { reportedProfileId: ben.profileId, reason: 'HARASSMENT' })
  const count = async () => (await registry.getSingleMetric('cases_overdue')?.get())?.values[0]?.value
  t.equal(await count(), 0)
  await db.updateTable('cases').set({ due_at: new Date(0) }).execute()
  t.equal(await count(), 1)
})
