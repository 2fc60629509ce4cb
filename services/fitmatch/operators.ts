import { publish } from '@tandem/bus-kit'
import { OperatorActed } from '@tandem/contracts'
import { networkOf } from '@tandem/account-kit'
import type { Account } from '@tandem/http-kit'
import type { Db, Trx } from './tables.ts'

/** An operator, and the session and network that they act from. */
export interface Operator {
  accountId: string
  sessionId: string
  network: string
  requestId: string
}

export const operatorOf = ({ account, ip, id }: { account: Account, ip: string, id: string }): Operator => ({
  accountId: account.id,
  sessionId: account.sessionId,
  network: networkOf(ip),
  requestId: id
})

type ReadAction = 'SELFIE_READ' | 'REPORTS_READ'

/** Publishes that an operator reads restricted data. It commits before anything is shown, so no read goes unlogged. */
export async function publishRead (db: Db, operator: Operator, action: ReadAction, subjectId: string | null) {
  await db.transaction().execute(async (trx) =>
    await publish(trx, OperatorActed, operator.accountId, { ...operator, action, subjectId })
  )
}

interface Decision {
  action: string
  subjectId: string
  accountId: string
  note: string | null
}

/**
 * Writes an operator's decision about a person to the audit log, and publishes it, without the note, for the log of
 * security events.
 */
export async function auditDecision (trx: Trx, operator: Operator, { action, subjectId, accountId, note }: Decision) {
  await trx.insertInto('audit_log').values({
    operator_id: operator.accountId,
    action,
    subject_id: subjectId,
    account_id: accountId,
    note
  }).execute()
  await publish(trx, OperatorActed, operator.accountId, { ...operator, action, subjectId })
}
