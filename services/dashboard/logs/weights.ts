import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { WeightLogged, WeightUnlogged } from '@tandem/contracts'
import type { Trx } from '../tables.ts'

/** The newest weight log of an account. */
export async function findNewestWeight (trx: Trx, accountId: string) {
  return await trx.selectFrom('logs').where('account_id', '=', accountId).where('type', '=', 'WEIGHT')
    .select([sql<number>`(data->>'kg')::float8`.as('kg'), 'at'])
    .orderBy('at', 'desc').orderBy('client_id')
    .limit(1)
    .executeTakeFirst()
}

type Weight = Awaited<ReturnType<typeof findNewestWeight>>

/** Publishes the newest weight log if it is not `before` any more: profile owns the weight of a person. */
export async function publishNewestWeight (trx: Trx, accountId: string, before: Weight) {
  const newest = await findNewestWeight(trx, accountId)
  // A profile of an earlier version sends no entered weight: its copy may be of a log, and must not outlive it.
  if (before && before.at.getTime() !== newest?.at.getTime()) {
    await trx.deleteFrom('profile_weights').where('account_id', '=', accountId).where('weighed_at', '=', before.at)
      .execute()
  }
  if (!newest && before) await publish(trx, WeightUnlogged, accountId, { accountId })
  if (!newest || newest.kg === before?.kg && newest.at.getTime() === before.at.getTime()) return
  await publish(trx, WeightLogged, accountId, {
    accountId,
    kg: newest.kg,
    at: newest.at.toISOString(),
    previousAt: before?.at.toISOString() ?? null
  })
}
