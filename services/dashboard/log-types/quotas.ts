import { sql, type RawBuilder } from 'kysely'
import { dayAround } from '@tandem/account-kit'
import { useDailyQuota } from '@tandem/database-kit'
import { TooManyLogs } from '../errors.ts'
import type { LogData, Trx } from '../tables.ts'

/** The bytes of what a log contains. */
export const bytesOfData = sql<number>`coalesce(bytes, octet_length(data::text))`

const MEGABYTE = 1024 * 1024
const MAX_WRITTEN = 100 * MEGABYTE
// What a row takes beside the data of its log: millions of logs with little data, or of tombstones, fill a disk too.
const ROW_BYTES = 100
// What a day, a session or a page is computed from is read again with each of its logs. Others wait meanwhile.
const MAX_READ_AT_ONCE = 16 * MEGABYTE
const MAX_READ = 500 * MEGABYTE
const ORDINARY_BYTES = MEGABYTE / 4

/** Counts logs and tombstones that an account writes, in bytes. @throws TooManyLogs */
export async function countWritten (
  trx: Trx,
  accountId: string,
  { data, tombstones }: { data: LogData[], tombstones: number }
) {
  const rows = data.length + tombstones
  if (rows === 0) return
  const amount = Buffer.byteLength(JSON.stringify(data)) + rows * ROW_BYTES
  await count(trx, { name: 'bytes of logs', accountId, limit: MAX_WRITTEN, amount })
}

/**
 * Counts logs that are about to be read again, unless they are few.
 * @param logs what follows `from`, with the columns of `logs`
 * @throws TooManyLogs
 */
export async function countReading (trx: Trx, accountId: string, logs: RawBuilder<unknown>) {
  const { rows } = await sql<{ bytes: number }>`select coalesce(sum(${bytesOfData}), 0)::bigint as bytes from ${logs}`
    .execute(trx)
  const bytes = rows[0]?.bytes ?? 0
  if (bytes > MAX_READ_AT_ONCE) throw new TooManyLogs()
  if (bytes <= ORDINARY_BYTES) return
  await count(trx, { name: 'bytes of logs read again', accountId, limit: MAX_READ, amount: bytes })
}

async function count (trx: Trx, quota: { name: string, accountId: string, limit: number, amount: number }) {
  if (await useDailyQuota(trx, { ...quota, day: dayAround('UTC', new Date()) }) === undefined) throw new TooManyLogs()
}
