import { randomUUID } from 'node:crypto'
import t from 'tap'
import { OperatorActed } from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { checkOperatorRoutes, operatorBearer } from '@tandem/operator-kit/testing'
import { testApp } from './test/app.ts'

t.test('nothing below /operator is open', async (t) => {
  const { app } = await testApp(t)
  await checkOperatorRoutes(t, app)
})

t.test('moderators compare selfies with photos, and decide once', async (t) => {
  const { app, get, upload, memberWithPhotos, publishedEvents } = await testApp(t)
  const staffId = randomUUID()
  async function operate (method: 'GET' | 'POST', path: string, payload?: object) {
    const headers = operatorBearer('MODERATOR', { id: staffId })
    const response = await app.inject({ method, url: path, headers, ...(payload && { payload }) })
    const isJson = String(response.headers['content-type']).includes('json')
    return { status: response.statusCode, headers: response.headers, ...(isJson ? response.json() : {}) }
  }
  const people = [await memberWithPhotos('Ana'), await memberWithPhotos('Ben')]
  for (const { id } of people) await upload(id, '/fitmatch/verification', 'photo', createPng())
  const { data: { verifications: [first, second] } } = await operate('GET', '/operator/verifications')
  t.match(first, { accountId: people[0]!.id, hasSelfie: true, photos: [{ url: /^https:/ }, {}] })

  t.match(await operate('GET', `/operator/verifications/${first.id}/selfie`), {
    status: 200,
    headers: { 'content-type': 'image/webp', 'cache-control': 'no-store' }
  })
  t.match(await operate('GET', `/operator/verifications/${first.id}/photos/2`), {
    status: 200,
    headers: { 'content-type': 'image/webp', 'cache-control': 'no-store' }
  })
  t.match(await operate('GET', `/operator/verifications/${first.id}/photos/3`), { status: 404, code: 'NOT_FOUND' })
  t.match(await operate('POST', `/operator/verifications/${first.id}/approve`), { status: 200 })
  t.match(await operate('POST', `/operator/verifications/${first.id}/approve`), {
    status: 409,
    code: 'ALREADY_DECIDED'
  })
  t.match(await operate('POST', `/operator/verifications/${second.id}/reject`, {}), { status: 400 })
  t.match(
    await operate('POST', `/operator/verifications/${second.id}/reject`, { reason: 'Too dark', reasonCode: 'DARK' }),
    { status: 400 }
  )
  t.match(await operate('POST', `/operator/verifications/${second.id}/reject`, { reason: 'Too dark' }), { status: 200 })
  t.match(await get(people[0]!.id, '/fitmatch/verification'), { data: { verification: { status: 'APPROVED' } } })
  t.same(
    (await publishedEvents(OperatorActed)).map(({ accountId, action }) => [accountId, action]),
    [[staffId, 'SELFIE_READ'], [staffId, 'VERIFICATION_APPROVE'], [staffId, 'VERIFICATION_REJECT']]
  )
})

t.test('operators decide nothing about their own account in the app', async (t) => {
  const { app, get, post, upload, memberWithPhotos, db } = await testApp(t)
  const [ana, ben] = [await memberWithPhotos('Ana'), await memberWithPhotos('Ben')]
  await upload(ana.id, '/fitmatch/verification', 'photo', createPng())
  const { id } = await db.selectFrom('verifications').where('account_id', '=', ana.id).select('id')
    .executeTakeFirstOrThrow()
  const moderator = { headers: operatorBearer('MODERATOR', { accountId: ana.id }) }
  const administrator = { headers: bearer(ana.id, { role: 'ADMIN' }) }
  const report = await post(ben.id, '/fitmatch/report', { reportedProfileId: ana.profileId, reason: 'SPAM' })
  t.equal(report.status, 201)
  for (
    const [url, sender, payload] of [
      [`/operator/verifications/${id}/approve`, moderator, {}],
      [`/operator/verifications/${id}/reject`, moderator, { reason: 'Too dark' }],
      [`/fitmatch/admin/verifications/${id}/approve`, administrator, {}],
      [`/fitmatch/admin/verifications/${id}/reject`, administrator, { reason: 'Too dark' }],
      [`/fitmatch/admin/reports/${report.data.report.id}/resolve`, administrator, { action: 'DISMISS' }]
    ] as const
  ) {
    const response = await app.inject({ method: 'POST', url, payload, ...sender })
    t.match({ status: response.statusCode, ...response.json() }, { status: 403, code: 'FORBIDDEN' }, url)
  }
  t.match(await get(ana.id, '/fitmatch/verification'), { data: { verification: { status: 'PENDING' } } })
})
