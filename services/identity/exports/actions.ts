import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { createMail, renderMail } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import {
  EmailChangedRecently,
  EmailNotVerified,
  ExportLimitExceeded,
  ExportNotFound,
  ExportRunning
} from '../errors.ts'
import { expireExports } from '../expire-exports.ts'
import { claimProof } from '../proofs/actions.ts'
import { canAddressBeReverted } from '../reserved-addresses.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import type { Db } from '../tables.ts'
import { exportColumns } from './queries.ts'

/** How long receipts of exports are kept. */
const RETENTION = '90 days'

/**
 * Asks for a copy of the account's data. One at a time and one a day. The link goes to the account's address, which has
 * to be verified: otherwise it may be the mailbox of somebody else.
 * @throws InvalidAccessToken, ProofRequired, EmailNotVerified, EmailChangedRecently, ExportRunning, ExportLimitExceeded
 */
export async function requestExport ({ db, mailer }: Pick<Deps, 'db' | 'mailer'>, caller: Caller, proof: string) {
  const { accountId } = caller
  const { requested, mail } = await db.transaction().execute(async (trx) => {
    const account = await lockCaller(trx, caller)
    await claimProof(trx, caller, { purpose: 'EXPORT', proof })
    if (!account.emailVerified) throw new EmailNotVerified()
    // Until then, a thief of the account would get the copy at their own address.
    if (await canAddressBeReverted(trx, accountId)) throw new EmailChangedRecently()
    const latest = await trx.selectFrom('exports').where('account_id', '=', accountId).where('status', '<>', 'FAILED')
      .where('requested_at', '>', sql<Date>`now() - interval '1 day'`)
      .select('status').orderBy('requested_at', 'desc').executeTakeFirst()
    if (latest?.status === 'PENDING' || latest?.status === 'RUNNING') throw new ExportRunning()
    if (latest) throw new ExportLimitExceeded()
    // The link of an earlier copy ends with it.
    await expireExports(trx, { account_id: accountId })
    const requested = await trx.insertInto('exports').values({ id: randomUUID(), account_id: accountId })
      .returning(exportColumns).executeTakeFirstOrThrow()
    await logSecurityEvent(trx, { kind: 'EXPORT_REQUESTED', accountId, detail: {} })
    const mail = await createMail(trx, {
      dedupeKey: `export-requested:${requested.id}`,
      recipient: account.email,
      accountId,
      // At most one a day, and only the owner can cause it.
      rateLimited: false,
      ...renderMail({ kind: 'exportRequested', locale: account.locale })
    })
    return { requested, mail }
  })
  void mailer.enqueue([mail])
  return requested
}

/** Ends an export of the caller: it is not made any more, or its link ends. @throws InvalidAccessToken, ExportNotFound */
export async function cancelExport (db: Db, caller: Caller) {
  await db.transaction().execute(async (trx) => {
    await lockCaller(trx, caller)
    if (await expireExports(trx, { account_id: caller.accountId }) === 0) throw new ExportNotFound()
  })
}

/** Deletes the files of exports that are over or unknown, as a crash or an erasure leaves them behind. */
export async function deleteExpiredFiles ({ db, privateStorage }: Pick<Deps, 'db' | 'privateStorage'>) {
  await db.updateTable('exports').set({ status: 'EXPIRED' })
    .where('status', '=', 'READY').where('expires_at', '<', sql<Date>`now()`).execute()
  await sql`delete from exports where requested_at < now() - ${RETENTION}::interval`.execute(db)
  const keys = await privateStorage.list('exports/')
  const ids = [...new Set(keys.map((key) => key.split('/')[1] ?? ''))]
  const live = await db.selectFrom('exports').where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('status', 'in', ['PENDING', 'RUNNING', 'READY']).select('id').execute()
  const liveIds = new Set(live.map(({ id }) => id))
  for (const key of keys) if (!liveIds.has(key.split('/')[1] ?? '')) await privateStorage.remove(key)
}
