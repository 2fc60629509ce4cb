import t from 'tap'
import { testApp } from '../test/app.ts'

const { newUser } = await testApp(t)
const now = '2026-11-20T05:00:00Z'

interface Program {
  id: string
  name: string
  days: { id: string, dayOfWeek: string, exercises: { name: string, exerciseId: string | null }[] }[]
}

t.test('each template can be copied, and its exercises are those of the library', async (t) => {
  const { send, read } = newUser({ now })
  const { templates } = await read('/programs/templates') as { templates: Program[] }
  t.equal(templates.length, 6)
  for (const template of templates) {
    const response = await send('POST', `/programs/templates/${template.id}/copy`)
    t.equal(response.statusCode, 201)
    const { program } = response.json().data as { program: Program }
    t.equal(program.name, template.name)
    t.same(
      program.days.map(({ exercises }) => exercises.map(({ name }) => name)),
      template.days.map(({ exercises }) => exercises.map(({ name }) => name))
    )
    for (const { name, exerciseId } of program.days.flatMap(({ exercises }) => exercises)) {
      t.ok(exerciseId, name)
      t.equal((await read(`/exercises/${exerciseId}`)).exercise.name, name)
    }
  }
  t.equal((await read('/programs')).programs.length, 6)
  t.match((await send('POST', '/programs/templates/garbage/copy')).json(), { code: 'NOT_FOUND' })
})

t.test('a program is replaced; a day that stays keeps its id, and strangers change nothing', async (t) => {
  const [ana, ben] = [newUser({ now }), newUser({ now })]
  const squat = { exerciseId: 'Barbell_Squat', sets: 3, repsMin: 5, repsMax: 5 }
  const days = [{ dayOfWeek: 'MONDAY', name: 'A', exercises: [squat] }, {
    dayOfWeek: 'FRIDAY',
    name: 'B',
    exercises: [{ ...squat, exerciseId: undefined, name: 'Moon walk' }]
  }]
  const { program } = (await ana.send('POST', '/programs', { name: 'Old', days })).json().data as { program: Program }
  await ana.send('PUT', '/programs/active', { programId: program.id })
  const changed = { name: 'New', days: [days[1], { dayOfWeek: 'SUNDAY', name: 'C', isRestDay: true }] }
  t.match((await ben.send('PUT', `/programs/${program.id}`, changed)).json(), { code: 'NOT_FOUND' })
  t.match((await ben.send('GET', `/programs/${program.id}`)).json(), { code: 'NOT_FOUND' })
  t.strictSame((await ana.read(`/programs/${program.id}`)).program, { ...program, isActive: true })
  t.match((await ana.send('PUT', `/programs/${program.id}`, changed)).json(), {
    data: {
      program: {
        id: program.id,
        name: 'New',
        isActive: true,
        days: [{ id: program.days[1]?.id, dayOfWeek: 'FRIDAY', exercises: [{ name: 'Moon walk' }] }, { name: 'C' }]
      }
    }
  })
  for (const exercise of [{ ...squat, exerciseId: 'garbage' }, { sets: 1, repsMin: 1, repsMax: 1 }]) {
    const response = await ana.send('PUT', `/programs/${program.id}`, {
      name: 'Bad',
      days: [{ dayOfWeek: 'MONDAY', name: 'A', exercises: [exercise] }]
    })
    t.match(response.json(), { code: 'VALIDATION_ERROR' })
  }
  t.match(await ana.read('/programs'), { programs: [{ name: 'New', days: { length: 2 } }] })
})

t.test('a finished day is logged as planned, once, with the weights of the newest lifts', async (t) => {
  const [ana, ben] = [newUser({ now }), newUser({ now })]
  const { program } = (await ana.send('POST', '/programs/templates/five-by-five/copy')).json().data as {
    program: Program
  }
  await ana.log({
    clientId: 'a',
    type: 'WORKOUT',
    at: '2026-11-18T05:00:00Z',
    data: { durationMinutes: 30, exercises: [{ name: 'Barbell Squat', sets: [{ reps: 5, weightKg: 80 }] }] }
  })
  const programDayId = program.days[0]?.id
  t.match((await ben.send('POST', '/logs/workouts', { programDayId })).json(), { code: 'NOT_FOUND' })
  const response = await ana.send('POST', '/logs/workouts', { programDayId })
  t.equal(response.statusCode, 201)
  const { log } = response.json().data
  t.match(log, {
    type: 'WORKOUT',
    day: '2026-11-20',
    data: {
      title: 'Workout A',
      programDayId,
      durationMinutes: 45,
      exercises: [{ exerciseId: 'Barbell_Squat', sets: Array.from({ length: 5 }, () => ({ reps: 5, weightKg: 80 })) }, {
        sets: Array.from({ length: 5 }, () => ({ reps: 5, weightKg: 0 }))
      }, {}]
    }
  })
  await ana.log({ clientId: log.clientId, type: 'WORKOUT', at: log.at, data: { ...log.data, durationMinutes: 50 } })
  t.match((await ana.send('POST', '/logs/workouts', { programDayId })).json(), {
    data: { log: { id: log.id, data: { durationMinutes: 50 } } }
  })
  t.equal((await ana.read('/dashboard/stats')).stats.totalWorkouts, 2)
})

t.test('the planned workout of a journey is on the day of its place, and two days are two logs', async (t) => {
  const ana = newUser({ now: '2026-11-20T20:00:00Z', zone: 'America/Los_Angeles' })
  const { program } = (await ana.send('POST', '/programs/templates/five-by-five/copy')).json().data as {
    program: Program
  }
  const log = async (at: string) =>
    (await ana.send('POST', '/logs/workouts', { programDayId: program.days[0]?.id, at })).json().data.log
  const [evening, morning] = [await log('2026-11-20T18:00:00+09:00'), await log('2026-11-21T00:30:00+09:00')]
  t.same([evening.day, morning.day], ['2026-11-20', '2026-11-21'])
  t.not(evening.id, morning.id)
  t.equal((await log('2026-11-21T00:30:00+09:00')).id, morning.id, 'a repeat is the same log')
  t.match((await ana.send('POST', '/logs/workouts', { programDayId: program.days[0]?.id, at: 'soon' })).json(), {
    code: 'VALIDATION_ERROR'
  })
})

t.test('a planned workout that was deleted can be logged again, and repeats at once are one log', async (t) => {
  const ana = newUser({ now: '2026-11-20T05:00:00Z' })
  const { program } = (await ana.send('POST', '/programs/templates/five-by-five/copy')).json().data as {
    program: Program
  }
  const programDayId = program.days[0]?.id
  const log = async (at?: string) =>
    (await ana.send('POST', '/logs/workouts', { programDayId, ...(at && { at }) })).json().data.log
  const first = await log()
  await ana.send('DELETE', `/logs/${first.id}`)
  const second = await log()
  t.not(second.id, first.id)
  t.equal((await log()).id, second.id, 'a repeat is the same log')
  await ana.log({ clientId: second.clientId, deleted: true, modifiedAt: '2026-11-20T05:00:00Z' })

  const hours = [1, 2, 3, 4]
  const logs = await Promise.all(hours.map(async (hour) => await log(`2026-11-20T0${hour}:00:00Z`)))
  t.equal(new Set(logs.map(({ id, at }) => `${id} ${at}`)).size, 1)
  t.notOk([first.id, second.id].includes(logs[0].id))
  t.equal((await ana.read('/dashboard/home')).stats.totalWorkouts, 1)
})

t.test('a planned workout of more than 480 sets lasts for a day', async (t) => {
  const ana = newUser({ now: '2026-11-20T05:00:00Z' })
  const exercises = Array.from({ length: 50 }, () => ({ name: 'Squat', sets: 10, repsMin: 5, repsMax: 5 }))
  const { program } = (await ana.send('POST', '/programs', {
    name: 'Endless',
    days: [{ dayOfWeek: 'FRIDAY', name: 'All of it', exercises }]
  })).json().data as { program: Program }
  t.match((await ana.send('POST', '/logs/workouts', { programDayId: program.days[0]?.id })).json(), {
    data: { log: { data: { durationMinutes: 1_440 } } }
  })
})
