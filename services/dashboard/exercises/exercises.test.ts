import t from 'tap'
import { testApp } from '../test/app.ts'
import { libraryExercises } from './library.ts'

const { newUser, db } = await testApp(t)

const namesOf = ({ exercises }: { exercises: { name: string }[] }) => exercises.map(({ name }) => name)

t.test('the library has 873 exercises with different names', async (t) => {
  t.equal(libraryExercises.length, 873)
  t.equal(new Set(libraryExercises.map(({ key }) => key)).size, 873)
})

t.test('exercises are found by words, muscle, equipment and category, and read page by page', async (t) => {
  const { read } = newUser()
  t.same(namesOf(await read('/exercises?query=PRESS%20bench%20close-grip%20barbell')), [
    'Close-Grip Barbell Bench Press'
  ])
  t.same(namesOf(await read('/exercises?query=barbell%20squat&limit=3')), [
    'Barbell Squat',
    'Barbell Squat To A Bench',
    'Barbell Full Squat'
  ])
  const { exercises } = await read('/exercises?muscle=neck&equipment=other&category=strength&limit=50')
  t.ok(exercises.length > 0)
  for (const { primaryMuscles, secondaryMuscles, equipment, category } of exercises) {
    t.ok([...primaryMuscles, ...secondaryMuscles].includes('neck'))
    t.same([equipment, category], ['other', 'strength'])
  }
  const all = []
  for (let cursor = '';;) {
    const page = await read(`/exercises?limit=50&cursor=${encodeURIComponent(cursor)}`)
    all.push(...page.exercises)
    if (!page.nextCursor) break
    cursor = page.nextCursor
  }
  t.equal(new Set(all.map(({ id }) => id)).size, 873)
  t.match(await read('/exercises/Barbell_Squat'), { exercise: { name: 'Barbell Squat', isCustom: false } })
})

t.test('what a list does not know is refused', async (t) => {
  const { send } = newUser()
  for (const query of ['muscle=heart', 'equipment=sled', 'category=yoga', 'cursor=garbage', 'limit=0']) {
    t.match((await send('GET', `/exercises?${query}`)).json(), { code: 'VALIDATION_ERROR' }, query)
  }
  t.match((await send('GET', '/exercises/garbage')).json(), { code: 'NOT_FOUND' })
  t.match((await send('POST', '/exercises', { name: ' ' })).json(), { code: 'VALIDATION_ERROR' })
})

t.test('an exercise is added once, also by many requests at once, and only its owner sees it', async (t) => {
  const [ana, ben] = [newUser(), newUser()]
  const added = await Promise.all(
    ['Moon walk', 'moon  Walk', 'Moon-walk'].map((name) => ana.send('POST', '/exercises', { name }))
  )
  const ids = new Set(added.map((response) => response.json().data.exercise.id))
  t.equal(ids.size, 1)
  const [id] = [...ids]
  t.match(await ana.read('/exercises?query=moon'), {
    exercises: [{ id, isCustom: true, primaryMuscles: { length: 0 } }]
  })
  t.same((await ana.read('/exercises?query=moon&muscle=chest')).exercises, [])
  t.same((await ben.read('/exercises?query=moon')).exercises, [])
  for (const method of ['GET', 'DELETE'] as const) {
    t.match((await ben.send(method, `/exercises/${id}`)).json(), { code: 'NOT_FOUND' })
  }
  t.match((await ana.send('POST', '/exercises', { name: 'barbell squat' })).json(), {
    data: { exercise: { id: 'Barbell_Squat', isCustom: false } }
  })
  t.equal((await ana.send('DELETE', `/exercises/${id}`)).statusCode, 200)
  t.match((await ana.send('DELETE', `/exercises/${id}`)).json(), { code: 'NOT_FOUND' })
})

t.test('of 310 exercises added by 31 programs at once, 300 are kept', async (t) => {
  const { send, read } = newUser()
  const responses = await Promise.all(Array.from({ length: 31 }, async (_, index) =>
    await send('POST', '/programs', {
      name: 'Many',
      days: [{
        dayOfWeek: 'MONDAY',
        name: 'All',
        exercises: Array.from({ length: 10 }, (_, number) => ({
          name: `New ${index} ${number}`,
          sets: 1,
          repsMin: 1,
          repsMax: 1
        }))
      }]
    })))
  t.equal(responses.filter(({ statusCode }) => statusCode === 201).length, 30)
  t.match(responses.find(({ statusCode }) => statusCode !== 201)?.json(), { code: 'LIMIT_EXCEEDED' })
  t.equal((await read('/programs')).programs.length, 30, 'a refused program is not kept')
})

t.test('records of an exercise are one, by its id or however it is written', async (t) => {
  const { log, read, send } = newUser()
  const lift = (day: number, exercise: object, weightKg: number) => ({
    clientId: `lift-${day}`,
    type: 'WORKOUT',
    at: `2026-11-${day}T05:00:00Z`,
    data: { durationMinutes: 30, exercises: [{ ...exercise, sets: [{ reps: 5, weightKg }] }] }
  })
  const { exercise: moonWalk } = (await send('POST', '/exercises', { name: 'Moon walk' })).json().data
  await log(
    lift(10, { name: 'Kniebeuge', exerciseId: 'Barbell_Squat' }, 80),
    lift(11, { name: 'barbell-squat' }, 85),
    lift(12, { name: 'MOON WALK' }, 100),
    lift(14, { name: 'Mondgang', exerciseId: moonWalk.id }, 110),
    lift(13, { name: 'Something' }, 20)
  )
  t.same(
    (await read('/records')).records.map(({ exerciseId, weightKg }: { exerciseId: string, weightKg: number }) => [
      exerciseId,
      weightKg
    ]),
    [[moonWalk.id, 110], [null, 20], ['Barbell_Squat', 85]]
  )
  t.equal((await read('/dashboard/stats')).stats.totalPRs, 5)
})

t.test('an exercise that was deleted has one record still, whatever logs that name its id call it', async (t) => {
  const { log, read, send } = newUser()
  const add = async () => (await send('POST', '/exercises', { name: 'Moon walk' })).json().data.exercise.id
  const id = await add()
  const lift = (day: number, weightKg: number, more: object = {}) => ({
    clientId: `lift-${day}`,
    type: 'WORKOUT',
    at: `2026-11-${day}T05:00:00Z`,
    data: {
      durationMinutes: 30,
      exercises: [{ name: 'Mondgang', exerciseId: id, sets: [{ reps: 5, weightKg }] }],
      ...more
    }
  })
  const records = async () =>
    (await read('/records')).records.map((
      record: { exercise: string, exerciseId: string | null, weightKg: number }
    ) => [
      record.exercise,
      record.exerciseId,
      record.weightKg
    ])
  await log(lift(10, 80))
  await Promise.all([send('DELETE', `/exercises/${id}`), log(lift(11, 90))])
  t.match((await send('GET', `/exercises/${id}`)).json(), { code: 'NOT_FOUND' })
  await log(lift(10, 80, { notes: 'edited' }), lift(12, 100))
  t.same(await records(), [['Moon walk', null, 100]])
  t.equal((await read('/dashboard/stats')).stats.totalPRs, 3)
  t.equal(await add(), id, 'it can be added again')
  t.same(await records(), [['Moon walk', id, 100]])
})

t.test('of deleted exercises the newest 300 are remembered', async (t) => {
  const { account, send } = newUser()
  const old = Array.from({ length: 300 }, (_, number) => ({
    account_id: account,
    key: `old ${number}`,
    name: `Old ${number}`,
    deleted_at: new Date(Date.now() - 1_000 * (number + 1))
  }))
  await db.insertInto('custom_exercises').values(old).execute()
  const { id } = (await send('POST', '/exercises', { name: 'Moon walk' })).json().data.exercise
  t.equal((await send('DELETE', `/exercises/${id}`)).statusCode, 200)
  const left = await db.selectFrom('custom_exercises').where('account_id', '=', account).select('name').execute()
  t.equal(left.length, 300)
  t.notOk(left.some(({ name }) => name === 'Old 299'))
})
