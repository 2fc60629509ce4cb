import { sql } from 'kysely'
import { chunksOf } from '@tandem/process-kit'
import { countReading } from '../log-types/quotas.ts'
import { DAY_MS, isQuantity, MINUTE_MS, unite, type Span } from '../log-types/data.ts'
import type { Trx } from '../tables.ts'
import { heartRatesOfDays, sumOfDays, type Measured } from './best-of-each-minute.ts'

export const measuredTypes = ['STEPS', 'DISTANCE', 'ACTIVE_ENERGY', 'HEART_RATE'] as const
type MeasuredType = typeof measuredTypes[number]

// Bounds the logs that are in memory at a time, in an import of years.
const DAYS_AT_ONCE = 20

// From UTC, in hours: further than any time zone, and than the offset of any log.
const MAX_OFFSET_MS = 15 * 60 * MINUTE_MS

/** Computes again what was measured of a type on the days of `changed`. The caller holds the lock on the account. */
export async function measure (trx: Trx, accountId: string, type: MeasuredType, changed: Span[]) {
  for (const chunk of chunksOf(daysOf(changed), DAYS_AT_ONCE)) {
    const logs = await readMeasured(trx, accountId, type, chunk)
    const figures = figuresOf(type, logs, new Set(chunk))
    await storeFigures(trx, accountId, chunk.map((day) => ({ day, ...figures.get(day) })), columnsOf[type])
  }
}

/**
 * The days on which `changed` is somewhere: the better source of a minute decides its place. A person can have logs of a
 * thousand time zones, so none of them is asked.
 */
function daysOf (changed: Span[]) {
  const days = new Set<string>()
  for (const { start, end } of unite(changed)) {
    const last = Math.floor((end + MAX_OFFSET_MS) / DAY_MS)
    for (let day = Math.floor((start - MAX_OFFSET_MS) / DAY_MS); day <= last; day++) {
      days.add(new Date(day * DAY_MS).toISOString().slice(0, 10))
    }
  }
  return [...days].sort()
}

/** All logs that can be of these days, in any time zone: no log has a part that is more than a day from it. */
async function readMeasured (trx: Trx, accountId: string, type: MeasuredType, days: string[]) {
  const logs = sql`(
    select distinct on (logs.id) logs.* from unnest(${days}::date[]) as day (day)
    join logs on account_id = ${accountId} and type = ${type}
      and at >= day.day::timestamp at time zone 'UTC' - interval '39 hours'
      and at < day.day::timestamp at time zone 'UTC' + interval '63 hours') as measured`
  await countReading(trx, accountId, logs)
  const { rows } = await sql<Measured>`
    select client_id as key, at, ends_at as "endsAt", timezone, data, source from ${logs}`.execute(trx)
  return rows
}

type Figures = Map<string, Record<string, number | null>>

function figuresOf (type: MeasuredType, logs: Measured[], days: ReadonlySet<string>): Figures {
  if (isQuantity(type)) {
    const [column] = columnsOf[type]
    return new Map([...sumOfDays(type, logs, days)].map(([day, sum]) => [day, { [column]: sum }]))
  }
  return new Map(
    [...heartRatesOfDays(logs, days)].map(([day, { min, max, avg, resting }]) => [
      day,
      { heart_rate_min: min, heart_rate_max: max, heart_rate_avg: avg, resting_heart_rate: resting }
    ])
  )
}

const columnsOf = {
  STEPS: ['steps'],
  DISTANCE: ['distance_meters'],
  ACTIVE_ENERGY: ['active_energy'],
  HEART_RATE: ['heart_rate_min', 'heart_rate_max', 'heart_rate_avg', 'resting_heart_rate']
} as const

const allColumns = Object.values(columnsOf).flat()

async function storeFigures (trx: Trx, accountId: string, rows: { day: string }[], columns: readonly string[]) {
  const names = sql.join(columns.map((column) => sql.ref(column)))
  const typed = sql.join(columns.map((column) => sql`${sql.ref(column)} double precision`))
  const changes = sql.join(columns.map((column) => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`))
  await sql`
    insert into daily_measurements (account_id, day, ${names})
    select ${accountId}, day, ${names}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as figures (day date, ${typed})
    on conflict (account_id, day) do update set ${changes}`.execute(trx)
  await trx.deleteFrom('daily_measurements').where('account_id', '=', accountId)
    .where(sql<boolean>`day = any(${rows.map(({ day }) => day)}::date[])`)
    .where(sql<boolean>`num_nonnulls(${sql.join(allColumns.map((column) => sql.ref(column)))}) = 0`)
    .execute()
}
