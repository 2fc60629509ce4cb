import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { DAY_MS, HEART_RATES_KEPT_DAYS, summaryOf } from '../log-types/data.ts'
import { nameOf } from '../log-types/sources.ts'
import { lockAccount } from '../progress/actions.ts'
import type { Db, Trx } from '../tables.ts'

// 100 logs of 10,000 samples take 0.3 s, 5,000 single ones 0.1 s; a statement may take 2 s.
const SAMPLED_AT_ONCE = 100
const SINGLES_AT_ONCE = 5_000
// Wherever the logs of a day are written, they are of less time than this.
const LONGEST_DAY_MS = 3 * DAY_MS

/** Keeps of heart rates that are older than 90 days only the minimum, maximum and average. */
export async function summarizeOldHeartRates (db: Db) {
  // A day more, so that what is still accepted is not written again and again.
  const before = new Date(Date.now() - (HEART_RATES_KEPT_DAYS + 1) * DAY_MS)
  while (await dropSamples(db, before)) {
    /* Of the next logs. */
  }
  while (await summarizeDay(db, new Date(before.getTime() - LONGEST_DAY_MS))) {
    /* The next one. */
  }
}

// The first one is the condition of the index.
const isSingle = sql<boolean>`data ?| array['bpm', 'samples'] and data ? 'bpm'`
const hasSamples = sql<boolean>`data ?| array['bpm', 'samples'] and data ? 'samples'`

/** Deletes the samples of some logs, which have the minimum, maximum and average beside them. Returns whether there were any. */
async function dropSamples (db: Db, before: Date) {
  return await db.transaction().execute(async (trx) => {
    const logs = await trx.selectFrom('logs').where('type', '=', 'HEART_RATE').where(hasSamples)
      .where('at', '<', before)
      .select('id').limit(SAMPLED_AT_ONCE)
      .forUpdate().skipLocked()
      .execute()
    await trx.updateTable('logs').where('id', '=', sql<string>`any(${logs.map(({ id }) => id)}::uuid[])`)
      .set({ data: sql<string>`data - 'samples'`, bytes: null })
      .execute()
    return logs.length > 0
  })
}

/**
 * Replaces the single heart rates of the person and day that have the oldest one by one log for each source. What they
 * say of the day stays the same. Devices keep the single ones that they have: a tombstone of each would stay for good.
 * Returns whether there were any.
 */
async function summarizeDay (db: Db, before: Date) {
  return await db.transaction().execute(async (trx) => {
    const oldest = await trx.selectFrom('logs').where('type', '=', 'HEART_RATE').where(isSingle)
      .where('at', '<', before)
      .select(['account_id', sql<string>`day::text`.as('day')])
      .orderBy('at').limit(1)
      .executeTakeFirst()
    if (!oldest) return false
    await lockAccount(trx, oldest.account_id)
    const singles = await deleteSingles(trx, oldest)
    for (const ofSource of Map.groupBy(singles, ({ source }) => nameOf(source)).values()) {
      const inOrder = ofSource.toSorted((one, other) => one.at.getTime() - other.at.getTime())
      // The newest resting heart rate of a day counts, so the summary is of its time.
      const atRest = inOrder.findLast(({ data }) => data['resting'] !== undefined)
      const first = atRest ?? inOrder[0]
      if (!first) continue
      await trx.insertInto('logs')
        .values({
          ...oldest,
          client_id: `heart rates ${randomUUID()}`,
          type: 'HEART_RATE',
          at: first.at,
          timezone: first.timezone,
          source: first.source && JSON.stringify(first.source),
          data: JSON.stringify({
            ...summaryOf(ofSource.map(({ data }) => ({ bpm: Number(data['bpm']) }))),
            ...(atRest && { resting: atRest.data['resting'] })
          })
        })
        .execute()
    }
    return true
  })
}

async function deleteSingles (trx: Trx, { account_id: accountId, day }: { account_id: string, day: string }) {
  const some = trx.selectFrom('logs').where('account_id', '=', accountId).where(sql<boolean>`day = ${day}::date`)
    .where('type', '=', 'HEART_RATE').where(isSingle)
    .select('id').limit(SINGLES_AT_ONCE)
  const deleteSome = trx.deleteFrom('logs').where('id', 'in', some).returning(['source', 'timezone', 'at', 'data'])
  const singles: Awaited<ReturnType<typeof deleteSome.execute>> = []
  for (;;) {
    const deleted = await deleteSome.execute()
    if (deleted.length === 0) return singles
    singles.push(...deleted)
  }
}
