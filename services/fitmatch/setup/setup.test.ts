import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp } from '../test/app.ts'

t.test('the setup draft', async (t) => {
  const { get, post, del, member, send, upload } = await testApp(t)
  const path = '/fitmatch/setup-draft'

  t.test('stores any object until it is deleted', async (t) => {
    const ana = randomUUID()
    t.strictSame((await get(ana, path)).data, { draft: null })
    const draft = {
      step: 2,
      lookingFor: ['MALE'],
      venues: [{ id: 'a', name: 'Gym', address: 'B', lat: 1.5, lng: 2 }],
      anything: { a: null }
    }
    const saved = await post(ana, path, draft)
    t.match(saved, { status: 200, data: { draft: { ...draft, savedAt: /^\d{4}-.*Z$/ } } })
    t.strictSame((await get(ana, path)).data.draft, saved.data.draft)
    await post(ana, path, { step: 3, savedAt: 'mine' })
    const { data } = await get(ana, path)
    t.strictSame(Object.keys(data.draft).sort(), ['savedAt', 'step'])
    t.not(data.draft.savedAt, 'mine')
    t.strictSame((await get(randomUUID(), path)).data, { draft: null })
    t.match(await del(ana, path), { status: 200, data: { cleared: true } })
    t.match(await del(ana, path), { status: 200, data: { cleared: true } })
    t.strictSame((await get(ana, path)).data, { draft: null })
  })

  t.test('is not overwritten by a multipart form', async (t) => {
    const ana = randomUUID()
    await post(ana, path, { step: 4 })
    t.match(await upload(ana, path, 'file', Buffer.from('x')), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    t.match(await get(ana, path), { data: { draft: { step: 4 } } })
  })

  t.test('has its limits', async (t) => {
    const ana = randomUUID()
    const deep = (depth: number): object => depth === 1 ? {} : { a: deep(depth - 1) }
    t.match(await post(ana, path, deep(6)), { status: 200 })
    t.match(await post(ana, path, deep(7)), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await post(ana, path, { a: 'x'.repeat(32 * 1024 - 8) }), { status: 200 })
    t.match(await post(ana, path, { a: 'x'.repeat(32 * 1024 - 7) }), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
    t.match(await post(ana, path, { a: Array(16_000).fill(1) }), { status: 200 }, 'however many values it has')
    t.match(await post(ana, path, []), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await post(ana, path, { 'a\u0000': 1 }), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('stores whether the tutorial was seen once there is a profile', async (t) => {
    const nobody = randomUUID()
    t.strictSame((await get(nobody, '/fitmatch/tutorial-seen')).data, { seen: false })
    t.match(await send(nobody, 'POST', '/fitmatch/tutorial-seen'), {
      status: 200,
      data: { seen: true, applied: false }
    })
    t.strictSame((await get(nobody, '/fitmatch/tutorial-seen')).data, { seen: false })
    const { id: ana } = await member('Ana')
    t.match(await send(ana, 'POST', '/fitmatch/tutorial-seen'), { status: 200, data: { seen: true, applied: true } })
    t.strictSame((await get(ana, '/fitmatch/tutorial-seen')).data, { seen: true })
    t.match(await get(ana, '/fitmatch/profile'), { data: { discoverTutorialSeen: true } })
  })
})
