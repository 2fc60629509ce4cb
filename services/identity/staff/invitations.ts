import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { RateLimited } from '@tandem/http-kit'
import { createMail, type MailContent, renderMail } from '@tandem/mail-kit'
import type { StaffRole } from '@tandem/operator-kit'
import { linkTo } from '../mailed-links.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import type { Trx } from '../tables.ts'
import type { ConsoleSettings } from './settings.ts'

const LIFETIME = '24 hours'
const HOUR_SECONDS = 3_600

export interface Invited {
  id: string
  email: string
  role: StaffRole
}

/**
 * Creates a link to add a passkey, which works once within 24 hours. A link that was made before works no longer.
 * @param by the operator who invites; null in the shell, which is trusted: those who invited them before count no longer
 */
export async function createInvitation (trx: Trx, console: ConsoleSettings, staffId: string, by: string | null) {
  const token = generateToken()
  await trx.deleteFrom('staff_invitations').where('staff_id', '=', staffId).execute()
  await trx.insertInto('staff_invitations').values({
    digest: digestOfToken(token),
    staff_id: staffId,
    expires_at: sql<Date>`now() + ${LIFETIME}::interval`
  }).execute()
  await trx.updateTable('staff')
    .set({
      invited_by: by === null ? [] : sql<string[]>`array_append(array_remove(invited_by, ${by}::uuid), ${by}::uuid)`
    })
    .where('id', '=', staffId).execute()
  return linkTo(`${console.origin}/enroll`, { token })
}

/**
 * Mails the link to the invited operator, and to nobody else: who invites them must not be able to use it. All
 * administrators are notified. @throws RateLimited @returns the mails
 */
export async function mailInvitation (
  trx: Trx,
  console: ConsoleSettings,
  invited: Invited,
  { by, language }: { by: string, language: string }
) {
  const url = await createInvitation(trx, console, invited.id, by)
  const mail = await createMail(trx, {
    dedupeKey: `operator-invitation:${randomUUID()}`,
    recipient: invited.email,
    rateLimitKey: 'OPERATOR_INVITATION',
    collapseKey: `OPERATOR_INVITATION ${invited.id}`,
    lifetime: LIFETIME,
    ...renderMail({ kind: 'operatorInvitation', locale: language, url })
  })
  if (!mail) throw new RateLimited(HOUR_SECONDS)
  return [mail, ...await notifyAdmins(trx, writeOperatorMail('operatorInvited', language, invited))]
}

/** Writes what administrators read about another operator. */
export const writeOperatorMail = (
  kind: 'operatorInvited' | 'operatorEnrolled',
  locale: string | null,
  { email, role }: Pick<Invited, 'email' | 'role'>
) => renderMail({ kind, locale, params: { email, role } })

/** Tells every administrator who has a passkey. @param others more recipients @returns the mails */
export async function notifyAdmins (trx: Trx, content: MailContent, others: string[] = []) {
  const admins = await trx.selectFrom('staff').where('role', '=', 'ADMIN').where('disabled_at', 'is', null)
    .where('id', 'in', (passkeys) => passkeys.selectFrom('passkeys').select('staff_id'))
    .select('email').execute()
  const key = randomUUID()
  const mails: (string | undefined)[] = []
  for (const recipient of new Set([...admins.map(({ email }) => email), ...others])) {
    const dedupeKey = `operators-changed:${key}:${recipient}`
    // Nobody can suppress it by causing others first.
    mails.push(await createMail(trx, { dedupeKey, recipient, rateLimited: false, ...content }))
  }
  return mails
}
