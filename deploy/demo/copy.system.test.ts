import { codeMailedTo, PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import { createTandem, uploadOf, type Tandem } from '@tandem/sdk'
import { until } from '@tandem/test-kit'
import t from 'tap'

t.test('the copy of an account, imported into a new one, has the same totals', async (t) => {
  const { stack } = await sharedStack()
  const ana = await join(stack, 'exporter@example.com')
  await live(ana)
  const expected = await figuresOf(ana)
  t.match(expected.stats, { totalWorkouts: 7, totalPRs: 4, currentWeight: 69.5 })
  t.same(Object.entries(expected.trends).filter(([, points]) => points.every(({ value }) => value === null)), [])
  const file = await copyOf(stack, ana, 'exporter@example.com')

  const ben = await join(stack, 'importer@example.com')
  const progress: unknown[] = []
  const realtime = ben.connectRealtime()
  realtime.on('import.changed', ({ data }) => progress.push(data))
  const connected = new Promise((resolve) => realtime.on('hello', resolve))
  await connected
  const first = await importInto(ben, file)
  t.match(first, { status: 'DONE', type: 'TANDEM', report: { refused: [], refusedCount: 0 } })
  t.equal(first.report.new, first.report.found)
  t.strictSame(await figuresOf(ben), expected)
  await until(() => progress.length >= 2)
  t.match(progress, [{ importId: first.id, status: 'RUNNING', progress: 0 }, { status: 'DONE', progress: 100 }])
  realtime.close()

  for (const api of [ben, ana]) {
    t.match(await importInto(api, file), { status: 'DONE', report: { new: 0, refusedCount: 0 } })
    t.strictSame(await figuresOf(api), expected)
  }
})

async function join (stack: Stack, email: string) {
  const api = createTandem({ url: stack.gateway.url, language: 'en' })
  const { user: { id } } = await api.register({ body: { email, password: PASSWORD, name: 'Ana' } })
  await api.verifyEmail({ body: { userId: id, code: await codeMailedTo(stack, email) } })
  return api
}

const watch = { platform: 'HEALTHKIT', kind: 'WATCH', device: 'Watch' } as const
const phone = { platform: 'HEALTH_CONNECT', kind: 'PHONE' } as const
const today = Temporal.Now.plainDateISO('Asia/Jakarta')
/** A time of a day that is over, in Jakarta, where people are who have not said where. */
const at = (daysAgo: number, time: string, offset = '+07:00') =>
  `${today.subtract({ days: daysAgo }).toString()}T${time}:00${offset}`

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

type Items = Parameters<Tandem['saveLogs']>[0]['body']['items']
type Item = Items[number]
let ids = 0
const measured = (
  type: string,
  source: Item['source'],
  daysAgo: number,
  [start, end]: [string, string],
  data: object
) => ({
  type,
  source,
  externalId: `e${++ids}`,
  startAt: at(daysAgo, start),
  endAt: at(daysAgo, end),
  data
})
const typed = (type: string, time: string, data: object) => ({ clientId: `c${++ids}`, type, at: time, data })
const lift = (daysAgo: number, exercise: object, weightKg: number) =>
  typed('WORKOUT', at(daysAgo, '19:00'), {
    durationMinutes: 45,
    exercises: [{ sets: [{ reps: 5, weightKg }], ...exercise }]
  })

/** A person with logs of all types, of several sources, some of them edited, deleted, split or written elsewhere. */
async function live (api: Tandem) {
  const save = async (...items: object[]) => {
    const { data: { results } } = await api.saveLogs({ body: { items: items as Items } })
    t.same(results.filter(({ status }) => status !== 'created' && status !== 'updated'), [])
    return results.map(({ id }) => id ?? '')
  }
  const { data: { exercise: added } } = await api.addExercise({ body: { name: 'Moon walk' } })
  const run = { sport: 'running', calories: 320, avgHeartRate: 150, route: '_p~iF~ps|U_ulLnnqC' }
  const walks = [measured('WORKOUT', watch, 3, ['17:00', '17:40'], { sport: 'walking' })]
  const [, split = ''] = await save(...walks, { ...walks[0], source: phone, externalId: 'walk' })
  await save(
    measured('WORKOUT', watch, 1, ['06:00', '06:40'], run),
    measured('WORKOUT', phone, 1, ['06:02', '06:41'], { title: 'Morning run', distanceMeters: 8_000 }),
    lift(2, { name: 'Squat', exerciseId: 'Barbell_Squat' }, 80),
    lift(4, { name: 'Barbell squat' }, 70),
    lift(200, { name: 'Moon walk', exerciseId: added.id }, 20),
    lift(100, { name: 'Mondgang', exerciseId: added.id }, 30),
    measured('SLEEP', watch, 1, ['00:10', '05:00'], {
      stages: [{ stage: 'CORE', startAt: at(1, '00:10'), endAt: at(1, '04:00') }]
    }),
    measured('SLEEP', phone, 1, ['00:00', '05:30'], { quality: 4 }),
    {
      ...measured('STEPS', watch, 1, ['05:40', '05:50'], { count: 900 }),
      startAt: minutesAgo(20),
      endAt: minutesAgo(10)
    },
    {
      ...measured('STEPS', phone, 1, ['05:40', '06:00'], { count: 2_100 }),
      startAt: minutesAgo(20),
      endAt: minutesAgo(0)
    },
    measured('STEPS', phone, 5, ['10:00', '10:30'], {
      samples: [{ startAt: at(5, '10:00'), endAt: at(5, '10:10'), count: 700 }]
    }),
    measured('DISTANCE', phone, 1, ['10:00', '10:30'], { meters: 2_000.5 }),
    measured('ACTIVE_ENERGY', watch, 1, ['10:00', '10:30'], { kcal: 120.4 }),
    measured('HEART_RATE', watch, 1, ['10:00', '10:30'], {
      samples: [{ at: at(1, '10:00'), bpm: 100 }, { at: at(1, '10:01'), bpm: 120 }]
    }),
    measured('HEART_RATE', watch, 1, ['00:00', '05:00'], { resting: 55 }),
    measured('HEART_RATE', watch, 95, ['10:00', '10:30'], { min: 60, max: 90, avg: 70 }),
    typed('WEIGHT', minutesAgo(5), { kg: 69.5 }),
    typed('WEIGHT', at(30, '05:00'), { kg: 72 }),
    typed('BODY_FAT', at(1, '05:00'), { percent: 18.5 }),
    ...[1, 2, 3].map((minutes) => typed('FOOD', minutesAgo(minutes), { name: 'Nasi', calories: 450.5, protein: 20 })),
    typed('WATER', minutesAgo(4), { ml: 500 }),
    typed('WATER', at(2, '23:50', '-08:00'), { ml: 250 }),
    { ...typed('WATER', at(2, '23:30', 'Z'), { ml: 300 }), timezone: 'America/Los_Angeles' }
  )
  await api.splitLog({ path: { id: split } })

  const steps = { source: phone, externalId: 'edited', modifiedAt: at(1, '01:00') }
  await save({ ...measured('STEPS', phone, 1, ['11:00', '11:30'], { count: 100 }), ...steps })
  await save({
    ...measured('STEPS', phone, 1, ['11:00', '11:30'], { count: 150 }),
    ...steps,
    modifiedAt: at(1, '02:00')
  })
  const [water = ''] = await save(typed('WATER', minutesAgo(3), { ml: 5_000 }), {
    ...measured('WORKOUT', phone, 6, ['08:00', '09:00'], {}),
    externalId: 'mistake'
  })
  await api.deleteLog({ path: { id: water } })
  await api.saveLogs({ body: { items: [{ source: phone, externalId: 'mistake', deleted: true }] as Items } })
}

const metrics = [
  'steps',
  'distance',
  'activeEnergy',
  'heartRate',
  'restingHeartRate',
  'workouts',
  'workoutMinutes',
  'calories',
  'water',
  'sleep',
  'weight',
  'bodyFat'
] as const

/** Whatever is counted of a person, and the logs that it is counted from. */
async function figuresOf (api: Tandem) {
  const { data: home } = await api.getHome()
  const { level, totalXp, xpToNextLevel, streak, longestStreak } = home.user
  const trends = await Promise.all(
    metrics.flatMap((metric) =>
      (['7d', '30d', '1y'] as const).map(async (range) =>
        [`${metric} ${range}`, (await api.getTrend({ query: { metric, range } })).data.points] as const
      )
    )
  )
  const { data: { records } } = await api.listRecords()
  const { data: { achievements } } = await api.listAchievements()
  const { data: { logs } } = await api.listLogs({ query: { limit: 50 } })
  return {
    user: { level, totalXp, xpToNextLevel, streak, longestStreak },
    today: home.today,
    stats: home.stats,
    trends: Object.fromEntries(trends),
    week: (await api.getWeeklyOverview()).data,
    score: (await api.getHealthScore()).data,
    // An exercise that one account added has no id in another.
    records: records.map(({ exercise, weightKg, reps, achievedAt }) => ({ exercise, weightKg, reps, achievedAt })),
    achievements: achievements.map(({ kind, progress }) => ({ kind, progress })),
    logs: logs.map(({ type, at, timezone, data }) => ({ type, at, timezone, data: withoutNames(data) }))
  }
}

/** A log of another account names an exercise that this one added by its own name. */
const withoutNames = (data: object) => JSON.stringify(data).replaceAll('Mondgang', 'Moon walk')

async function copyOf (stack: Stack, api: Tandem, email: string) {
  const { data: { proof } } = await api.proveIdentity({ body: { purpose: 'EXPORT', password: PASSWORD } })
  await api.requestDataExport({ body: { proof } })
  const findMail = async () => {
    const mails = await (await fetch(`${stack.mail.url}/api/mails?to=${email}`)).json() as {
      subject: string,
      text: string
    }[]
    return mails.find(({ subject }) => subject === 'Your Tandem data is ready')
  }
  await until(async () => await findMail() !== undefined)
  const [link = ''] = /https?:\S+/.exec((await findMail())?.text ?? '') ?? []
  const token = new URL(link).hash.slice(1)
  const response = await fetch(`${stack.gateway.url}/api/mobile/v1/account/export/file?token=${token}`)
  t.equal(response.status, 200)
  return new File([await response.arrayBuffer()], 'copy.zip', { type: 'application/zip' })
}

async function importInto (api: Tandem, file: File) {
  const { data: { import: { id } } } = await api.importFile(uploadOf(file))
  const read = async () => (await api.getImport({ path: { id } })).data.import
  await until(async () => ['DONE', 'FAILED'].includes((await read()).status))
  return await read()
}
