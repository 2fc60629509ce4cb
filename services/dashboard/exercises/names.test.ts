import t from 'tap'
import { testApp } from '../test/app.ts'
import { exerciseKeyOf, libraryIds } from './library.ts'
import { exerciseNameIn, findInLibraryByNameIn, readNames } from './names.ts'
import { listExercises } from './queries.ts'

const { db, newUser } = await testApp(t)

/** A user as they speak a language. */
function speaking (language: string, { send }: Pick<ReturnType<typeof newUser>, 'send'> = newUser()) {
  const request = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => {
    const response = await send(method, path, body, { 'accept-language': language })
    if (response.statusCode > 201) throw new Error(`${path}: ${response.body}`)
    if (method === 'GET') t.equal(response.headers.vary, 'Accept-Language', path)
    return response.json().data
  }
  const names = async (query: string) => namesOf((await request('GET', `/exercises?${query}`)).exercises)
  return { request, names }
}
const namesOf = (exercises: { name: string }[]) => exercises.map(({ name }) => name)

t.test('Spanish and Indonesian name each exercise of the library, and no two alike', async (t) => {
  for (const language of ['es', 'id']) {
    const names = readNames()[language] ?? {}
    t.same(Object.keys(names), libraryIds, `${language}: in the order of the library`)
    t.equal(new Set(Object.values(names).map(exerciseKeyOf)).size, libraryIds.length, language)
    for (const name of Object.values(names)) t.equal(name, name.trim().replace(/\s+/g, ' '))
  }
})

t.test('exercises are listed, read and found in the language of the client, and by their English names', async (t) => {
  const { request, names } = speaking('id-ID,en;q=0.5')
  t.same(await names('query=barbel%20bench%20grip%20LEBAR'), [
    'Bench press barbel grip lebar',
    'Decline bench press barbel grip lebar'
  ])
  t.same(await names('query=wide-grip%20barbell%20bench'), [
    'Bench press barbel grip lebar',
    'Decline bench press barbel grip lebar'
  ])
  t.match(await request('GET', '/exercises/Barbell_Squat'), { exercise: { name: 'Squat barbel' } })
  const first = await request('GET', '/exercises?limit=50')
  const second = await request('GET', `/exercises?limit=50&cursor=${first.nextCursor}`)
  const listed = [...namesOf(first.exercises), ...namesOf(second.exercises)]
  t.equal(new Set(listed).size, 100)
  t.same(listed, listed.toSorted((one, other) => exerciseKeyOf(one) < exerciseKeyOf(other) ? -1 : 1))
})

t.test('words are found in Spanish, with and without their accents', async (t) => {
  const { account } = newUser()
  const find = async (query: string) =>
    namesOf(await listExercises(db, account, { query, language: 'es', limit: 1, cursor: undefined }))
  const curls = ['Curl de bíceps alterno con mancuernas', 'Curl de bíceps con mancuernas']
  t.same(await find('curl BICEPS mancuernas'), curls)
  t.same(await find('Bíceps con mancuernas curl'), curls)
  t.same(await find('dumbbell bicep curl'), curls.toReversed())
  t.same(await find('sentadilla con barra'), [
    'Sentadilla con barra',
    'Sentadilla con barra al banco'
  ])
})

t.test('what a language does not name has its English name', async (t) => {
  t.same(await speaking('ja').names('query=barbell%20hack'), ['Barbell Hack Squat'])
  const squat = { exerciseId: 'Barbell_Squat', name: 'Kniebeuge' }
  t.same(['es', 'en', 'fr'].map((language) => exerciseNameIn(language, squat)), [
    'Sentadilla con barra',
    'Barbell Squat',
    'Barbell Squat'
  ])
  t.equal(exerciseNameIn('es', { exerciseId: null, name: 'Moon walk' }), 'Moon walk')
  t.match(['es', 'fr'].map((language) => findInLibraryByNameIn(language, 'sentadilla  CON barra')), [
    { id: 'Barbell_Squat' },
    undefined
  ])
})

t.test('a program, the workout of today and records show the name in the language of the client', async (t) => {
  const user = newUser({ now: '2026-11-20T05:00:00Z' })
  const [indonesian, english] = [speaking('id', user), speaking('en', user)]
  const plan = { sets: 2, repsMin: 5, repsMax: 8 }
  const exercises = [{ ...plan, exerciseId: 'Barbell_Squat' }, { ...plan, name: 'deadlift  BARBEL' }, {
    ...plan,
    name: 'Jalan di bulan'
  }]
  const { program } = await indonesian.request('POST', '/programs', {
    name: 'Kuat',
    days: [{ dayOfWeek: 'FRIDAY', name: 'Kaki', exercises }]
  })
  const inIndonesian = ['Squat barbel', 'Deadlift barbel', 'Jalan di bulan']
  const inEnglish = ['Barbell Squat', 'Barbell Deadlift', 'Jalan di bulan']
  const shown = ({ days: [day] }: { days: { exercises: { name: string }[] }[] }) => namesOf(day?.exercises ?? [])
  t.same(shown(program), inIndonesian)
  t.equal(program.days[0].exercises[1].exerciseId, 'Barbell_Deadlift')
  t.same(shown((await indonesian.request('PUT', '/programs/active', { programId: program.id })).program), inIndonesian)
  t.same(shown((await english.request('GET', `/programs/${program.id}`)).program), inEnglish)
  t.same((await english.request('GET', '/programs')).programs.map(shown), [inEnglish])
  t.same(namesOf((await indonesian.request('GET', '/dashboard/home')).today.workout.exercises), inIndonesian)

  await user.log({
    clientId: 'lift',
    type: 'WORKOUT',
    at: '2026-11-19T05:00:00Z',
    data: { durationMinutes: 30, exercises: [{ name: 'Barbell squat', sets: [{ reps: 5, weightKg: 80 }] }] }
  })
  const { log } = await indonesian.request('POST', '/logs/workouts', { programDayId: program.days[0].id })
  t.same(namesOf(log.data.exercises), inIndonesian)
  t.equal(log.data.exercises[0].sets[0].weightKg, 80, 'the weight of the log with the English name')
  const records = async ({ request }: typeof english) =>
    (await request('GET', '/records')).records.map(({ exercise }: { exercise: string }) => exercise).sort()
  t.same(await records(indonesian), inIndonesian.toSorted())
  t.same(await records(english), inEnglish.toSorted())
})

t.test('templates are in the language of the client; who adds an exercise by its name there gets it', async (t) => {
  const { request } = speaking('id')
  const squat = { name: 'Squat barbel', exerciseId: 'Barbell_Squat' }
  const { templates: [{ days: [day] }] } = await request('GET', '/programs/templates')
  t.match(day.exercises[0], squat)
  const { program } = await request('POST', '/programs/templates/full-body/copy')
  t.match(program.days[0].exercises[0], squat)
  t.match(await request('POST', '/exercises', { name: 'squat BARBEL' }), {
    exercise: { id: 'Barbell_Squat', name: 'Squat barbel', isCustom: false }
  })
})
