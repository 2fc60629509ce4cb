import { readTimezone } from '@tandem/account-kit'
import { textsOf, type TextParams } from '@tandem/brand-kit'
import { Contact } from '@tandem/contracts'
import { createMail, renderMail } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'

interface AccountMail {
  eventId: string
  accountId: string
  kind: 'passwordChanged' | 'providerLinked' | 'newSignIn'
  params: TextParams
  /** When it happened. */
  at: Date
}

/**
 * Queues a mail about a change to an account, once for each event. It is exempt from the mail limit, so that an
 * attacker cannot suppress it by requesting other mails first.
 */
export async function queueAccountMail (
  { db, callRpc, mailer }: Deps,
  { eventId, accountId, kind, params, at }: AccountMail
) {
  const contact = await callRpc(Contact, { accountId })
  if (!contact) return
  const content = renderMail({
    kind,
    locale: contact.locale,
    params: { ...params, at: formatTime(contact.locale, at, await findTimezone(db, accountId)) }
  })
  const mail = await db.transaction().execute(async (trx) =>
    await createMail(trx, {
      dedupeKey: `account:${eventId}`,
      recipient: contact.email,
      accountId,
      rateLimited: false,
      ...content
    })
  )
  await mailer.enqueue([mail])
}

async function findTimezone (db: Deps['db'], accountId: string) {
  const person = await db.selectFrom('people').where('account_id', '=', accountId).select('timezone').executeTakeFirst()
  return readTimezone(person?.timezone ?? 'UTC')
}

function formatTime (locale: string, time: Date, timezone: string) {
  const format = new Intl.DateTimeFormat(textsOf(locale).locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: timezone
  })
  return `${format.format(time)} (${timezone})`
}
