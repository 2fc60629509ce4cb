import { access, readdir } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { BadgeEarned, Membership, VerificationDecided, VerificationRevoked } from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, testApp } from '../test/app.ts'

t.test('photo verification', async (t) => {
  const { app, get, post, put, del, upload, member, memberWithPhotos, operator, publishedEvents, db, deps, folder } =
    await testApp(t)
  const url = '/fitmatch/verification'
  const stateOf = async (accountId: string) => (await get(accountId, url)).data.verification
  const submit = (accountId: string) => upload(accountId, url, 'photo', createPng())
  const idOf = async (accountId: string) =>
    (await db.selectFrom('verifications').where('account_id', '=', accountId).select('id').orderBy('id', 'desc')
      .executeTakeFirstOrThrow()).id
  const selfiesOf = async (accountId: string) =>
    await readdir(path.join(folder, 'selfies/selfies', accountId)).catch(() => [])

  t.test('can be pending once, and is canceled together with its selfie', async (t) => {
    const { id: ana } = await memberWithPhotos('Ana')
    t.strictSame(await stateOf(ana), {
      status: 'NONE',
      reason: null,
      reasonCode: null,
      submittedAt: null,
      decidedAt: null
    })
    const responses = await inParallel(5, () => submit(ana))
    t.strictSame(responses.map(({ status }) => status).sort((one, other) => one - other), [200, 409, 409, 409, 409])
    t.match(responses.find(({ status }) => status === 200), {
      data: { verification: { status: 'PENDING', submittedAt: String, decidedAt: null } }
    })
    t.match(responses.find(({ status }) => status === 409), { code: 'VERIFICATION_PENDING' })
    t.equal((await selfiesOf(ana)).length, 1)
    t.match(await del(ana, url), { status: 200, message: String })
    t.equal((await selfiesOf(ana)).length, 0)
    t.match(await stateOf(ana), { status: 'NONE' })
    t.match(await del(ana, url), { status: 404, code: 'NOT_FOUND' })
    t.match(await upload('0198c000-0000-7000-8000-000000000001', url, 'photo', createPng()), {
      status: 404,
      code: 'PROFILE_NOT_FOUND'
    })
  })

  t.test('is visible to operators only, who decide it', async (t) => {
    const { id: ana } = await memberWithPhotos('Ana')
    await submit(ana)
    const id = await idOf(ana)
    const base = '/fitmatch/admin/verifications'
    for (
      const request of [
        get(ana, base),
        get(ana, `${base}/${id}/selfie`),
        post(ana, `${base}/${id}/approve`),
        post(ana, `${base}/${id}/reject`, { reason: 'a' })
      ]
    ) {
      t.match(await request, { status: 403, code: 'FORBIDDEN' })
    }
    const { data } = await operator('GET', base)
    t.match(data, {
      verifications: [{ id, accountId: ana, status: 'PENDING', hasSelfie: true, displayName: 'Ana', photos: [{}, {}] }],
      nextCursor: null
    })
    t.notOk(JSON.stringify(data).includes('selfies/'))
    const { bearer } = await import('@tandem/http-kit/testing')
    const selfie = await app.inject({ url: `${base}/${id}/selfie`, headers: bearer(ana, { role: 'ADMIN' }) })
    t.equal(selfie.headers['content-type'], 'image/webp')
    t.equal(selfie.headers['cache-control'], 'no-store')
    t.equal(selfie.rawPayload.subarray(8, 12).toString(), 'WEBP')
  })

  t.test('when approved shows on the profile, grants a badge, and is published', async (t) => {
    const [ana, ben] = [await memberWithPhotos('Ana'), await memberWithPhotos('Ben')]
    await submit(ana.id)
    const id = await idOf(ana.id)
    const responses = await inParallel(4, () => operator('POST', `/fitmatch/admin/verifications/${id}/approve`))
    t.strictSame(responses.map(({ status }) => status).sort((one, other) => one - other), [200, 409, 409, 409])
    t.match(await operator('POST', `/fitmatch/admin/verifications/${id}/reject`, { reason: 'a' }), {
      status: 409,
      code: 'ALREADY_DECIDED'
    })
    t.match(await stateOf(ana.id), { status: 'APPROVED', reason: null, decidedAt: String })
    t.match((await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data, { isPhotoVerified: true })
    t.match((await get(ana.id, '/fitmatch/badges')).data, { badges: ['PHOTO_VERIFIED'] })
    t.match(await publishedEvents(VerificationDecided), [{ accountId: ana.id, approved: true, reason: null }])
    t.match(await publishedEvents(BadgeEarned), [{ accountId: ana.id, badge: 'PHOTO_VERIFIED' }])
    t.equal((await db.selectFrom('audit_log').where('subject_id', '=', id).select('id').execute()).length, 1)
    t.match(await submit(ana.id), { status: 409, code: 'ALREADY_VERIFIED' })

    await del(ana.id, '/fitmatch/profile')
    const again = await post(ana.id, '/fitmatch/profile')
    t.match(
      (await get(ben.id, `/fitmatch/profile/${again.data.id}`)).data,
      { isPhotoVerified: false },
      'a new profile starts unverified'
    )
    t.match(await stateOf(ana.id), { status: 'NONE' })
    t.match((await get(ana.id, '/fitmatch/badges')).data, { badges: ['PHOTO_VERIFIED'] })
  })

  t.test('that is revoked while badges are recalculated leaves no badge', async (t) => {
    const { id: ana } = await memberWithPhotos('Ana')
    await submit(ana)
    await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana)}/approve`)
    const later = (await upload(ana, '/fitmatch/photos', 'file', createPng())).data.photo.id as string

    const { callRpc } = deps
    t.teardown(() => {
      deps.callRpc = callRpc
    })
    deps.callRpc = async (question, request) => {
      if (question.type === Membership.type) await put(ana, '/fitmatch/photos', { mainPhotoId: later })
      return await callRpc(question, request)
    }
    t.match(await post(ana, '/fitmatch/badges'), {
      status: 200,
      data: { badges: [], progress: [{ badge: 'PHOTO_VERIFIED', progress: 0 }] }
    })
    t.strictSame((await get(ana, '/fitmatch/badges')).data.badges, [])
  })

  t.test('is taken back by its owner after the approval, and its selfie is erased', async (t) => {
    const [ana, ben] = [await memberWithPhotos('Ana'), await memberWithPhotos('Ben')]
    const isVerified = async () => (await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data.isPhotoVerified
    await submit(ana.id)
    await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana.id)}/approve`)
    t.equal(await isVerified(), true)
    t.match(await del(ana.id, url), { status: 200 })
    t.equal(await isVerified(), false)
    t.match(await stateOf(ana.id), { status: 'NONE', reason: null, reasonCode: null })
    t.equal((await selfiesOf(ana.id)).length, 0)
    t.strictSame((await get(ana.id, '/fitmatch/badges')).data.badges, [])
    t.match(await publishedEvents(VerificationRevoked).then((events) => events.at(-1)), { accountId: ana.id })
    await post(ana.id, '/fitmatch/badges')
    t.strictSame((await get(ana.id, '/fitmatch/badges')).data.badges, [], 'nor does it come back')
    t.match(await del(ana.id, url), { status: 404, code: 'NOT_FOUND' })
    t.match(await submit(ana.id), { status: 200, data: { verification: { status: 'PENDING' } } })
  })

  t.test('is revoked by a main photo that was not compared, and only then', async (t) => {
    const [ana, ben] = [await memberWithPhotos('Ana'), await memberWithPhotos('Ben')]
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
    t.match((await get(ana.id, '/fitmatch/badges')).data, {
      badges: [],
      progress: [{ badge: 'PHOTO_VERIFIED', progress: 0, requirement: String }, {}, {}, {}, {}]
    })
    t.match(await choose(second), { data: { isPhotoVerified: false } }, 'changing back does not restore it')

    await approve()
    t.equal(await isVerified(), true)
    t.match(await stateOf(ana.id), { status: 'APPROVED', reason: null })
    t.match((await get(ana.id, '/fitmatch/badges')).data, { badges: ['PHOTO_VERIFIED'] })
    for (const id of [second, later]) await remove(id)
    t.equal(await isVerified(), true, 'the remaining photo was compared')
    await remove(first)
    await add()
    t.equal(await isVerified(), false, 'a photo added after the last one was deleted is not verified')
  })

  t.test('approves only photos that existed when the selfie was submitted', async (t) => {
    const [ana, ben] = [await memberWithPhotos('Ana'), await memberWithPhotos('Ben')]
    const isVerified = async () => (await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data.isPhotoVerified
    const add = async () => (await upload(ana.id, '/fitmatch/photos', 'file', createPng())).data.photo.id as string
    const { photos: [{ id: first, url: firstUrl }, { id: second, url: secondUrl }] } =
      (await get(ana.id, '/fitmatch/photos')).data
    const listed = async () => (await operator('GET', '/fitmatch/admin/verifications')).data.verifications
    const own = async () => (await listed()).find(({ accountId }: { accountId: string }) => accountId === ana.id)

    await submit(ana.id)
    const laterPhoto = await add()
    t.match(
      (await own()).photos,
      { length: 2, 0: { url: firstUrl, isMain: true }, 1: { url: secondUrl, isMain: false } },
      'operators see those photos'
    )
    t.match(await put(ana.id, '/fitmatch/photos', { mainPhotoId: laterPhoto }), {
      status: 200,
      data: { isPhotoVerified: false }
    })
    t.match(await del(ana.id, `/fitmatch/photos?id=${second}`), { status: 200 })
    t.equal(await own(), undefined, 'the verification is no longer pending')
    t.match(await stateOf(ana.id), {
      status: 'NONE',
      reason: /main photo has changed/,
      reasonCode: 'MAIN_PHOTO_CHANGED',
      submittedAt: String
    })
    t.match(await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana.id)}/approve`), {
      status: 409,
      code: 'ALREADY_DECIDED'
    })
    t.equal(await isVerified(), false)
    t.strictSame((await get(ana.id, '/fitmatch/badges')).data.badges, [])
    t.strictSame((await publishedEvents(VerificationDecided)).filter(({ accountId }) => accountId === ana.id), [])

    t.match(await put(ana.id, '/fitmatch/photos', { mainPhotoId: first }), { status: 200 })
    await del(ana.id, `/fitmatch/photos?id=${laterPhoto}`)
    t.match(await submit(ana.id), { status: 200, data: { verification: { status: 'PENDING' } } })
    const later = await add()
    t.match(await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana.id)}/approve`), { status: 200 })
    t.equal(await isVerified(), true, 'the earlier photo is approved')
    t.match(
      await put(ana.id, '/fitmatch/photos', { mainPhotoId: later }),
      { data: { isPhotoVerified: false } },
      'the later photo is not'
    )
    t.equal(await isVerified(), false)
  })

  t.test('stays pending while the main photo is one of the submitted ones, and ends with the last of them', async (t) => {
    const { id: ana } = await memberWithPhotos('Ana')
    const { photos: [{ id: first }, { id: second }] } = (await get(ana, '/fitmatch/photos')).data
    await submit(ana)
    t.match(await put(ana, '/fitmatch/photos', { mainPhotoId: second }), { status: 200 })
    t.match(await stateOf(ana), { status: 'PENDING' })
    await del(ana, `/fitmatch/photos?id=${first}`)
    t.match(await stateOf(ana), { status: 'PENDING' })
    await del(ana, `/fitmatch/photos?id=${second}`)
    t.match(await stateOf(ana), { status: 'NONE', reason: String })
    t.match(await submit(ana), { status: 400, code: 'VALIDATION_ERROR' }, 'there is no photo to compare with')
    await upload(ana, '/fitmatch/photos', 'file', createPng())
    t.match(await submit(ana), { status: 200 })
  })

  t.test('covers no photo on another server, whose image can change at any time', async (t) => {
    const { id: ana } = await member('Ana', { photos: ['https://other.example/1.jpg', 'https://other.example/2.jpg'] })
    const { photos: [{ id: external }] } = (await get(ana, '/fitmatch/photos')).data
    t.match(await submit(ana), { status: 400, code: 'VALIDATION_ERROR', error: /main photo/ })
    t.match(await stateOf(ana), { status: 'NONE' })
    t.equal((await selfiesOf(ana)).length, 0, 'the selfie is not kept')

    const uploaded = (await upload(ana, '/fitmatch/photos', 'file', createPng())).data.photo
    await put(ana, '/fitmatch/photos', { mainPhotoId: uploaded.id })
    t.match(await submit(ana), { status: 200, data: { verification: { status: 'PENDING' } } })
    const { verifications } = (await operator('GET', '/fitmatch/admin/verifications')).data
    t.match(
      verifications.find(({ accountId }: { accountId: string }) => accountId === ana).photos,
      { length: 1, 0: { url: uploaded.url, isMain: true } }
    )
    t.match(await operator('POST', `/fitmatch/admin/verifications/${await idOf(ana)}/approve`), { status: 200 })
    t.match(await put(ana, '/fitmatch/photos', { mainPhotoId: external }), { data: { isPhotoVerified: false } })
  })

  t.test('never leaves a verified profile with a main photo that was not compared, under concurrent requests', async (t) => {
    for (let round = 0; round < 12; round++) {
      const { id: ana } = await memberWithPhotos('Ana')
      await submit(ana)
      const laterPhoto = (await upload(ana, '/fitmatch/photos', 'file', createPng())).data.photo.id as string
      const id = await idOf(ana)
      const [decided, changed] = await Promise.all([
        operator('POST', `/fitmatch/admin/verifications/${id}/approve`),
        put(ana, '/fitmatch/photos', { mainPhotoId: laterPhoto })
      ])
      t.ok(decided.status === 200 || decided.status === 409, `${decided.status}`)
      t.equal(changed.status, 200)
      t.match((await get(ana, '/fitmatch/photos')).data, { isPhotoVerified: false })
      t.strictSame((await get(ana, '/fitmatch/badges')).data.badges, [])
      t.match(await stateOf(ana), { status: 'NONE' })
    }
  })

  t.test('when rejected gives the reason, and can be requested again', async (t) => {
    const { id: ana } = await memberWithPhotos('Ana')
    await submit(ana)
    const id = await idOf(ana)
    t.match(await operator('POST', `/fitmatch/admin/verifications/${id}/reject`, {}), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
    t.match(
      await operator('POST', `/fitmatch/admin/verifications/${id}/reject`, {
        reason: 'Blurred',
        reasonCode: 'FACE_NOT_VISIBLE'
      }),
      {
        status: 200
      }
    )
    t.match(await stateOf(ana), { status: 'REJECTED', reason: 'Blurred', reasonCode: 'FACE_NOT_VISIBLE' })
    t.match(await submit(ana), { status: 200 })
    t.match(await operator('POST', '/fitmatch/admin/verifications/garbage/approve'), { status: 404, code: 'NOT_FOUND' })
  })

  t.test('erases selfies 30 days after the decision, and selfies without a verification', async (t) => {
    const [{ id: ana }, { id: ben }, { id: cleo }] = [
      await memberWithPhotos('Ana'),
      await memberWithPhotos('Ben'),
      await memberWithPhotos('Cleo')
    ]
    for (const each of [ana, ben, cleo]) await submit(each)
    for (const each of [ana, ben]) await operator('POST', `/fitmatch/admin/verifications/${await idOf(each)}/approve`)
    const decidedAgo = async (accountId: string, age: string) =>
      await db.updateTable('verifications').set({ decided_at: sql`now() - ${age}::interval` }).where(
        'account_id',
        '=',
        accountId
      ).execute()
    await decidedAgo(ana, '30 days 1 second')
    await decidedAgo(ben, '29 days 23 hours')
    await db.insertInto('selfies').values({
      key: 'selfies/left/over.webp',
      created_at: new Date(Date.now() - 7_200_000)
    }).execute()
    await deps.selfies.put('selfies/left/over.webp', Buffer.from('x'), 'image/webp')
    await runHousekeeping(deps)
    t.strictSame([(await selfiesOf(ana)).length, (await selfiesOf(ben)).length, (await selfiesOf(cleo)).length], [
      0,
      1,
      1
    ])
    await t.rejects(access(path.join(folder, 'selfies/selfies/left/over.webp')))
    t.match(await operator('GET', `/fitmatch/admin/verifications/${await idOf(ana)}/selfie`), {
      status: 404,
      code: 'NOT_FOUND'
    })
    await del(cleo, '/fitmatch/profile')
    await runHousekeeping(deps)
    t.equal((await selfiesOf(cleo)).length, 0, 'selfies do not outlive the profile')
  })
})
