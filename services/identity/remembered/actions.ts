import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { SuspensionContinued } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import type { Db, Provider, Trx } from '../tables.ts'
import { digestsOfEmail, digestOfProvider } from './digests.ts'
import { isRemembered } from './queries.ts'

// As long as the evidence for a suspension is kept.
const LIFETIME = { BANNED: '36 months', SUSPENDED: '180 days' }

/**
 * Remembers what a banned or suspended account signed in with, so that neither ends with its deletion.
 */
export async function rememberRestriction (trx: Trx, secrets: Deps['secrets'], accountId: string) {
  const account = await trx.selectFrom('accounts').where('id', '=', accountId)
    // An expired account is barred too, but nobody banned it.
    .where('expired_at', 'is', null)
    .where((where) => where.or([where('banned_at', 'is not', null), where('suspended', '=', true)]))
    .select(['email', sql<boolean>`banned_at is not null`.as('isBanned')]).executeTakeFirst()
  if (!account) return
  const links = await trx.selectFrom('provider_links').where('account_id', '=', accountId)
    .select(['provider', 'subject']).execute()
  const digests = [
    ...digestsOfEmail(secrets, account.email),
    ...links.map(({ provider, subject }) => digestOfProvider(secrets, provider, subject))
  ]
  const restriction = account.isBanned ? 'BANNED' : 'SUSPENDED'
  // A suspension never replaces a ban that is remembered of the same mailbox.
  await sql`
    insert into remembered (digest, restriction, until)
    select digest, ${restriction}, now() + ${LIFETIME[restriction]}::interval
    from unnest(${digests}::bytea[]) as digest
    on conflict (digest) do update set restriction = excluded.restriction, until = excluded.until
      where excluded.restriction = 'BANNED' or remembered.restriction = 'SUSPENDED' or remembered.until < now()`
    .execute(trx)
}

interface Identity {
  email: string
  link?: { provider: Provider, subject: string }
}

/** Suspends a new account if an erased one with the same mailbox or provider was suspended. */
export async function continueSuspension (
  trx: Trx,
  secrets: Deps['secrets'],
  accountId: string,
  { email, link }: Identity
) {
  const digests = [
    ...digestsOfEmail(secrets, email),
    ...(link ? [digestOfProvider(secrets, link.provider, link.subject)] : [])
  ]
  if (!await isRemembered(trx, digests, 'SUSPENDED')) return
  await trx.updateTable('accounts').set({ suspended: true }).where('id', '=', accountId).execute()
  await publish(trx, SuspensionContinued, accountId, { accountId })
}

/** Stores whether fitmatch has suspended an account, unless a later change is stored. */
export async function setSuspended (db: Db, accountId: string, suspended: boolean, changedAt: Date) {
  await db.updateTable('accounts').set({ suspended, suspension_changed_at: changedAt })
    .where('id', '=', accountId).where('expired_at', 'is', null)
    .where((where) =>
      where.or([where('suspension_changed_at', 'is', null), where('suspension_changed_at', '<=', changedAt)])
    )
    .execute()
}
