import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type pg from 'pg'
import { serviceNames as services } from '../../../gateway/routes.ts'
import { check } from '../kit/checks.ts'
import { urlOfSchema, type Stack } from '../kit/stack.ts'

/** Verifies the audit of every service, and that it has each decision of an operator. */
export async function checkAudit (stack: Stack, db: pg.Pool) {
  for (const service of services) {
    const cli = ['packages/operator-kit/audit-cli.ts', 'verify']
    const { stdout } = await promisify(execFile)(process.execPath, cli, {
      env: { ...process.env, DATABASE_URL: urlOfSchema(stack, service) }
    }).catch((error: { stdout: string }) => error)
    const { rows: [row] } = await db.query<{ count: string }>(`select count(*) from "${service}".audit_entries`)
    check(stdout.includes('The audit is complete'), `${service}: ${row?.count} entries. ${stdout.trim()}`)
  }
  const { rows: [missing] } = await db.query<{ count: string }>(`
    select count(*) from identity.decisions where staff_id is not null and reverses is null and not exists (
      select from identity.audit_entries where subject = decisions.id::text and staff_id = decisions.staff_id)`)
  check(Number(missing?.count) === 0, 'every decision of an operator is in the audit')
}
