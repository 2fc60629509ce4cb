import { createMail, renderMail } from '@tandem/mail-kit'
import { lockAccount } from '../accounts/queries.ts'
import { mailPublicCode } from '../codes/mails.ts'
import { rateLimitKeyOf, validityOf } from '../mail-keys.ts'
import { linkTo, storeLink } from '../mailed-links.ts'
import { generateToken } from '../random-tokens.ts'
import type { Secrets } from '../secrets.ts'
import type { Db, MailRequestKind } from '../tables.ts'
import { isKnownNetwork } from '../sessions/networks.ts'

export interface MailRequest {
  kind: MailRequestKind
  email: string
  network: string
}

export async function insertMailRequest (db: Db, request: MailRequest) {
  const { id } = await db.insertInto('mail_requests').values(request).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Processes a request exactly once. @returns the id of the queued mail, if there is one */
export async function processMailRequest (
  db: Db,
  deps: { secrets: Secrets, publicUrl: string },
  requestId: string
) {
  return await db.transaction().execute(async (trx) => {
    const request = await trx.deleteFrom('mail_requests').where('id', '=', requestId)
      .returning(['kind', 'email', 'network'])
      .executeTakeFirst()
    if (!request) return
    const { kind, email, network } = request
    const account = await lockAccount(trx, { email })
    // A banned person can delete their account too.
    if (!account || (account.isBanned && kind !== 'DELETION')) return
    if (kind === 'VERIFY' && account.emailVerified) return
    if (kind === 'RESET' && !account.passwordHash) return

    const { id: accountId, locale } = account
    const mail = {
      accountId,
      recipient: email,
      dedupeKey: `${kind.toLowerCase()}:${requestId}`,
      rateLimitKey: rateLimitKeyOf(kind, account.emailVerified && await isKnownNetwork(trx, accountId, network))
    }
    if (kind === 'VERIFY' || kind === 'SIGN_IN') {
      return await mailPublicCode(trx, deps, { ...mail, purpose: kind, network, locale })
    }
    const token = generateToken()
    const content = kind === 'RESET'
      ? renderMail({ kind: 'reset', locale, url: linkTo(`${deps.publicUrl}/reset-password`, { token, email }) })
      : renderMail({ kind: 'deletionLink', locale, url: linkTo(`${deps.publicUrl}/delete-account`, { token }) })
    const queued = await createMail(trx, { ...mail, ...validityOf(kind, accountId), ...content })
    // When the limit of mails is reached, the link of the last mail stays valid.
    if (queued) await storeLink(trx, kind, { accountId, token })
    return queued
  })
}
