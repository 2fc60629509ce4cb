import { randomUUID } from 'node:crypto'
import t from 'tap'
import { OperatorActed } from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
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
