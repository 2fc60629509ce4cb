import t from 'tap'
import { testApp } from '../test/app.ts'

t.test('settings', async (t) => {
  const { get, put, post, member, person, db } = await testApp(t)

  t.test('are shown and changed one by one', async (t) => {
    const { id: ana } = await member('Ana')
    const usual = { status: 'ACTIVE', showOnlineStatus: true, showDistance: true, showLastActive: true }
    t.strictSame((await get(ana, '/fitmatch/settings')).data, usual)
    t.match(await put(ana, '/fitmatch/settings', { showDistance: false }), {
      status: 200,
      data: { ...usual, showDistance: false }
    })
    t.match(await put(ana, '/fitmatch/settings', { status: 'PAUSED' }), { status: 200, data: { status: 'PAUSED' } })
    t.match(await put(ana, '/fitmatch/settings', { status: 'ACTIVE' }), {
      status: 200,
      data: { status: 'ACTIVE', showDistance: false }
    })
    for (const body of [{ status: 'SUSPENDED' }, { showDistance: 'yes' }]) {
      t.match(await put(ana, '/fitmatch/settings', body), { status: 400, code: 'VALIDATION_ERROR' })
    }
    t.match(await get(person('Nobody'), '/fitmatch/settings'), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.match(await put(person('Nobody'), '/fitmatch/settings', {}), { status: 404, code: 'PROFILE_NOT_FOUND' })
  })

  t.test('hide the chosen information from others', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const view = async () => (await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data
    t.match(await view(), { distance: 1, isOnline: true, lastActiveAt: String })
    await put(ana.id, '/fitmatch/settings', { showOnlineStatus: false, showDistance: false, showLastActive: false })
    t.match(await view(), { distance: null, isOnline: false, lastActiveAt: null })
    await put(ana.id, '/fitmatch/settings', { showOnlineStatus: true })
    await db.updateTable('activity').set({ last_active_at: new Date(Date.now() - 6 * 60_000) }).where(
      'account_id',
      '=',
      ana.id
    ).execute()
    t.match(await view(), { isOnline: false })
  })

  t.test('pausing hides a profile from everybody except its matches', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await put(ana.id, '/fitmatch/settings', { status: 'PAUSED' })
    t.match(await get(ben.id, `/fitmatch/profile/${ana.profileId}`), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.match(await post(ben.id, '/fitmatch/swipe', { targetProfileId: ana.profileId, swipeType: 'LIKE' }), {
      status: 404
    })
    t.match(await get(ana.id, '/fitmatch/discover'), { status: 400, code: 'INSUFFICIENT_PHOTOS' })
    t.notOk(
      (await get(ben.id, '/fitmatch/discover')).data.profiles.some(({ id }: { id: string }) => id === ana.profileId)
    )
  })
})
