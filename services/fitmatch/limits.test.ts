import t from 'tap'
import { setLimits } from '@tandem/brand-kit/testing'
import { createPng } from '@tandem/media-kit/testing'
import { testApp, type Member } from './test/app.ts'

// Other tests show the limits of the built-in brand.

t.test('a brand says how many swipes are free, and how many photos and venues a profile has', async (t) => {
  setLimits(t, { freeSwipesPerDay: 2, profilePhotos: 7, fitmatchVenues: 6 })
  const { get, post, upload, member, swipe } = await testApp(t)
  const [ana, ...others] = await Promise.all(['Ana', 'Ben', 'Cas', 'Dea'].map((name) => member(name))) as Member[]
  const swipes = []
  for (const other of others) swipes.push(await swipe(ana!, other, 'PASS'))
  t.match(swipes, [{ status: 200, data: { remaining: 1 } }, { status: 200 }, { status: 429, code: 'LIMIT_EXCEEDED' }])
  t.match((await get(ana!.id, '/fitmatch/discover')).data.limits, { dailySwipes: 2, remaining: 0 })

  const photos = []
  // A member has two.
  for (let number = 3; number <= 8; number++) {
    photos.push(await upload(ana!.id, '/fitmatch/photos', 'file', createPng()))
  }
  t.match(photos.map(({ status }) => status), [200, 200, 200, 200, 200, 400])
  t.equal(photos.at(-1)?.error, 'A profile can have at most 7 photos. Delete one first')

  const venues = []
  for (let number = 1; number <= 7; number++) {
    venues.push(await post(ana!.id, '/fitmatch/profile/venues', { name: `Gym ${number}` }))
  }
  t.match(venues.map(({ status }) => status), [201, 201, 201, 201, 201, 201, 400])
  t.equal(venues.at(-1)?.error, 'A profile can have at most 6 venues. Delete one first')
  t.equal((await get(ana!.id, '/fitmatch/profile/venues')).data.maxVenues, 6)
})

t.test('a brand says how old people must be', async (t) => {
  setLimits(t, { minimumAge: 40 })
  const { post, person } = await testApp(t)
  t.match(await post(person('Ana'), '/fitmatch/profile'), {
    status: 403,
    code: 'AGE_RESTRICTED',
    error: 'You must be at least 40 years old to use FitMatch'
  })
})
