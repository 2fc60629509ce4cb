import t from 'tap'
import { setLimits, turnOff } from '@tandem/brand-kit/testing'
import { bearer, checkFeatures } from '@tandem/http-kit/testing'
import { examplePerson, testApp } from './test/app.ts'

t.test('routes', async (t) =>
  await checkFeatures(t, {
    startApp: async (t) => (await testApp(t)).app,
    headers: bearer('01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10'),
    features: {
      fasting: / \/fasting/,
      dashboardPrograms: / \/programs/
    }
  }))

const activity = {
  id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1d',
  title: 'Evening run',
  sport: 'running',
  date: '2026-11-28',
  startTime: '18:00',
  endTime: '19:30',
  locationName: 'Gelora'
}
const fitmatch = {
  hasProfile: true,
  status: 'ACTIVE' as const,
  discoverTutorialSeen: true,
  matches: [],
  upcomingActivities: [activity]
}

t.test('the home screen leaves out the part of a feature that is off', async (t) => {
  const readHome = async (...off: Parameters<typeof turnOff>[1][]) => {
    turnOff(t, ...off)
    const { newUser, setFakes } = await testApp(t)
    const { read } = newUser()
    setFakes({ fitmatch })
    return await read('/dashboard/home') as Record<string, unknown> & { today: object }
  }
  const all = await readHome()
  t.match(all, {
    fitmatch: { hasProfile: true },
    matches: { length: 0 },
    upcomingActivities: [activity],
    today: { workout: null }
  })

  const withoutActivities = await readHome('activities')
  t.strictSame({ ...withoutActivities, upcomingActivities: [activity], user: all['user'] }, all)
  t.strictSame(withoutActivities['upcomingActivities'], [])

  const withoutPrograms = await readHome('dashboardPrograms')
  t.notOk('workout' in withoutPrograms.today)

  const withoutFitMatch = await readHome('fitmatch')
  t.notOk('fitmatch' in withoutFitMatch || 'matches' in withoutFitMatch)
  t.strictSame(withoutFitMatch['upcomingActivities'], [])
})

t.test('a brand says how old people are who track fasts', async (t) => {
  setLimits(t, { minimumAge: 40 })
  const { newUser, setFakes } = await testApp(t)
  const { send } = newUser({ now: '2026-11-20T05:00:00Z' })
  const startAs = async (birthDate: string) => {
    setFakes({ person: examplePerson('Asia/Jakarta', { birthDate }) })
    return (await send('POST', '/fasting', { plan: '16:8' })).json() as object
  }
  t.match(await startAs('1990-01-01T00:00:00.000Z'), { code: 'AGE_RESTRICTED', error: /40/ })
  t.match(await startAs('1980-01-01T00:00:00.000Z'), { success: true })
})
