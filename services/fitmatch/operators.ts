import { publish } from '@tandem/bus-kit'
import { OperatorActed } from '@tandem/contracts'
import { networkOf, type Account } from '@tandem/service-kit'
import type { Db, Trx } from './tables.ts'

/** Who uses the rights of an operator, and from where. */
export interface Operator { accountId: string, sessionId: string, network: string, requestId: string }

export const operatorOf = ({ account, ip, id }: { account: Account, ip: string, id: string }): Operator =>
  ({ accountId: account.id, sessionId: account.sessionId, network: networkOf(ip), requestId: id })

type Read = 'SELFIE_READ' | 'REPORTS_READ'

/** Publishes that an operator reads what others may not. Nothing is shown before it is certain to be logged. */
export async function publishRead (db: Db, operator: Operator, action: Read, subjectId: string | null) {
  await db.transaction().execute(async (trx) => await publish(trx, OperatorActed, operator.accountId, { ...operator, action, subjectId }))
}

interface Decision { action: string, subjectId: string, accountId: string, note: string | null }

/** Writes an operator's decision about a person to the audit, with its note, and publishes it for the log of security events, without. */
export async function auditDecision (trx: Trx, operator: Operator, { action, subjectId, accountId, note }: Decision) {
  await trx.insertInto('audit_log').values({ operator_id: operator.accountId, action, subject_id: subjectId, account_id: accountId, note }).execute()
  await publish(trx, OperatorActed, operator.accountId, { ...operator, action, subjectId })
}
