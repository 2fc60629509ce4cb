import { AddressVerified } from '@tandem/contracts'
import { settleEach } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { lockMember } from '../people/actions.ts'
import type { Db } from '../tables.ts'
import { suspendIfDue } from './suspensions.ts'

/**
 * Marks an account's email address as verified, and counts its open reports. The mark is never removed, so late or
 * repeated events change nothing.
 */
export async function markEmailVerified (db: Db, accountId: string) {
  await db.transaction().execute(async (trx) => {
    await lockMember(trx, accountId)
    await trx.updateTable('members').set({ email_verified: true }).where('account_id', '=', accountId).execute()
  })
  const reported = await openReports(db).where('reporter_id', '=', accountId).select('reported_id as reportedId')
    .distinct().execute()
  await settleEach(reported, async ({ reportedId }) => {
    await db.transaction().execute(async (trx) => {
      await lockMember(trx, reportedId)
      await suspendIfDue(trx, reportedId)
    })
  })
}

/** Calls identity about a reporter whose email address is not known to be verified. @throws Unavailable */
export async function checkReporter ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>, accountId: string) {
  const known = await db.selectFrom('members').where('account_id', '=', accountId).where('email_verified', '=', true)
    .select('account_id').executeTakeFirst()
  if (!known && await callRpc(AddressVerified, { accountId })) await markEmailVerified(db, accountId)
}

const RECHECK_WINDOW_MS = 24 * 60 * 60 * 1_000
// While identity does not respond, each call takes until its timeout.
const RECHECK_CONCURRENCY = 10

/**
 * Checks the unverified reporters of the last day again, in case identity was unavailable before.
 * @throws Unavailable, after all others are checked
 */
export async function recheckRecentReporters ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>) {
  const reporters = await openReports(db).innerJoin('members', 'members.account_id', 'reporter_id').where(
    'email_verified',
    '=',
    false
  )
    .where('reports.created_at', '>', new Date(Date.now() - RECHECK_WINDOW_MS))
    .select('reporter_id as reporterId').distinct().limit(1_000).execute()
  await settleEach(reporters, async ({ reporterId }) => await checkReporter({ db, callRpc }, reporterId), {
    concurrency: RECHECK_CONCURRENCY
  })
}

const openReports = (db: Db) => db.selectFrom('reports').where('status', '=', 'OPEN')
