import { parse } from 'csv-parse/sync'
import { logTypes, type LogType } from '../../tables.ts'
import { HostileFile, importedBy, toInstant, type Entry, type FormatOptions } from './entries.ts'

interface Row {
  line: number
  fields: Record<string, string>
}

const POUND_KG = 0.45359237

/** Rows of Strong, Hevy or MyFitnessPal, or of any file whose columns are named. */
export function readCsv (file: Buffer, formatOptions: FormatOptions): Entry[] {
  const text = file.toString('utf8')
  const delimiter = delimiterOf(text)
  const rows = readRows(text, delimiter)
  const names = Object.keys(rows[0]?.fields ?? {})
  const options = { ...formatOptions, numberOf: delimiter === ';' ? numberWithComma : numberWithThousands }
  if (options.columns) return readMapped(rows, options.columns, options)
  if (names.includes('Workout Name')) return readStrong(rows, options)
  if (names.includes('exercise_title')) return readHevy(rows, options)
  if (names.includes('Meal')) return readMyFitnessPal(rows, options)
  throw new HostileFile('The columns are not those of Strong, Hevy or MyFitnessPal: name them in `columns`')
}

function delimiterOf (text: string) {
  const [head = ''] = text.split('\n', 1)
  return head.split(';').length > head.split(',').length ? ';' : ','
}

function readRows (text: string, delimiter: string): Row[] {
  try {
    const records = parse(text, {
      bom: true,
      columns: true,
      info: true,
      delimiter,
      relax_column_count_less: true,
      skip_empty_lines: true,
      max_record_size: 64 * 1024
    }) as unknown as { info: { lines: number }, record: Record<string, string> }[]
    return records.map(({ info, record }) => ({ line: info.lines, fields: record }))
  } catch (error) {
    throw new HostileFile(error instanceof Error ? error.message : String(error))
  }
}

type NumberOf = (text: string | undefined) => number
interface Options extends FormatOptions {
  numberOf: NumberOf
}

/** `70,5`, where semicolons separate the columns. */
const numberWithComma: NumberOf = (text = '') => Number(text.replace(',', '.'))

/** `10,234`, where commas separate the columns; a comma with fewer digits behind it is a decimal one. */
const numberWithThousands: NumberOf = (text = '') =>
  /^\s*\d{1,3}(,\d{3})+(\.\d+)?\s*$/.test(text) ? Number(text.replaceAll(',', '')) : numberWithComma(text)

interface Session {
  line: number
  count: number
  title: string
  /** As the file has it: the same in whatever time zone it is read. */
  writtenAt: string
  startAt: string
  endAt?: string
  durationMinutes?: number
  notes?: string
  exercises: Map<string, { reps: number, weightKg: number }[]>
}

function collectSessions (
  rows: Row[],
  describe: (row: Row) => Omit<Session, 'line' | 'count' | 'exercises'> & {
    exercise: string,
    reps: number,
    weightKg: number
  }
) {
  const sessions = new Map<string, Session>()
  for (const row of rows) {
    const { exercise, reps, weightKg, ...workout } = describe(row)
    const key = `${workout.writtenAt} ${workout.title}`
    const session = sessions.get(key) ?? { ...workout, line: row.line, count: 0, exercises: new Map() }
    sessions.set(key, session)
    session.count++
    if (!exercise || !(reps >= 1)) continue
    const sets = session.exercises.get(exercise) ?? []
    session.exercises.set(exercise, sets)
    sets.push({ reps, weightKg })
  }
  return [...sessions.values()]
}

const toEntry = (
  app: string,
  { line, count, writtenAt, startAt, endAt, title, durationMinutes, notes, exercises }: Session
): Entry => ({
  line,
  count,
  item: {
    type: 'WORKOUT',
    source: importedBy(app, { kind: 'APP' }),
    externalId: `${app} ${writtenAt} ${title}`.slice(0, 200),
    startAt,
    ...(endAt !== undefined && { endAt }),
    data: {
      title: title.slice(0, 100),
      ...(durationMinutes !== undefined && { durationMinutes }),
      ...(notes && { notes: notes.slice(0, 2_000) }),
      exercises: [...exercises].map(([name, sets]) => ({ name: name.slice(0, 100), sets }))
    }
  }
})

/** `1h 5m` or `45m 10s` in minutes. */
function minutesOf (duration: string | undefined) {
  // Bounded: from each digit of a long number it would read to the end.
  const of = (unit: string) => Number(new RegExp(`(\\d{1,6})\\s{0,5}${unit}`).exec(duration ?? '')?.[1] ?? 0)
  return Math.max(1, of('h') * 60 + of('m') + of('s') / 60)
}

/** `2026-11-20 6:05:00 PM`, as phones with a clock of twelve hours write it, with 18:05:00. */
const withDayHours = (text: string) =>
  text.trim().replace(
    /(\d{1,2})(:\d{2}(?::\d{2})?)\s?([ap])m$/i,
    (_, hour: string, rest: string, half: string) =>
      `${Number(hour) % 12 + (/p/i.test(half) ? 12 : 0)}`.padStart(2, '0') + rest
  )

/** The header differs between versions of the app. */
const readStrong = (rows: Row[], { timezone, numberOf }: Options) =>
  collectSessions(rows, ({ fields }) => {
    const date = withDayHours(fields['Date'] ?? '')
    const seconds = fields['Duration (sec)']
    return {
      title: fields['Workout Name'] ?? '',
      writtenAt: date,
      startAt: toInstant(date, timezone),
      durationMinutes: minutesOf(seconds ? `${seconds}s` : fields['Duration'] ?? fields['Workout Duration']),
      notes: fields['Workout Notes'] ?? '',
      exercise: fields['Exercise Name'] ?? '',
      reps: Math.round(numberOf(fields['Reps'])),
      weightKg: numberOf(fields['Weight'] ?? fields['Weight (kg)'] ?? fields['Weight (lbs)']) *
        (/lb/i.test(fields['Weight Unit'] ?? '') || 'Weight (lbs)' in fields ? POUND_KG : 1)
    }
  }).map((session) => toEntry('Strong', session))

// Hevy names the months in the language of the account. These are the languages of our texts.
const months = new Map(
  ['en', 'es', 'id'].flatMap((language) =>
    Array.from({ length: 12 }, (_, index): [string, number] => [
      new Date(Date.UTC(2026, index)).toLocaleString(language, { month: 'long', timeZone: 'UTC' }).slice(0, 3)
        .toLowerCase(),
      index + 1
    ])
  )
)

/** `20 Nov 2026, 08:00`, as Hevy writes it, as an ISO text. */
function isoOf (text: string) {
  const [, day, month = '', year, time] = /^(\d{1,2}) (\w{3})\w*\.? (\d{4}), (\d{1,2}:\d{2})$/.exec(text.trim()) ?? []
  const number = months.get(month.toLowerCase())
  if (!day || !time || number === undefined) return text
  return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}T${time.padStart(5, '0')}:00`
}

const readHevy = (rows: Row[], { timezone, numberOf }: Options) =>
  collectSessions(rows, ({ fields }) => ({
    title: fields['title'] ?? '',
    writtenAt: fields['start_time'] ?? '',
    startAt: toInstant(isoOf(fields['start_time'] ?? ''), timezone),
    endAt: toInstant(isoOf(fields['end_time'] ?? ''), timezone),
    notes: fields['description'] ?? '',
    exercise: fields['exercise_title'] ?? '',
    reps: Math.round(numberOf(fields['reps'])),
    weightKg: 'weight_lbs' in fields ? numberOf(fields['weight_lbs']) * POUND_KG : numberOf(fields['weight_kg'])
  })).map((session) => toEntry('Hevy', session))

/** The ids of rows with the same time as the file has it: the first, the second and so on. */
function createCounter () {
  const counts = new Map<string, number>()
  return (key: string) => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return `${key} ${count}`.slice(0, 200)
  }
}

function readMyFitnessPal (rows: Row[], { timezone, numberOf }: Options): Entry[] {
  const idOf = createCounter()
  return rows.map(({ line, fields }) => {
    const meal = fields['Meal'] ?? ''
    const startAt = toInstant(`${fields['Date']}T12:00:00`, timezone)
    const data = {
      name: meal,
      calories: numberOf(fields['Calories']),
      protein: numberOf(fields['Protein (g)'] ?? '0'),
      carbs: numberOf(fields['Carbohydrates (g)'] ?? '0'),
      fat: numberOf(fields['Fat (g)'] ?? '0')
    }
    const source = importedBy('MyFitnessPal', { kind: 'APP' })
    return {
      line,
      count: 1,
      item: { type: 'FOOD' as const, source, externalId: idOf(`MyFitnessPal ${fields['Date']} ${meal}`), startAt, data }
    }
  })
}

const texts = ['name', 'title', 'notes', 'sport']
const times = ['at', 'startAt', 'endAt']

/** A file of one type of log: `columns` has its `type`, and for each field the name of its column. */
function readMapped (
  rows: Row[],
  { type = '', ...columns }: Record<string, string>,
  { timezone, numberOf }: Options
): Entry[] {
  const known = logTypes.find((each) => each === type)
  if (!known) throw new HostileFile(`columns.type must be one of ${logTypes.join(', ')}`)
  for (const column of Object.values(columns)) {
    if (rows[0] && !(column in rows[0].fields)) throw new HostileFile(`The file has no column ${column}`)
  }
  const idOf = createCounter()
  return rows.map(({ line, fields }) => {
    const entries = Object.entries(columns).map(([field, column]) => [field, fields[column] ?? ''] as const)
    const written = entries.filter(([field]) => times.includes(field))
    const time = Object.fromEntries(written.map(([field, text]) => [field, toInstant(dayOf(text), timezone)]))
    const data = Object.fromEntries(
      entries.filter(([field, text]) => !times.includes(field) && text !== '')
        .map(([field, text]) => [field, texts.includes(field) ? text : numberOf(text)])
    )
    return {
      line,
      count: 1,
      item: toItem(known, { time, data, id: idOf(`CSV ${type} ${written.map(([, text]) => text).join(' ')}`) })
    }
  })
}

const toItem = (type: LogType, { time, data, id }: { time: object, data: object, id: string }) => ({
  type,
  source: importedBy('CSV', { kind: 'APP' }),
  externalId: id,
  ...time,
  data
})

/** A day without a time is its noon. */
const dayOf = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) ? `${text.trim()}T12:00:00` : text
