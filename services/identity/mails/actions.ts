import { createMail } from '@tandem/mail-kit'
import { lockAccount } from '../accounts/queries.ts'
import { makeCode, storeCode } from '../codes/actions.ts'
import { makeResetToken, storeReset } from '../passwords/resets.ts'
import type { Db, Purpose } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { isKnownNetwork } from '../sessions/networks.ts'
import { budgetOf, topicOf } from './budgets.ts'
import { lettersIn } from './letters.ts'

export interface MailRequest { kind: Purpose | 'RESET', email: string, network: string }

export async function addRequest (db: Db, request: MailRequest) {
  const { id } = await db.insertInto('mail_requests').values(request).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Carries a request out, once; returns the id of the mail it leads to, if it does. */
export async function processMailRequest (db: Db, { secrets, publicUrl }: { secrets: Secrets, publicUrl: string }, requestId: string) {
  return await db.transaction().execute(async (trx) => {
    const request = await trx.deleteFrom('mail_requests').where('id', '=', requestId)
      .returning(['kind', 'email', 'network'])
      .executeTakeFirst()
    if (!request) return
    const { kind, email, network } = request
    const account = await lockAccount(trx, { email })
    if (!account || account.isBarred) return
    if (kind === 'VERIFY' && account.emailVerified) return
    if (kind === 'RESET' && !account.passwordHash) return

    const letters = lettersIn(account.locale)
    const mail = {
      dedupeKey: `${kind.toLowerCase()}:${requestId}`,
      recipient: email,
      rateLimitKey: budgetOf(kind, account.emailVerified && await isKnownNetwork(trx, account.id, network)),
      collapseKey: topicOf(kind, account.id)
    }
    if (kind === 'RESET') {
      const token = makeResetToken()
      // In the fragment, which browsers send to no server: a token in the query stands in the log of every proxy.
      const url = `${publicUrl}/reset-password#${new URLSearchParams({ token, email }).toString()}`
      const queued = await createMail(trx, { ...mail, ...letters.reset(url) })
      if (queued) await storeReset(trx, account.id, token)
      return queued
    }
    const code = makeCode()
    const queued = await createMail(trx, { ...mail, ...(kind === 'VERIFY' ? letters.verification(code) : letters.signIn(code)) })
    // A person who gets no further mail today keeps the code or link of the last one.
    if (queued) await storeCode(trx, secrets, { accountId: account.id, purpose: kind, code })
    return queued
  })
}
