import { createMail, renderMail } from '@tandem/mail-kit'
import { lockAccount } from '../accounts/queries.ts'
import { generateCode, storeCode } from '../codes/actions.ts'
import { createCodeLink, storeCodeLink } from '../codes/links.ts'
import { storeDeletionLink } from '../deletion-links/links.ts'
import { storeReset } from '../passwords/resets.ts'
import { generateToken } from '../random-tokens.ts'
import type { Db, MailRequestKind } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { isKnownNetwork } from '../sessions/networks.ts'
import { rateLimitKeyOf, validityOf } from './mail-keys.ts'

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
  { secrets, publicUrl }: { secrets: Secrets, publicUrl: string },
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

    const { locale } = account
    const mail = {
      dedupeKey: `${kind.toLowerCase()}:${requestId}`,
      recipient: email,
      accountId: account.id,
      rateLimitKey: rateLimitKeyOf(kind, account.emailVerified && await isKnownNetwork(trx, account.id, network)),
      ...validityOf(kind, account.id)
    }
    if (kind === 'RESET') {
      const token = generateToken()
      // The token is in the fragment, which browsers never send to a server. In the query it would end up in the log of
      // every proxy.
      const url = `${publicUrl}/reset-password#${new URLSearchParams({ token, email }).toString()}`
      const queued = await createMail(trx, { ...mail, ...renderMail({ kind: 'reset', locale, url }) })
      if (queued) await storeReset(trx, account.id, token)
      return queued
    }
    if (kind === 'DELETION') {
      const token = generateToken()
      const url = `${publicUrl}/delete-account#${new URLSearchParams({ token }).toString()}`
      const queued = await createMail(trx, { ...mail, ...renderMail({ kind: 'deletionLink', locale, url }) })
      if (queued) await storeDeletionLink(trx, account.id, token)
      return queued
    }
    const code = generateCode()
    const { token, url } = createCodeLink(publicUrl, kind)
    const queued = await createMail(trx, {
      ...mail,
      ...renderMail({ kind: kind === 'VERIFY' ? 'verification' : 'signIn', locale, code, url })
    })
    // When the limit of mails is reached, the code or link of the last mail stays valid.
    if (!queued) return
    await storeCode(trx, secrets, { accountId: account.id, purpose: kind, code, network })
    await storeCodeLink(trx, { accountId: account.id, purpose: kind, token })
    return queued
  })
}
