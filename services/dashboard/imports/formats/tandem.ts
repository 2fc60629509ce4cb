import { HostileFile, type Entry } from './entries.ts'

interface Row {
  client_id: string
  sent_client_id: string | null
  source: Entry['item']['source'] | null
  external_id: string | null
  type: Entry['item']['type']
  at: string
  ends_at: string | null
  timezone: string
  data: { exercises?: ({ exerciseId?: string, name?: string } | null)[] } | null
  is_split: boolean
  modified_at: string | null
}

/**
 * The logs of a copy of an account's data.
 * @param exercises those that the account added, as JSON
 */
export function readTandem (file: Buffer, exercises = Buffer.alloc(0)): Entry[] {
  const rows = parseRows(file) as Row[]
  const added = exercises.length > 0 ? parseRows(exercises) as { id: string, name: string }[] : []
  const names = new Map(added.map(({ id, name }) => [id, name]))
  return rows.map((row, index) => ({
    line: index + 1,
    count: 1,
    isSplit: row.is_split === true,
    item: {
      type: row.type,
      ...(row.source && { source: row.source }),
      ...(row.external_id === null
        ? { clientId: row.client_id }
        : { externalId: row.external_id, ...(row.sent_client_id && { clientId: row.sent_client_id }) }),
      ...timesOf(row),
      ...(row.modified_at && { modifiedAt: row.modified_at }),
      data: withNames(row.data, names)
    }
  }))
}

/**
 * The data of a log with the names of the exercises that the account added. Another account does not know their ids, and
 * keeps records by these names.
 */
function withNames (data: Row['data'], names: Map<string, string>) {
  if (!data || !Array.isArray(data.exercises)) return data ?? {}
  const exercises = data.exercises.map((each) => ({ ...each, name: names.get(each?.exerciseId ?? '') ?? each?.name }))
  return { ...data, exercises }
}

function parseRows (file: Buffer): object[] {
  let rows: unknown
  try {
    rows = JSON.parse(file.toString('utf8'))
  } catch {
    throw new HostileFile('The file is not JSON')
  }
  if (!Array.isArray(rows) || rows.some((row) => typeof row !== 'object' || row === null)) {
    throw new HostileFile('The file is no list of logs')
  }
  return rows as object[]
}

const OFFSET = /^[+-]\d{2}:\d{2}$/

/** A time zone is a name, or an offset, which a time can carry. */
function timesOf ({ type, at, ends_at, timezone }: Row) {
  const time = OFFSET.test(timezone) ? withOffset(at, timezone) : at
  return {
    at: time,
    ...(ends_at !== null && type !== 'SLEEP' && { startAt: time, endAt: ends_at }),
    ...(!OFFSET.test(timezone) && { timezone })
  }
}

const withOffset = (at: string, offset: string) =>
  Temporal.Instant.from(at).toZonedDateTimeISO(offset).toString({ timeZoneName: 'never' })
