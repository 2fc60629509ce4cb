import { access, readdir } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { BadgeEarned, Membership, VerificationDecided } from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, testApp } from '../test/app.ts'

t.test('photo verification', async (t) => {
  const { app, get, post, put, del, upload, member, operator, publishedEvents, db, deps, folder } = await testApp(t)
  const url = '/fitmatch/verification'
  const stateOf = async (accountId: string) => (await get(accountId, url)).data.verification
  const submit = (accountId: string) => upload(accountId, url, 'photo', createPng())
  const idOf = async (accountId: string) => (await db.selectFrom('verifications').where('account_id', '=', accountId).select('id').orderBy('id', 'desc').executeTakeFirstOrThrow()).id
  const selfiesOf = async (accountId: string) => await readdir(path.join(folder, 'selfies/selfies', accountId)).catch(() => [])

  t.test('is asked for once at a time, and withdrawn with its selfie', async (t) => {
    const { id: ana } = await member('Ana')
    t.strictSame(await stateOf(ana), { status: 'NONE', reason: null, submittedAt: null, decidedAt: null })
    const answers = await inParallel(5, () => submit(ana))
    t.strictSame(answers.map(({ status }) => status).sort((one, other) => one - other), [200, 409, 409, 409, 409])
    t.match(answers.find(({ status }) => status === 200), { data: { verification: { status: 'PENDING', submittedAt: String, decidedAt: null } } })
    t.match(answers.find(({ status }) => status === 409), { code: 'VERIFICATION_PENDING' })
    t.equal((await selfiesOf(ana)).length, 1)
    t.match(await del(ana, url), { status: 200, message: String })
    t.equal((await selfiesOf(ana)).length, 0)
    t.match(await stateOf(ana), { status: 'NONE' })
    t.match(await del(ana, url), { status: 404, code: 'NOT_FOUND' })
    t.match(await upload('0198c000-0000-7000-8000-000000000001', url, 'photo', createPng()), { status: 404, code: 'PROFILE_NOT_FOUND' })
  })

  t.test('is for operators alone to see and decideVerification', async (t) => {
    const { id: ana } = await member('Ana')
    await submit(ana)
    const id = await idOf(ana)
    const base = '/fitmatch/admin/verifications'
    for (const request of [get(ana, base), get(ana, `${base}/${id}/selfie`), post(ana, `${base}/${id}/approve`), post(ana, `${base}/${id}/reject`, { reason: 'a' })]) {
      t.match(await request, { status: 403, code: 'FORBIDDEN' })
    }
    const { data } = await operator('GET', base)
    t.match(data, { verifications: [{ id, accountId: ana, status: 'PENDING', hasSelfie: true, displayName: 'Ana', photos: [{}, {}] }], nextCursor: null })
    t.notOk(JSON.stringify(data).includes('selfies/'))
    const { bearer } = await import('@tandem/service-kit/testing')
    const selfie = await app.inject({ url: `${base}/${id}/selfie`, headers: bearer(ana, { role: 'ADMIN' }) })
    t.equal(selfie.headers['content-type'], 'image/webp')
    t.equal(selfie.headers['cache-control'], 'no-store')
    t.equal(selfie.rawPayload.subarray(8, 12).toString(), 'WEBP')
  })

  t.test('once approved shows on the profile, with a badge, and is told', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await submit(ana.id)
    const id = await idOf(ana.id)
    const answers = await inParallel(4, () => operator('POST', `/fitmatch/admin/verifications/${id}/approve`))
    t.strictSame(answers.map(({ status }) => status).sort((one, other) => one - other), [200, 409, 409, 409])
    t.match(await operator('POST', `/fitmatch/admin/verifications/${id}/reject`, { reason: 'a' }), { status: 409, code: 'ALREADY_DECIDED' })
    t.match(await stateOf(ana.id), { status: 'APPROVED', reason: null, decidedAt: String })
    t.match((await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data, { isPhotoVerified: true })
    t.match((await get(ana.id, '/fitmatch/badges')).data, { badges: ['PHOTO_VERIFIED'] })
    t.match(await publishedEvents(VerificationDecided), [{ accountId: ana.id, approved: true, reason: null }])
    t.match(await publishedEvents(BadgeEarned), [{ accountId: ana.id, badge: 'PHOTO_VERIFIED' }])
    t.equal((await db.selectFrom('audit_log').where('subject_id', '=', id).select('id').execute()).length, 1)
    t.match(await submit(ana.id), { status: 409, code: 'ALREADY_VERIFIED' })

    await del(ana.id, '/fitmatch/profile')
    const again = await post(ana.id, '/fitmatch/profile')
    t.match((await get(ben.id, `/fitmatch/profile/${again.data.id}`)).data, { isPhotoVerified: false }, 'other photos are another matter')
    t.match(await stateOf(ana.id), { status: 'NONE' })
    t.match((await get(ana.id, '/fitmatch/badges')).data, { badges: ['PHOTO_VERIFIED'] })
  })

  t.test('that lapses while badges are recalculated leaves no badge', async (t) => {
    const { id: ana } = await member('Ana')
    await submit(ana)
    await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana)}/approve`)
    const later = (await upload(ana, '/fitmatch/photos', 'file', createPng())).data.photo.id as string

    const { callRpc } = deps
    t.teardown(() => { deps.callRpc = callRpc })
    deps.callRpc = async (question, request) => {
      if (question.type === Membership.type) await put(ana, '/fitmatch/photos', { mainPhotoId: later })
      return await callRpc(question, request)
    }
    t.match(await post(ana, '/fitmatch/badges'), { status: 200, data: { badges: [], progress: [{ badge: 'PHOTO_VERIFIED', progress: 0 }] } })
    t.strictSame((await get(ana, '/fitmatch/badges')).data.badges, [])
  })

  t.test('lapses with a main photo that was not compared, and only then', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const approve = async () => {
      await submit(ana.id)
      t.match(await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana.id)}/approve`), { status: 200 })
    }
    const isVerified = async () => (await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data.isPhotoVerified
    const add = async () => (await upload(ana.id, '/fitmatch/photos', 'file', createPng())).data.photo.id as string
    const choose = (mainPhotoId: string) => put(ana.id, '/fitmatch/photos', { mainPhotoId })
    const remove = (id: string) => del(ana.id, `/fitmatch/photos?id=${id}`)
    await approve()
    const { photos: [{ id: first }, { id: second }] } = (await get(ana.id, '/fitmatch/photos')).data
    const later = await add()
    t.match(await choose(second), { data: { isPhotoVerified: true } })
    t.equal(await isVerified(), true, 'both were compared')

    t.match(await choose(later), { status: 200, data: { isPhotoVerified: false } })
    t.equal(await isVerified(), false)
    t.match(await stateOf(ana.id), { status: 'NONE', reason: String })
    t.strictSame((await get(ana.id, '/fitmatch/badges')).data.badges, [])
    await post(ana.id, '/fitmatch/badges')
    t.match((await get(ana.id, '/fitmatch/badges')).data, { badges: [], progress: [{ badge: 'PHOTO_VERIFIED', progress: 0, requirement: String }, {}, {}, {}, {}] })
    t.match(await choose(second), { data: { isPhotoVerified: false } }, 'to change back is no verification')

    await approve()
    t.equal(await isVerified(), true)
    t.match(await stateOf(ana.id), { status: 'APPROVED', reason: null })
    t.match((await get(ana.id, '/fitmatch/badges')).data, { badges: ['PHOTO_VERIFIED'] })
    for (const id of [second, later]) await remove(id)
    t.equal(await isVerified(), true, 'the photo that is left was compared')
    await remove(first)
    await add()
    t.equal(await isVerified(), false, 'the last one gone, another is another matter')
  })

  t.test('approves no photo that was not there when the selfie was sent', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const isVerified = async () => (await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data.isPhotoVerified
    const add = async () => (await upload(ana.id, '/fitmatch/photos', 'file', createPng())).data.photo.id as string
    const { photos: [{ id: first, url: firstUrl }, { id: second, url: secondUrl }] } = (await get(ana.id, '/fitmatch/photos')).data
    const listed = async () => (await operator('GET', '/fitmatch/admin/verifications')).data.verifications
    const own = async () => (await listed()).find(({ accountId }: { accountId: string }) => accountId === ana.id)

    await submit(ana.id)
    const foreign = await add()
    t.strictSame((await own()).photos, [{ url: firstUrl, isMain: true }, { url: secondUrl, isMain: false }], 'operators see what was there')
    t.match(await put(ana.id, '/fitmatch/photos', { mainPhotoId: foreign }), { status: 200, data: { isPhotoVerified: false } })
    t.match(await del(ana.id, `/fitmatch/photos?id=${second}`), { status: 200 })
    t.equal(await own(), undefined, 'nobody compares any longer')
    t.match(await stateOf(ana.id), { status: 'NONE', reason: /main photo has changed/, submittedAt: String })
    t.match(await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana.id)}/approve`), { status: 409, code: 'ALREADY_DECIDED' })
    t.equal(await isVerified(), false)
    t.strictSame((await get(ana.id, '/fitmatch/badges')).data.badges, [])
    t.strictSame((await publishedEvents(VerificationDecided)).filter(({ accountId }) => accountId === ana.id), [])

    t.match(await put(ana.id, '/fitmatch/photos', { mainPhotoId: first }), { status: 200 })
    await del(ana.id, `/fitmatch/photos?id=${foreign}`)
    t.match(await submit(ana.id), { status: 200, data: { verification: { status: 'PENDING' } } })
    const later = await add()
    t.match(await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana.id)}/approve`), { status: 200 })
    t.equal(await isVerified(), true, 'the photo that was there is approved')
    t.match(await put(ana.id, '/fitmatch/photos', { mainPhotoId: later }), { data: { isPhotoVerified: false } }, 'the one that came later does not inherit it')
    t.equal(await isVerified(), false)
  })

  t.test('goes on while the main photo is another that was there, and ends with the last of them', async (t) => {
    const { id: ana } = await member('Ana')
    const { photos: [{ id: first }, { id: second }] } = (await get(ana, '/fitmatch/photos')).data
    await submit(ana)
    t.match(await put(ana, '/fitmatch/photos', { mainPhotoId: second }), { status: 200 })
    t.match(await stateOf(ana), { status: 'PENDING' })
    await del(ana, `/fitmatch/photos?id=${first}`)
    t.match(await stateOf(ana), { status: 'PENDING' })
    await del(ana, `/fitmatch/photos?id=${second}`)
    t.match(await stateOf(ana), { status: 'NONE', reason: String })
    await submit(ana)
    await upload(ana, '/fitmatch/photos', 'file', createPng())
    t.match(await stateOf(ana), { status: 'NONE', reason: String }, 'the first photo is one that nobody compared')
  })

  t.test('never ends as a verified profile with a main photo that was not compared, whatever comes at once', async (t) => {
    for (let round = 0; round < 12; round++) {
      const { id: ana } = await member('Ana')
      await submit(ana)
      const foreign = (await upload(ana, '/fitmatch/photos', 'file', createPng())).data.photo.id as string
      const id = await idOf(ana)
      const [decided, changed] = await Promise.all([
        operator('POST', `/fitmatch/admin/verifications/${id}/approve`), put(ana, '/fitmatch/photos', { mainPhotoId: foreign })
      ])
      t.ok(decided.status === 200 || decided.status === 409, `${decided.status}`)
      t.equal(changed.status, 200)
      t.match((await get(ana, '/fitmatch/photos')).data, { isPhotoVerified: false })
      t.strictSame((await get(ana, '/fitmatch/badges')).data.badges, [])
      t.match(await stateOf(ana), { status: 'NONE' })
    }
  })

  t.test('once rejected says why, and may be asked for again', async (t) => {
    const { id: ana } = await member('Ana')
    await submit(ana)
    const id = await idOf(ana)
    t.match(await operator('POST', `/fitmatch/admin/verifications/${id}/reject`, {}), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await operator('POST', `/fitmatch/admin/verifications/${id}/reject`, { reason: 'Blurred' }), { status: 200 })
    t.match(await stateOf(ana), { status: 'REJECTED', reason: 'Blurred' })
    t.match(await submit(ana), { status: 200 })
    t.match(await operator('POST', '/fitmatch/admin/verifications/garbage/approve'), { status: 404, code: 'NOT_FOUND' })
  })

  t.test('erases selfies 30 days after the decision, and what nobody refers to', async (t) => {
    const [{ id: ana }, { id: ben }, { id: cleo }] = [await member('Ana'), await member('Ben'), await member('Cleo')]
    for (const each of [ana, ben, cleo]) await submit(each)
    for (const each of [ana, ben]) await operator('POST', `/fitmatch/admin/verifications/${await idOf(each)}/approve`)
    const decidedAgo = async (accountId: string, age: string) =>
      await db.updateTable('verifications').set({ decided_at: sql`now() - ${age}::interval` }).where('account_id', '=', accountId).execute()
    await decidedAgo(ana, '30 days 1 second')
    await decidedAgo(ben, '29 days 23 hours')
    await db.insertInto('selfies').values({ key: 'selfies/left/over.webp', created_at: new Date(Date.now() - 7_200_000) }).execute()
    await deps.selfies.put('selfies/left/over.webp', Buffer.from('x'), 'image/webp')
    await runHousekeeping(deps)
    t.strictSame([(await selfiesOf(ana)).length, (await selfiesOf(ben)).length, (await selfiesOf(cleo)).length], [0, 1, 1])
    await t.rejects(access(path.join(folder, 'selfies/selfies/left/over.webp')))
    t.match(await operator('GET', `/fitmatch/admin/verifications/${await idOf(ana)}/selfie`), { status: 404, code: 'NOT_FOUND' })
    await del(cleo, '/fitmatch/profile')
    await runHousekeeping(deps)
    t.equal((await selfiesOf(cleo)).length, 0, 'nor does one outlive the profile it was for')
  })
})
