import t from 'tap'
import { inParallel, testApp } from '../test/app.ts'

t.test('venues', async (t) => {
  const { get, post, postOnce, put, del, member } = await testApp(t)
  const add = (accountId: string, body: object = { name: 'Gelora', isCustom: true }) =>
    post(accountId, '/fitmatch/profile/venues', body)

  t.test('are stored exactly, and shown to others on the grid', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const venue = {
      chainId: 'fithub',
      name: 'Gym',
      branch: 'North',
      city: 'Jakarta',
      latitude: -6.123456,
      longitude: 106.987654,
      placeId: 'p1',
      isCustom: false
    }
    t.match(await add(ana.id, venue), { status: 201, data: { venue: { id: String, ...venue, sortOrder: 0 } } })
    t.match(await add(ana.id, { chainId: null, name: 'Gelora', latitude: null, longitude: null, isCustom: true }), {
      status: 201,
      data: {
        venue: {
          chainId: null,
          name: 'Gelora',
          branch: null,
          city: null,
          latitude: null,
          longitude: null,
          placeId: null,
          isCustom: true,
          sortOrder: 1
        }
      }
    })
    t.match(await get(ana.id, '/fitmatch/profile/venues'), { status: 200, data: { venues: [venue, {}], maxVenues: 5 } })
    t.strictSame((await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).data.venues, [
      { name: 'Gym', branch: 'North', city: 'Jakarta', latitude: -6.12, longitude: 106.99 },
      { name: 'Gelora', branch: null, city: null, latitude: null, longitude: null }
    ])
  })

  t.test('are never more than five', async (t) => {
    const { id: ana } = await member('Ana')
    const added = await inParallel(12, () => add(ana))
    t.equal(added.filter(({ status }) => status === 201).length, 5)
    t.match(added.find(({ status }) => status !== 201), { status: 400, code: 'LIMIT_EXCEEDED' })
    const { data: { venues } } = await get(ana, '/fitmatch/profile/venues')
    t.equal(venues.length, 5)
    await del(ana, `/fitmatch/profile/venues?id=${venues[0].id}`)
    t.match(await add(ana), { status: 201 })
  })

  t.test('are added once under an idempotency key', async (t) => {
    const { id: ana } = await member('Ana')
    const responses = await inParallel(4, () => postOnce(ana, 'k', '/fitmatch/profile/venues', { name: 'Gym' }))
    t.ok(responses.every(({ status }) => status === 201))
    t.equal(new Set(responses.map(({ data }) => data.venue.id)).size, 1)
    t.match(await postOnce(ana, 'k', '/fitmatch/profile/venues', { name: 'Other' }), {
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT'
    })
    t.equal((await get(ana, '/fitmatch/profile/venues')).data.venues.length, 1)
  })

  t.test('are updated, reordered and deleted by their owner only', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const ids = [(await add(ana.id)).data.venue.id, (await add(ana.id)).data.venue.id]
    const path = '/fitmatch/profile/venues'
    t.match(await put(ana.id, path, { venueIds: ids.toReversed() }), {
      status: 200,
      data: { venues: [{ id: ids[1], sortOrder: 0 }, { id: ids[0], sortOrder: 1 }], maxVenues: 5 }
    })
    t.match(await put(ana.id, path, { venueIds: [ids[0]] }), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await put(ana.id, path, {}), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await put(ana.id, path, { id: ids[0], name: 'New', branch: 'B', latitude: 1, longitude: 2 }), {
      status: 200,
      data: { venues: [{}, { id: ids[0], name: 'New', branch: 'B', latitude: 1, longitude: 2 }] }
    })
    t.match(await put(ana.id, path, { id: ids[0], latitude: 3 }), {
      status: 200,
      data: { venues: [{}, { latitude: 3, longitude: 2 }] }
    })
    t.match(
      await put(ana.id, path, { id: ids[1], latitude: 3 }),
      { status: 400, code: 'VALIDATION_ERROR' },
      'one coordinate alone is rejected'
    )
    t.match((await get(ana.id, path)).data.venues, [{ id: ids[1], latitude: null, longitude: null }, {}])
    t.match(await put(ben.id, path, { id: ids[0], name: 'Mine' }), { status: 404, code: 'NOT_FOUND' })
    t.match(await del(ben.id, `${path}?id=${ids[0]}`), { status: 404, code: 'NOT_FOUND' })
    t.match(await del(ana.id, `${path}?id=${ids[0]}`), { status: 200, message: String })
    for (
      const body of [
        {},
        { isCustom: true },
        { name: ' ' },
        { name: 'x'.repeat(201) },
        { name: 'a', latitude: 91, longitude: 0 },
        { name: 'a', latitude: 1 },
        { name: 'a', longitude: 2 }
      ]
    ) t.match(await add(ana.id, body), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await add('0198c000-0000-7000-8000-000000000001'), { status: 404, code: 'PROFILE_NOT_FOUND' })
  })
})
