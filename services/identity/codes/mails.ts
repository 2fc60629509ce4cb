import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { createMail, renderMail, type MailContent } from '@tandem/mail-kit'
import { LIFETIMES } from '../lifetimes.ts'
import { validityOf } from '../mail-keys.ts'
import { linkTo } from '../mailed-links.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import type { Secrets } from '../secrets.ts'
import type { PublicPurpose, Purpose, Trx } from '../tables.ts'
import { storeCode } from './actions.ts'

interface CodeMail {
  accountId: string
  purpose: Purpose
  recipient: string
  dedupeKey: string
  rateLimitKey: string
  /** Where a public code was requested. */
  network?: string
}

/**
 * Mails a code, which replaces an earlier one. When the limit of mails is reached, the code of the last mail stays valid.
 * The caller holds the lock of the account.
 * @returns the mail; undefined if the limit is reached
 */
export async function mailCode (
  trx: Trx,
  secrets: Secrets,
  { accountId, purpose, network, ...mail }: CodeMail,
  write: (code: string) => MailContent
) {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const created = await createMail(trx, { ...mail, accountId, ...validityOf(purpose, accountId), ...write(code) })
  if (created) await storeCode(trx, secrets, { accountId, purpose, code, network })
  return created
}

const PAGES: Record<PublicPurpose, string> = { VERIFY: 'verify-email', SIGN_IN: 'sign-in' }

/**
 * Mails a code for callers who are not signed in, with a link. The link is accepted however many wrong codes were
 * entered, because its token cannot be guessed. Links of earlier mails stay valid.
 * @returns the mail; undefined if the limit is reached
 */
export async function mailPublicCode (
  trx: Trx,
  { secrets, publicUrl }: { secrets: Secrets, publicUrl: string },
  { locale, ...mail }: CodeMail & { purpose: PublicPurpose, locale: string }
) {
  const { accountId, purpose } = mail
  const token = generateToken()
  const url = linkTo(`${publicUrl}/${PAGES[purpose]}`, { token })
  const kind = purpose === 'VERIFY' ? 'verification' : 'signIn'
  const created = await mailCode(trx, secrets, mail, (code) => renderMail({ kind, locale, code, url }))
  if (created) {
    await trx.insertInto('code_links')
      .values({
        digest: digestOfToken(token),
        account_id: accountId,
        purpose,
        expires_at: sql<Date>`now() + ${LIFETIMES[purpose]}::interval`
      })
      .execute()
  }
  return created
}
