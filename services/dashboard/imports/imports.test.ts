import { randomUUID } from 'node:crypto'
import { FitBaseType, FitEncoder } from 'fit-file-parser/encoder'
import { ZipFile } from 'yazl'
import { sql } from 'kysely'
import t from 'tap'
import { bearer, silentLog } from '@tandem/http-kit/testing'
import { createLogger } from '@tandem/process-kit'
import { until } from '@tandem/test-kit'
import { examplePerson, phone, measured, testApp, watch } from '../test/app.ts'
import { parseItem } from '../logs/items.ts'
import { workOnImport } from './actions.ts'
import { readCsv } from './formats/csv.ts'

const { app, newUser, setFakes, deps, db, ephemeral } = await testApp(t)
// However busy the machine is.
const pace = { quickDeadlineMs: 120_000 }
const work = async (id: string) => await workOnImport({ ...deps, log: silentLog }, id, pace)

type User = ReturnType<typeof newUser>

/** Uploads a file. */
async function upload ({ account }: User, file: string | Buffer, fields: Record<string, string> = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([typeof file === 'string' ? file : new Uint8Array(file)]), 'file')
  const request = new Request('http://localhost', { method: 'POST', body: form })
  return await app.inject({
    method: 'POST',
    url: '/imports',
    headers: { ...bearer(account), 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer())
  })
}

/** What realtime told a user of their imports: the status and the progress. */
const framesOf = ({ account }: User) =>
  ephemeral.filter(({ to }) => to === account).map(({ frame }) => {
    t.equal(frame.type, 'import.changed')
    const { status, progress } = frame.data as { status: string, progress: number }
    return [status, progress]
  })

/** Imports a file. Returns what the import says when it is finished. */
async function importFile (user: User, file: string | Buffer, fields: Record<string, string> = {}) {
  const response = await upload(user, file, fields)
  if (response.statusCode !== 201) throw new Error(response.body)
  const { id, status } = response.json().data.import
  t.equal(status, 'PENDING')
  await work(id)
  return (await user.read(`/imports/${id}`)).import
}

const loggedRun = (row: object = {}) => ({
  client_id: '["HEALTHKIT","e1"]',
  sent_client_id: null,
  source: watch,
  external_id: 'e1',
  type: 'WORKOUT',
  at: '2026-11-20T01:00:00.000Z',
  ends_at: '2026-11-20T01:30:00.000Z',
  timezone: 'Asia/Jakarta',
  data: { durationMinutes: 30 },
  is_split: false,
  modified_at: null,
  ...row
})
/** The copy of an account with these logs. */
const exported = async (...rows: object[]) => await zipped({ 'dashboard/logs.json': JSON.stringify(rows) })

/** A ZIP whose first file is, as it says, of this size. */
function claimToHave (bytes: number, zip: Buffer) {
  zip.writeUInt32LE(bytes, zip.indexOf('PK\x01\x02') + 24)
  return zip
}

const totals = async ({ read }: User) => {
  const { today: { steps, activeEnergy, restingHeartRate }, stats } = await read('/dashboard/home')
  return { steps, activeEnergy, restingHeartRate, ...stats }
}

async function zipped (files: Record<string, string>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path)
  zip.end()
  return Buffer.concat(await Array.fromAsync(zip.outputStream as AsyncIterable<Buffer>))
}

const gpx =
  `<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>Morning run</name><type>running</type><trkseg>
${
    [0, 10, 20, 30].map((minute) =>
      `<trkpt lat="${-6.2 + minute / 1e4}" lon="106.8"><time>2026-11-20T01:${
        String(minute).padStart(2, '0')
      }:00Z</time></trkpt>`
    ).join('')
  }</trkseg></trk></gpx>`

const tcx = `<TrainingCenterDatabase><Activities><Activity Sport="Running"><Id>2026-11-20T01:00:00Z</Id>
<Lap StartTime="2026-11-20T01:00:00Z"><TotalTimeSeconds>1800</TotalTimeSeconds><DistanceMeters>5000</DistanceMeters><Calories>300</Calories><Track>
<Trackpoint><Time>2026-11-20T01:00:00Z</Time><HeartRateBpm><Value>120</Value></HeartRateBpm></Trackpoint>
<Trackpoint><Time>2026-11-20T01:30:00Z</Time><HeartRateBpm><Value>160</Value></HeartRateBpm></Trackpoint></Track></Lap></Activity></Activities></TrainingCenterDatabase>`

function fit (start = new Date('2026-11-20T01:00:00Z'), sessions = 1) {
  const encoder = new FitEncoder()
  const at = (minutes: number) => FitEncoder.toFitTimestamp(new Date(start.getTime() + minutes * 60_000))
  const field = (number: number, baseType: FitBaseType, size: number, value: number) => ({
    number,
    baseType,
    size,
    value
  })
  encoder.writeMessage(0, [field(0, FitBaseType.Enum, 1, 4), field(4, FitBaseType.Uint32, 4, at(0))])
  for (const [minute, rate] of [[0, 120], [15, 150], [30, 160]] as const) {
    encoder.writeMessage(20, [field(253, FitBaseType.Uint32, 4, at(minute)), field(3, FitBaseType.Uint8, 1, rate)])
  }
  for (let session = 0; session < sessions; session++) {
    encoder.writeMessage(18, [
      field(253, FitBaseType.Uint32, 4, at(30)),
      field(2, FitBaseType.Uint32, 4, at(0)),
      field(7, FitBaseType.Uint32, 4, 1_800_000),
      field(8, FitBaseType.Uint32, 4, 1_800_000),
      field(9, FitBaseType.Uint32, 4, 500_000),
      field(11, FitBaseType.Uint16, 2, 310),
      field(5, FitBaseType.Enum, 1, 1)
    ])
  }
  return Buffer.from(encoder.close())
}

const apple = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!ELEMENT HealthData (ExportDate,Me,(Record|Workout)*)>
<!ATTLIST HealthData locale CDATA #REQUIRED>
]>
<HealthData locale="en_ID">
 <ExportDate value="2026-11-20 12:00:00 +0700"/>
 <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" startDate="2026-11-20 08:00:00 +0700" endDate="2026-11-20 08:10:00 +0700" value="900"/>
 <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" startDate="2026-11-20 08:10:00 +0700" endDate="2026-11-20 08:20:00 +0700" value="800"/>
 <Record type="HKQuantityTypeIdentifierStepCount" sourceName="iPhone" unit="count" startDate="2026-11-20 08:00:00 +0700" endDate="2026-11-20 08:20:00 +0700" value="2100"/>
 <Record type="HKQuantityTypeIdentifierActiveEnergyBurned" sourceName="Watch" unit="kJ" startDate="2026-11-20 08:00:00 +0700" endDate="2026-11-20 08:10:00 +0700" value="418.4"/>
 <Record type="HKQuantityTypeIdentifierRestingHeartRate" sourceName="Watch" unit="count/min" startDate="2026-11-20 08:00:00 +0700" endDate="2026-11-20 08:00:00 +0700" value="55"/>
 <Record type="HKQuantityTypeIdentifierBodyMass" sourceName="Scale" unit="lb" startDate="2026-11-20 07:00:00 +0700" endDate="2026-11-20 07:00:00 +0700" value="154.3"/>
 <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Watch" startDate="2026-11-19 23:00:00 +0700" endDate="2026-11-20 03:00:00 +0700" value="HKCategoryValueSleepAnalysisAsleepCore"/>
 <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Watch" startDate="2026-11-20 03:00:00 +0700" endDate="2026-11-20 06:00:00 +0700" value="HKCategoryValueSleepAnalysisAsleepREM"/>
 <Record type="HKQuantityTypeIdentifierBodyMass" sourceName="Scale" unit="lb" startDate="2026-11-20 07:00:00 +0700" endDate="2026-11-20 07:00:00 +0700" value="9000"/>
 <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min" sourceName="Watch" startDate="2026-11-20 08:00:00 +0700" endDate="2026-11-20 08:30:00 +0700">
  <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" sum="300" unit="kcal"/>
 </Workout>
</HealthData>`

const strong = `Date,Workout Name,Duration,Exercise Name,Set Order,Weight,Reps,Distance,Seconds,Notes,Workout Notes,RPE
2026-11-20 08:00:00,"Push day",45m,"Bench Press (Barbell)",1,80,5,0,0,"","Good",
2026-11-20 08:00:00,"Push day",45m,"Bench Press (Barbell)",2,82.5,5,0,0,"","Good",
2026-11-20 08:00:00,"Push day",45m,"Dip",1,0,12,0,0,"","Good",
`
const hevy =
  `"title","start_time","end_time","description","exercise_title","superset_id","exercise_notes","set_index","set_type","weight_kg","reps","distance_km","duration_seconds","rpe"
"Push day","20 Nov 2026, 08:00","20 Nov 2026, 08:45","","Bench Press",,"",0,"normal",82.5,5,,,
`
const myFitnessPal = `Date,Meal,Calories,Fat (g),Carbohydrates (g),Protein (g)
2026-11-20,Breakfast,350,10,50,20
2026-11-20,Snacks,none,10,50,20
`

t.test('each format is read, and the same file again has nothing new', async (t) => {
  const run = { data: { sport: 'running', durationMinutes: 30 } }
  const cases: [string, string | Buffer, object, object][] = [
    ['GPX', gpx, { found: 1, new: 1 }, { data: { ...run.data, title: 'Morning run', route: /./ } }],
    ['TCX', tcx, { found: 1, new: 1 }, {
      data: { ...run.data, calories: 300, distanceMeters: 5_000, avgHeartRate: 140 }
    }],
    ['FIT', fit(), { found: 1, new: 1 }, {
      data: { ...run.data, calories: 310, distanceMeters: 5_000, maxHeartRate: 160 }
    }],
    ['CSV', strong, { found: 3, new: 3 }, {
      data: {
        title: 'Push day',
        notes: 'Good',
        durationMinutes: 45,
        exercises: [{ sets: [{}, { weightKg: 82.5 }] }, { name: 'Dip' }]
      }
    }],
    ['CSV', hevy, { found: 1, new: 1 }, { at: '2026-11-20T01:00:00.000Z', data: { durationMinutes: 45 } }],
    ['CSV', myFitnessPal, { found: 2, new: 1, refused: [{ line: 3, reason: 'data.calories is required' }] }, {
      data: { name: 'Breakfast', carbs: 50 }
    }]
  ]
  for (const [type, file, report, log] of cases) {
    const user = newUser()
    t.match(await importFile(user, file), { status: 'DONE', type, progress: 100, report }, type)
    t.match((await user.read('/logs')).logs, [log], type)
    const before = await totals(user)
    t.match(await importFile(user, file, { type }), { status: 'DONE', report: { new: 0 } })
    t.same(await totals(user), before)
  }
})

t.test('Strong and Hevy are read with the headers, clocks and months of their versions and languages', async (t) => {
  const ofVersions = {
    'seconds': `Workout #;Date;Workout Name;Duration (sec);Exercise Name;Set Order;Weight (kg);Reps;RPE;Seconds
1;2026-08-11 18:05:00;Push day;2700;Bench Press;1;80,5;5;8,5;
1;2026-08-11 18:05:00;Push day;2700;Bench Press;Rest Timer;;;;90`,
    'another name of the duration': `Date;Workout Name;Exercise Name;Set Order;Weight;Weight Unit;Reps;Workout Duration
2026-08-11 18:05:00;Push day;Bench Press;1;80.5;kg;5;45m`,
    'a clock of twelve hours': `Date,Workout Name,Duration,Exercise Name,Set Order,Weight,Reps
2026-08-11 6:05:00\u202fPM,Push day,45m,Bench Press,1,80.5,5`,
    ...Object.fromEntries(['11 Aug', '11 ago', '11 ago.', '11 Agustus'].map((day) => [
      day,
      `title,start_time,end_time,exercise_title,weight_kg,reps
Push day,"${day} 2026, 18:05","${day} 2026, 18:50",Bench Press,80.5,5`
    ]))
  }
  // Without a process that reads it, as each would take longer to start than to read its file.
  for (const [version, file] of Object.entries(ofVersions)) {
    const [entry, ...others] = readCsv(Buffer.from(file), { timezone: 'Asia/Jakarta', columns: null })
    t.match(entry, { count: file.split('\n').length - 1 }, version)
    t.match(entry && parseItem(entry.item, new Date()), {
      at: new Date('2026-08-11T11:05:00.000Z'),
      data: { title: 'Push day', durationMinutes: 45, exercises: [{ sets: [{ reps: 5, weightKg: 80.5 }] }] }
    }, version)
    t.same(others, [])
  }
  const midnight = ofVersions['a clock of twelve hours'].replace('6:05:00\u202fPM', '12:05:00 AM')
  const user = newUser()
  await importFile(user, midnight)
  t.match(await importFile(user, midnight.replace('12:05:00 AM', '00:05:00')), { report: { new: 0 } })
  t.match((await user.read('/logs')).logs, [{ at: '2026-08-10T17:05:00.000Z' }])
})

t.test('a file without time zones has nothing new for a person who has moved', async (t) => {
  const weights = 'Day,Weight\n2026-11-19,70\n2026-11-20 08:00,71\n'
  const columns = JSON.stringify({ type: 'WEIGHT', at: 'Day', kg: 'Weight' })
  for (const [file, fields] of [[strong, {}], [hevy, {}], [myFitnessPal, {}], [weights, { columns }]] as const) {
    const user = newUser()
    await importFile(user, file, fields)
    const before = await totals(user)
    setFakes({ person: examplePerson('Asia/Tokyo') })
    t.match(await importFile(user, file, fields), { status: 'DONE', report: { new: 0 } }, file)
    t.same(await totals(user), before, file)
  }
})

t.test("Apple's export is read from its ZIP, and can be undone and imported again", async (t) => {
  const user = newUser()
  const file = await zipped({ 'apple_health_export/export.xml': apple })
  const before = await totals(user)
  const found = await importFile(user, file)
  t.match(found, { status: 'DONE', type: 'APPLE_HEALTH', report: { found: 10, new: 9, refused: [{ reason: /kg/ }] } })
  const counted = {
    steps: 1_700,
    activeEnergy: 100,
    restingHeartRate: 55,
    totalWorkouts: 1,
    currentWeight: 69.989302691
  }
  t.match(await totals(user), counted)
  t.match((await user.read('/logs?type=SLEEP')).logs, [{ data: { minutes: 420 } }])

  const undo = async () => {
    t.match((await user.send('DELETE', `/imports/${found.id}`)).json(), { data: { import: { status: 'UNDOING' } } })
    await work(found.id)
    t.match((await user.send('DELETE', `/imports/${found.id}`)).json(), { data: { import: { status: 'UNDONE' } } })
  }
  await undo()
  t.same(framesOf(user).slice(-3), [['UNDOING', 100], ['UNDOING', 100], ['UNDONE', 100]])
  t.same(await totals(user), before)
  t.match(await importFile(user, file), { report: { new: 9 } })
  t.match(await totals(user), counted)
  t.equal((await user.read('/imports')).imports.length, 2)
})

t.test("Apple's export from another time zone, in which it has all times, has nothing new", async (t) => {
  const user = newUser()
  const steps = (from: string, to: string) =>
    `<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" startDate="${from} +0700" endDate="${to} +0700" value="20"/>`
  const onTheDayBefore = steps('2026-11-19 12:00:00', '2026-11-19 12:10:00')
  const overMidnight = steps('2026-11-19 23:50:00', '2026-11-20 00:10:00')
  const inJakarta = apple.replace(' <Record', `${onTheDayBefore}${overMidnight}$&`)
  await importFile(user, inJakarta)
  const before = await totals(user)
  t.equal(before.steps, 1_710)
  const inTokyo = inJakarta.replaceAll(
    /(\d\S+) (\S+) \+0700/g,
    (_, day: string, time: string) =>
      Temporal.Instant.from(`${day}T${time}+07:00`).toZonedDateTimeISO('Asia/Tokyo').toPlainDateTime()
        .toString({ smallestUnit: 'second' }).replace('T', ' ') + ' +0900'
  )
  t.match(await importFile(user, inTokyo), { status: 'DONE', report: { found: 12, new: 0 } })
  t.same(await totals(user), { ...before, steps: 1_720 }, 'in Tokyo all those over midnight are of today')
  const { logs } = await user.read('/logs?limit=50')
  t.equal(logs.length, 8)
})

t.test('a workout without a track is as long as it says', async (t) => {
  const user = newUser()
  const indoors = tcx.replace(/<Track>[^]*<\/Track>/, '')
  await importFile(user, indoors)
  t.match(await importFile(user, fit()), { report: { new: 1, merged: 1 } })
  t.match(await totals(user), { totalWorkouts: 1, avgWorkoutDuration: 30 })
})

t.test("an odd sample of Apple's is refused alone, and water in ounces is read", async (t) => {
  const user = newUser()
  const record = (type: string, unit: string, value: string, [from, to]: [string, string], day = 20) =>
    `<Record type="HKQuantityTypeIdentifier${type}" sourceName="Watch" unit="${unit}" startDate="2026-11-${day} ${from} +0700" endDate="2026-11-20 ${to} +0700" value="${value}"/>`
  const heartRate = (value: string, at: string) => record('HeartRate', 'count/min', value, [at, at])
  const steps = (value: string, span: [string, string]) => record('StepCount', 'count', value, span)
  const records = [
    heartRate('60', '08:00:00'),
    heartRate('19', '08:05:00'),
    heartRate('80', '08:10:00'),
    steps('100', ['08:00:00', '08:10:00']),
    steps('100', ['08:30:00', '08:20:00']),
    steps('none', ['08:40:00', '08:50:00']),
    record('DietaryWater', 'fl_oz_us', '8', ['09:00:00', '09:00:00']),
    steps('10', ['00:01:00', '00:05:00']).replaceAll('11-20', '11-19'),
    record('StepCount', 'count', '20', ['23:50:00', '00:10:00'], 19)
  ]
  const file = `<?xml version="1.0"?>\n<HealthData>${records.join('\n')}</HealthData>`
  t.match(await importFile(user, file), {
    report: { found: 9, new: 6, refusedCount: 3, refused: [{ line: 3, reason: /bpm/ }, { line: 6 }, { line: 7 }] }
  })
  t.match((await user.read('/logs?type=HEART_RATE')).logs, [{ data: { min: 60, max: 80, count: 2 } }])
  t.match(await totals(user), { steps: 100 + 10 }, 'half of those over midnight are of today')
  t.match((await user.read('/logs?type=WATER')).logs, [{ data: { ml: 237 } }])
})

t.test('what is known from another source becomes one session', async (t) => {
  const user = newUser()
  await user.log(measured('WORKOUT', phone, ['2026-11-20T01:02:00Z', '2026-11-20T01:31:00Z'], { title: 'Run' }))
  t.match(await importFile(user, fit()), { report: { found: 1, new: 1, merged: 1 } })
  t.match(await totals(user), { totalWorkouts: 1, avgWorkoutDuration: 30 })
  t.match((await user.read('/logs')).logs, [{ data: { title: 'Run', calories: 310 } }])
})

t.test('the same workout in files of several apps is one session', async (t) => {
  const sports = [['Running', 'running', 'Running'], ['Biking', 'cycling', 'Cycling'], ['Other', 'running', 'Running']]
  for (const [ofTcx = '', ofGpx = '', ofApple = ''] of sports) {
    const user = newUser()
    await importFile(user, gpx.replace('running', ofGpx))
    const before = await totals(user)
    t.match(await importFile(user, tcx.replace('Running', ofTcx)), { report: { new: 1, merged: 1 } })
    t.match(await importFile(user, apple.replace('TypeRunning', `Type${ofApple}`)), { status: 'DONE' })
    t.match((await user.read('/logs?type=WORKOUT')).logs, [{ parts: { length: 3 }, data: { sport: ofGpx } }], ofTcx)
    t.match(await totals(user), { totalWorkouts: 1, avgWorkoutDuration: before.avgWorkoutDuration })
  }
})

t.test('any CSV file with named columns is read, in the time zone of the person', async (t) => {
  const user = newUser()
  const columns = JSON.stringify({ type: 'WEIGHT', at: 'Day', kg: 'Weight' })
  t.match(await importFile(user, 'Day;Weight\n2026-11-19 08:00;70,5\n2026-11-20 08:00;71\n', { columns }), {
    report: { found: 2, new: 2, refused: { length: 0 } }
  })
  t.match((await user.read('/logs')).logs, [{ at: '2026-11-20T01:00:00.000Z', data: { kg: 71 } }, {
    data: { kg: 70.5 }
  }])
  t.match(await importFile(user, 'Day,Weight\n', { columns: JSON.stringify({ type: 'CAT', at: 'Day' }) }), {
    status: 'FAILED'
  })
  t.equal((await upload(user, 'a', { columns: '{' })).statusCode, 400)
  t.equal((await upload(user, 'a', { type: 'DOC' })).statusCode, 400)
})

t.test('a comma in a number separates thousands where it separates columns, and is a decimal one elsewhere', async (t) => {
  const user = newUser()
  const columns = JSON.stringify({ type: 'FOOD', at: 'Day', name: 'Name', calories: 'Energy', protein: 'Protein' })
  const row = (name: string, energy: string, protein: string) => `2026-11-20 08:00,${name},"${energy}","${protein}"\n`
  await importFile(user, `Day,Name,Energy,Protein\n${row('a', '1,250', '1,250.5')}${row('b', '350,5', '0,25')}`, {
    columns
  })
  await importFile(user, 'Day;Name;Energy;Protein\n2026-11-20 08:30;c;1,250;20,5\n', { columns })
  const foods = (await user.read('/logs')).logs.map(({ data }: { data: object }) => data)
  t.strictSame(
    new Set(foods),
    new Set([
      { name: 'a', calories: 1_250, protein: 1_250.5 },
      { name: 'b', calories: 350.5, protein: 0.25 },
      { name: 'c', calories: 1.25, protein: 20.5 }
    ])
  )
})

t.test('a file that is made to do harm is refused, and nothing of it is stored', async (t) => {
  const user = newUser()
  const lol = `<!DOCTYPE gpx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><gpx><trk><name>&b;</name></trk></gpx>`
  const external = `<!DOCTYPE gpx [<!ENTITY x SYSTEM "file:///etc/passwd">]><gpx><trk><name>&x;</name></trk></gpx>`
  const wrongCrc = Buffer.from(fit())
  wrongCrc.writeUInt16LE(7, wrongCrc.length - 2)
  const wrongSize = Buffer.from(fit())
  wrongSize.writeUInt32LE(0xffffffff, 4)
  const zip = await zipped({ 'export.xml': apple })
  const brokenZip = Buffer.from(zip)
  brokenZip.writeUInt32LE(1, zip.indexOf('PK\x01\x02') + 16)
  const bomb = claimToHave(0x7fffffff, await zipped({ 'export.xml': `<HealthData>${' '.repeat(1_000_000)}` }))
  const hostile = {
    'billion laughs': lol,
    'external entity': external,
    'unknown entity': '<gpx><trk><name>&nope;</name></trk></gpx>',
    'wrong checksum of FIT': wrongCrc,
    'wrong size of FIT': wrongSize,
    'cut FIT': fit().subarray(0, 60),
    'FIT of many sessions': fit(undefined, 101),
    'wrong checksum of ZIP': brokenZip,
    'ZIP that is larger than it says': bomb,
    'cut ZIP': zip.subarray(0, zip.length - 30),
    'ZIP of something else': await zipped({ 'other.txt': 'hello' }),
    'deep XML': `<gpx>${'<a>'.repeat(100_000)}`,
    'cut XML': gpx.slice(0, -20),
    'XML with a character that no text may have': '<gpx><\0></gpx>',
    'JSON that is no list of logs': '[1]',
    'columns nobody knows': 'a,b\n1,2\n',
    'a time that is none': await exported(loggedRun({ at: 'noon', timezone: '+07:00' })),
    'ZIP of logs that need too much memory': claimToHave(101 * 1024 * 1024, await exported(loggedRun()))
  }
  for (const [name, file] of Object.entries(hostile)) {
    t.match(await importFile(user, file), { status: 'FAILED', error: /./, report: { found: 0, new: 0 } }, name)
    t.same(framesOf(user).at(-1), ['FAILED', 100])
  }
  t.same((await user.read('/logs')).logs, [])
})

t.test('what a file takes to read grows with its length, whatever repeats in it', async (t) => {
  const user = newUser()
  const csv = `Date,Workout Name,Exercise Name,Reps,Weight\n${'2026-11-20 08:00:00,Legs,Squat,5,80\n'.repeat(100_000)}`
  t.match(await importFile(user, csv), { status: 'DONE', report: { found: 100_000, new: 0, refusedCount: 1 } })
  const digits = `2026-11-20 08:00:00,Legs,${'1'.repeat(60_000)},Squat,5,80\n`.repeat(20)
  t.match(await importFile(user, `Date,Workout Name,Duration,Exercise Name,Reps,Weight\n${digits}`), { status: 'DONE' })
})

t.test('twenty files of an account are read in a day', async (t) => {
  const user = newUser()
  const ends_at = new Date(Date.now() + 24 * 60 * 60 * 1_000)
  await db.insertInto('daily_quotas').values({ account_id: user.account, name: 'imports', used: 19, ends_at }).execute()
  t.match(await importFile(user, '[]'), { status: 'DONE' })
  t.match((await upload(user, '[]')).json(), { code: 'LIMIT_EXCEEDED', error: /20 files/ })
})

t.test("one import of an account runs at a time, and those of others are nobody else's", async (t) => {
  const [user, stranger] = [newUser(), newUser()]
  const responses = await Promise.all([gpx, gpx, gpx].map(async (file) => await upload(user, file)))
  t.same(responses.map(({ statusCode }) => statusCode).sort((a, b) => a - b), [201, 409, 409])
  const created = responses.find(({ statusCode }) => statusCode === 201)
  if (!created) throw new Error('no import was created')
  const { id } = created.json().data.import
  t.match((await user.send('DELETE', `/imports/${id}`)).json(), { code: 'IMPORT_RUNNING' })
  for (const method of ['GET', 'DELETE'] as const) {
    t.equal((await stranger.send(method, `/imports/${id}`)).statusCode, 404)
  }
  t.equal((await user.send('GET', `/imports/${randomUUID()}`)).statusCode, 404)
  await Promise.all([1, 2, 3].map(async () => await work(id)))
  t.match(await totals(user), { totalWorkouts: 1 })
  t.equal((await user.send('POST', '/imports', {})).statusCode, 415)
})

t.test('a new import and undoing the one before, at the same time: one of them runs', async (t) => {
  const user = newUser()
  for (let round = 0; round < 10; round++) {
    const before = await importFile(user, gpx)
    const [undo, created] = await Promise.all([user.send('DELETE', `/imports/${before.id}`), upload(user, gpx)])
    t.same([undo.statusCode, created.statusCode].filter((status) => status !== 409).length, 1)
    for (const response of [undo, created]) {
      if (response.statusCode === 409) t.equal(response.json().code, 'IMPORT_RUNNING')
    }
    await work(undo.statusCode === 200 ? before.id : created.json().data.import.id)
  }
})

t.test('an edit of an imported entry stays when its file comes again, and when the import is undone', async (t) => {
  const user = newUser()
  const columns = JSON.stringify({ type: 'WEIGHT', at: 'Day', kg: 'Weight' })
  const file = 'Day,Weight\n2026-11-18,70\n2026-11-19,71\n2026-11-20 08:00,72\n'
  const { id } = await importFile(user, file, { columns })
  const { logs: [newest, middle] } = await user.read('/logs')
  const edit = ({ source, externalId, at }: typeof newest, kg: number, more: object = {}) => ({
    type: 'WEIGHT',
    source,
    externalId,
    at,
    data: { kg },
    ...more
  })
  await user.log(edit(newest, 60, { modifiedAt: '2026-11-20T04:00:00Z' }), edit(middle, 61))
  const reason = 'You deleted it, or have a newer version'
  t.match(await importFile(user, file, { columns }), { report: { new: 0, refusedCount: 1, refused: [{ reason }] } })
  const weights = async () => (await user.read('/logs')).logs.map(({ data }: { data: { kg: number } }) => data.kg)
  t.strictSame(await weights(), [60, 71, 70], 'without a time, what comes last wins')

  await user.send('DELETE', `/imports/${id}`)
  await work(id)
  t.strictSame(await weights(), [60, 71], 'what was edited stays')
})

t.test('a workout that was split stays so in another account', async (t) => {
  const typed = { client_id: 'typed', source: null, external_id: null }
  const together = newUser()
  t.match(await importFile(together, await exported(loggedRun(), loggedRun(typed))), { report: { new: 2, merged: 2 } })
  t.match(await totals(together), { totalWorkouts: 1 })
  const split = await exported(loggedRun(), loggedRun({ ...typed, is_split: true }))
  t.match(await importFile(together, split), { report: { new: 0, refused: { length: 0 } } })
  t.match(await totals(together), { totalWorkouts: 2 })
  const apart = newUser()
  t.match(await importFile(apart, split), { report: { new: 2, merged: 0 } })
  t.match(await totals(apart), { totalWorkouts: 2 })
})

t.test('records of an exercise that the account added are one in another account too', async (t) => {
  const user = newUser()
  const lift = (name: string, weightKg: number, at: string) =>
    loggedRun({
      client_id: at,
      source: null,
      external_id: null,
      at,
      ends_at: null,
      data: { durationMinutes: 30, exercises: [{ name, exerciseId: added.id, sets: [{ reps: 5, weightKg }] }] }
    })
  const added = { id: randomUUID(), name: 'Moon walk' }
  const logs = [lift('Moon walk', 80, '2026-11-18T01:00:00.000Z'), lift('Mondgang', 90, '2026-11-19T01:00:00.000Z')]
  const file = await zipped({
    'dashboard/custom_exercises.json': JSON.stringify([added]),
    'dashboard/logs.json': JSON.stringify(logs)
  })
  t.match(await importFile(user, file), { status: 'DONE', report: { new: 2 } })
  t.match((await user.read('/records')).records, [{ exercise: 'Moon walk', weightKg: 90 }])
  t.equal((await user.read('/records')).records.length, 1)
})

t.test('a file of many entries is stored in batches, and text can have any character', async (t) => {
  const user = newUser({ zone: 'Etc/UTC' })
  const rows = Array.from(
    { length: 1_100 },
    (_, minute) => new Date(Date.parse('2026-11-18T00:00:00Z') + minute * 60_000).toISOString()
  )
  const columns = JSON.stringify({ type: 'FOOD', at: 'Time', name: 'Food', calories: 'Energy' })
  const csv = `Time,Food,Energy\n${rows.map((at) => `${at},Nasi\u2028Padang,1`).join('\n')}\nnever,Nasi,1\n`
  t.match(await importFile(user, csv, { columns }), {
    status: 'DONE',
    report: { found: 1_101, new: 1_100, refused: [{ line: 1_102 }], refusedCount: 1 }
  })
  t.same(framesOf(user), [['RUNNING', 0], ['RUNNING', 45], ['RUNNING', 91], ['DONE', 100]])
  t.match((await user.read('/logs?limit=1')).logs, [{ data: { name: /^Nasi\sPadang$/ } }])
})

t.test('an exception while a file is read is logged', async (t) => {
  const lines: object[] = []
  const log = createLogger('test', 'warn', { write: (line) => void lines.push(JSON.parse(line)) })
  const user = newUser()
  const response = await upload(user, await exported(loggedRun({ at: 'noon', timezone: '+07:00' })))
  const { id } = response.json().data.import
  await workOnImport({ ...deps, log }, id)
  t.match((await user.read(`/imports/${id}`)).import, { status: 'FAILED', error: 'The file is damaged' })
  t.match(lines, [{ msg: 'reading a file failed unexpectedly', import: id, err: { cause: { message: /RangeError/ } } }])
})

t.test('an upload for which there is no room on the disk can be sent again', async (t) => {
  const folder = process.env['TMPDIR']
  t.teardown(() => {
    if (folder === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = folder
  })
  process.env['TMPDIR'] = '/nowhere'
  const budi = newUser()
  t.equal((await upload(budi, gpx)).statusCode, 503)
})

t.test('a file waits if no process can be started to read it', async (t) => {
  const user = newUser()
  const { id } = (await upload(user, gpx)).json().data.import
  const { execPath } = process
  t.teardown(() => {
    process.execPath = execPath
  })
  process.execPath = '/nowhere/node'
  await t.rejects(work(id), { code: 'SERVICE_UNAVAILABLE' })
  t.match((await user.read(`/imports/${id}`)).import, { status: 'RUNNING' })
  process.execPath = execPath
  await endLease(id)
  await work(id)
  t.match((await user.read(`/imports/${id}`)).import, { status: 'DONE' })
})

const endLease = async (id: string) =>
  await db.updateTable('imports').where('id', '=', id).set({ claimed_until: sql<Date>`now()` }).execute()

t.test('a process that has lost its lease writes nothing more', async (t) => {
  const user = newUser()
  const { id } = (await upload(user, gpx)).json().data.import
  const first = work(id)
  await until(async () => (await user.read(`/imports/${id}`)).import.status === 'RUNNING')
  // As another process claims it.
  await db.updateTable('imports').where('id', '=', id).set((row) => ({ attempts: row('attempts', '+', 1) })).execute()
  await first
  t.match((await user.read(`/imports/${id}`)).import, { status: 'RUNNING', report: { found: 0 } })
  t.same((await user.read('/logs')).logs, [])
  await endLease(id)
  await work(id)
  t.match((await user.read(`/imports/${id}`)).import, { status: 'DONE', report: { new: 1 } })
})

t.test('an import that failed on its way can be undone', async (t) => {
  const user = newUser()
  const { id } = await importFile(user, gpx)
  await db.updateTable('imports').where('id', '=', id).set({ status: 'RUNNING', attempts: 5 }).execute()
  await work(id)
  t.match((await user.read(`/imports/${id}`)).import, { status: 'FAILED' })
  t.match((await user.read('/logs')).logs, [{ type: 'WORKOUT' }])
  t.match((await user.send('DELETE', `/imports/${id}`)).json(), { data: { import: { status: 'UNDOING' } } })
  await work(id)
  t.match((await user.read(`/imports/${id}`)).import, { status: 'UNDONE' })
  t.same((await user.read('/logs')).logs, [])
})
