import { randomUUID } from 'node:crypto'
import { explainError, NIL_UUID } from '@tandem/http-kit'
import type { Kysely } from 'kysely'
import { appendAudit } from './audit.ts'
import type { AuditTables } from './tables.ts'

/** The arguments are not a valid command. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Writes a command to the audit. The shell has no operator: anyone who reaches the database can do everything. */
export const auditShell = async (db: Kysely<AuditTables>, action: string, subject: string) =>
  await appendAudit(db, {
    operator: { id: NIL_UUID, role: 'SHELL' },
    action,
    subject,
    accountId: null,
    reason: null,
    requestId: randomUUID()
  })

/** Runs a command of the shell and prints its result: a text or a table. If it fails, it prints why, and exits with 1. */
export async function runShell (usage: string, run: (args: string[]) => Promise<string | object[]>) {
  try {
    const result = await run(process.argv.slice(2))
    if (typeof result === 'string') console.log(result)
    else console.table(result)
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')
    console.error(isUsage ? usage : explainError(error))
    process.exitCode = 1
  }
}
