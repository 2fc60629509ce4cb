import t from 'tap'
import { testApp } from '../test/app.ts'

const { newUser, at } = await testApp(t)
const now = '2026-11-20T05:00:00Z'

const legs = {
  dayOfWeek: 'FRIDAY',
  name: 'Legs',
  exercises: [{ name: 'Squat', sets: 4, repsMin: 6, repsMax: 8 }, { name: 'Lunge', sets: 3, repsMin: 10, repsMax: 10 }]
}
const rest = { dayOfWeek: 'SUNDAY', name: 'Rest', isRestDay: true }
const program = { name: 'Strong', days: [rest, legs] }

t.test('a program is created, listed, activated and shown on its days', async (t) => {
  const { send, read } = newUser({ now })
  t.strictSame(await read('/programs'), { programs: [] })
  const response = await send('POST', '/programs', program)
  t.equal(response.statusCode, 201)
  const added = response.json().data.program
  t.match(added, {
    id: String,
    name: 'Strong',
    isActive: false,
    createdAt: String,
    days: [
      {
        id: String,
        dayOfWeek: 'FRIDAY',
        name: 'Legs',
        isRestDay: false,
        exercises: [{ id: String, name: 'Squat', sets: 4, repsMin: 6, repsMax: 8 }, { name: 'Lunge' }]
      },
      { dayOfWeek: 'SUNDAY', name: 'Rest', isRestDay: true, exercises: [] }
    ]
  })
  t.equal((await read('/dashboard/home')).today.workout, null)

  const active = await send('PUT', '/programs/active', { programId: added.id })
  t.strictSame(active.json(), { success: true, data: { program: { ...added, isActive: true } } })
  t.strictSame((await read('/dashboard/home')).today.workout, {
    programDayId: added.days[0].id,
    name: 'Legs',
    isRestDay: false,
    exercises: added.days[0].exercises.map(({ exerciseId: _, ...exercise }: { exerciseId: string }) => exercise),
    isFinished: false
  })
  await send('POST', '/logs/workouts', { programDayId: added.days[0].id })
  t.match((await read('/dashboard/home')).today.workout, { isFinished: true })
  at('2026-11-27T05:00:00Z')
  t.match((await read('/dashboard/home')).today.workout, { isFinished: false }, 'a week later it is due again')
  at('2026-11-21T05:00:00Z')
  t.equal((await read('/dashboard/home')).today.workout, null, 'a day that is not in the program')
  at('2026-11-22T05:00:00Z')
  t.equal((await read('/dashboard/home')).today.workout, null, 'a rest day')
  at(now)
  t.strictSame((await send('PUT', '/programs/active', { programId: null })).json(), {
    success: true,
    data: { program: null }
  })
  t.equal((await read('/dashboard/home')).today.workout, null)
})

t.test('only the last activated program is active, also with concurrent requests', async (t) => {
  const { send, read } = newUser({ now })
  const ids: string[] = []
  for (let index = 0; index < 3; index++) ids.push((await send('POST', '/programs', program)).json().data.program.id)
  await Promise.all([...ids, ...ids].map((programId) => send('PUT', '/programs/active', { programId })))
  const { programs } = await read('/programs')
  t.same(programs.map(({ id }: { id: string }) => id), ids.toReversed())
  t.equal(programs.filter(({ isActive }: { isActive: boolean }) => isActive).length, 1)
})

t.test('a deleted program is no longer active; a program of another user is not found', async (t) => {
  const [owner, stranger] = [newUser({ now }), newUser({ now })]
  const { id } = (await owner.send('POST', '/programs', program)).json().data.program
  await owner.send('PUT', '/programs/active', { programId: id })
  for (
    const attempt of [
      stranger.send('DELETE', `/programs/${id}`),
      stranger.send('PUT', '/programs/active', { programId: id }),
      owner.send('DELETE', '/programs/garbage'),
      owner.send('PUT', '/programs/active', { programId: 'garbage' })
    ]
  ) {
    const response = await attempt
    t.equal(response.statusCode, 404)
    t.match(response.json(), { success: false, code: 'NOT_FOUND', error: 'Program not found' })
  }
  t.match((await owner.send('PUT', '/programs/active', {})).json(), { code: 'VALIDATION_ERROR' })
  t.ok((await owner.read('/dashboard/home')).today.workout)
  t.match((await owner.send('DELETE', `/programs/${id}`)).json(), { success: true, message: 'The program was deleted' })
  t.equal((await owner.read('/dashboard/home')).today.workout, null)
  t.match((await owner.send('DELETE', `/programs/${id}`)).json(), { code: 'NOT_FOUND' })
})

t.test('an invalid program is refused with the reason', async (t) => {
  const { send } = newUser({ now })
  const exercise = legs.exercises[0]
  const wrong = [
    {},
    { ...program, name: ' ' },
    { ...program, name: 'x'.repeat(101) },
    { ...program, days: [] },
    { ...program, days: [legs, legs] },
    { ...program, days: [{ ...legs, dayOfWeek: 'FREITAG' }] },
    { ...program, days: [{ ...legs, exercises: [{ ...exercise, sets: 0 }] }] },
    { ...program, days: [{ ...legs, exercises: [{ ...exercise, repsMin: 9 }] }] },
    { ...program, days: [{ ...legs, exercises: Array.from({ length: 51 }, () => exercise) }] }
  ]
  for (const body of wrong) {
    t.match((await send('POST', '/programs', body)).json(), { success: false, code: 'VALIDATION_ERROR', error: String })
  }
  t.equal(
    (await send('POST', '/programs', {
      name: 'x'.repeat(100),
      days: [{
        ...legs,
        exercises: Array.from({ length: 50 }, () => exercise)
      }]
    })).statusCode,
    201
  )
})

t.test('of 60 concurrent programs 50 are created; a repeat with the same idempotency key creates none', async (t) => {
  const { send, read } = newUser({ now })
  const key = { 'idempotency-key': 'p1' }
  const first = (await send('POST', '/programs', program, key)).json()
  t.strictSame((await send('POST', '/programs', program, key)).json(), first)
  t.match((await send('POST', '/programs', { ...program, name: 'Other' }, key)).json(), {
    code: 'IDEMPOTENCY_CONFLICT'
  })
  for (let round = 0; round < 6; round++) {
    const added = await Promise.all(
      Array.from({ length: 10 }, () => send('POST', '/programs', { name: 'x', days: [rest] }))
    )
    for (const response of added) if (response.statusCode !== 201) t.match(response.json(), { code: 'LIMIT_EXCEEDED' })
  }
  t.equal((await read('/programs')).programs.length, 50)
})
