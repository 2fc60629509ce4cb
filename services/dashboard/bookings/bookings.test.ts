import { randomUUID } from 'node:crypto'
import { deliver } from '@tandem/bus-kit/testing'
import { BookingChanged } from '@tandem/contracts'
import t from 'tap'
import { testApp } from '../test/app.ts'
import { onBookingChanged } from './consumers.ts'

const { newUser, setFakes, at, deps } = await testApp(t)
const now = '2026-11-20T05:00:00Z'

const booking = (accountId: string, others: object = {}) => ({
  id: randomUUID(),
  accountId,
  bookingId: 'B-1',
  title: 'Yoga',
  startsAt: '2026-11-21T17:30:00Z',
  endsAt: '2026-11-21T18:30:00Z',
  locationName: null,
  isCancelled: false,
  version: 1,
  ...others
})
const receive = async (data: object) => await deliver([onBookingChanged(deps)], BookingChanged.type, data)

t.test('bookings are shown beside activities, in the time of the person, until they are over', async (t) => {
  const { account, read } = newUser({ now })
  const activity = (date: string) => ({
    id: randomUUID(),
    title: 'Run',
    sport: 'running',
    date,
    startTime: '18:00',
    endTime: '19:00',
    locationName: 'Park'
  })
  const activities = [activity('2026-11-21'), activity('2026-11-23')]
  setFakes({
    fitmatch: {
      hasProfile: false,
      status: null,
      discoverTutorialSeen: false,
      matches: [],
      upcomingActivities: activities
    }
  })
  const yoga = booking(account)
  await receive(yoga)
  await receive(booking(account, { startsAt: '2026-12-20T10:00:00Z', endsAt: '2026-12-20T11:00:00Z' }))
  await receive(booking(randomUUID()))
  t.strictSame((await read('/dashboard/home')).upcomingActivities, [
    activities[0],
    {
      id: yoga.id,
      bookingId: 'B-1',
      title: 'Yoga',
      sport: '',
      date: '2026-11-22',
      startTime: '00:30',
      endTime: '01:30',
      locationName: ''
    },
    activities[1]
  ])
  at('2026-11-21T18:30:00Z')
  t.strictSame((await read('/dashboard/home')).upcomingActivities, activities)
})

t.test('a cancelled booking is not shown, in whatever order its events arrive', async (t) => {
  const { account, read } = newUser({ now })
  const first = booking(account)
  const cancelled = { ...first, isCancelled: true, version: 2 }
  for (const each of [cancelled, first, cancelled]) await receive(each)
  const other = booking(account)
  for (const each of [other, { ...other, title: 'Pilates', version: 2 }, other]) await receive(each)
  t.match((await read('/dashboard/home')).upcomingActivities, [{ title: 'Pilates' }])
})
