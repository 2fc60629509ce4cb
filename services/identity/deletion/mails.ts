import { sql } from 'kysely'
import { createMail, renderMail } from '@tandem/mail-kit'
import { textsOf } from '@tandem/brand-kit'
import { settleEach } from '@tandem/process-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { findErasure, type Erasure } from '../erasures/queries.ts'
import { deletionMailsOf } from '../mail-keys.ts'
import { linkTo } from '../mailed-links.ts'
import { createRestoreToken } from '../sessions/restore-tokens.ts'
import type { Trx } from '../tables.ts'

type MailDeps = Pick<Deps, 'secrets' | 'publicUrl'>

const DAY_SECONDS = 24 * 60 * 60

interface DeletionMail {
  account: { id: string, email: string, locale: string }
  erasure: Erasure
  kind: 'SCHEDULED' | 'REMINDER'
}

/** Writes the mail that says when an account will be erased, with a link to cancel that. @returns its id */
export async function createDeletionMail (
  trx: Trx,
  { secrets, publicUrl }: MailDeps,
  { account, erasure: { id, eraseAt, hasSubscription, manageUrl, providers }, kind }: DeletionMail
) {
  const restore = createRestoreToken(secrets, { accountId: account.id, erasureId: id, method: 'CODE' }, eraseAt)
  const url = linkTo(`${publicUrl}/delete-account`, { id, restore })
  const date = new Intl.DateTimeFormat(textsOf(account.locale).locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC'
  }).format(eraseAt)
  return await createMail(trx, {
    dedupeKey: `deletion:${kind.toLowerCase()}:${id}`,
    recipient: account.email,
    accountId: account.id,
    // The link of an earlier deletion, which was canceled, must not arrive last.
    collapseKey: deletionMailsOf(account.id),
    // Nobody but the owner can cause it, and nobody may suppress it with other mails.
    rateLimited: false,
    // Also after its link has ended: the owner should know.
    lifetime: `${Math.max(DAY_SECONDS, (eraseAt.getTime() - Date.now()) / 1_000)} seconds`,
    ...renderMail({
      kind: 'deletion',
      locale: account.locale,
      params: {
        kind,
        date: `${date} UTC`,
        subscription: !hasSubscription ? 'none' : manageUrl ? 'url' : 'noUrl',
        manageUrl,
        hasProvider: providers.length > 0
      },
      url
    })
  })
}

const BATCH_SIZE = 100

/** Mails the owners of accounts that will be erased within two days, once. */
export async function remindOfDeletions ({ db, mailer, ...deps }: Pick<Deps, 'db' | 'mailer'> & MailDeps) {
  const due = await db.selectFrom('erasures').where('status', '=', 'SCHEDULED').where('reminded_at', 'is', null)
    .where('cause', 'in', ['OWNER', 'LINK', 'OPERATOR'])
    .where('erase_at', '<=', sql<Date>`now() + interval '2 days'`).where('erase_at', '>', sql<Date>`now()`)
    // With a shorter grace period, the first mail has just said it.
    .where(sql<boolean>`erase_at - requested_at > interval '2 days'`)
    .select(['id', 'account_id as accountId']).limit(BATCH_SIZE).execute()
  await settleEach(due, async ({ id, accountId }) => {
    const mail = await db.transaction().execute(async (trx) => {
      const account = await lockAccount(trx, { id: accountId })
      // Canceled, or reminded by another replica, since it was read.
      const claimed = await trx.updateTable('erasures').set({ reminded_at: sql`now()` })
        .where('id', '=', id).where('status', '=', 'SCHEDULED').where('reminded_at', 'is', null)
        .returning('id').executeTakeFirst()
      const erasure = claimed && await findErasure(trx, id)
      return account && erasure && await createDeletionMail(trx, deps, { account, erasure, kind: 'REMINDER' })
    })
    await mailer.enqueue([mail])
  })
}
