import { sql } from 'kysely'
import { workDue } from '@tandem/database-kit'
import { withTimeout, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import type { Db, Provider, Trx } from '../tables.ts'
import type { Grant } from './provider-client.ts'

// The gateway waits three seconds: the person must read that the account will be deleted.
const EXCHANGE_TIMEOUT_MS = 2_000
// Longer than a call of the provider takes.
const LEASE_SECONDS = 60
const RETRY_SECONDS = 10
const MAX_RETRY_SECONDS = 12 * 60 * 60
// Four days: also how long a token stays after the erasure of its account while the provider is unavailable.
const MAX_ATTEMPTS = 20
const PROVIDER: Provider = 'PROVIDER_B'
const purpose = (erasureId: string) => ['revoke a provider', erasureId] as const

/**
 * Exchanges the code that the app got from provider B, so that the connection can be ended there later: a code is only
 * valid for some minutes. @returns undefined if that is not possible, and the person has to end it themselves
 */
export async function exchangeCode ({ providerClient }: Pick<Deps, 'providerClient'>, code: string | undefined) {
  if (!providerClient || !code) return
  try {
    return await withTimeout(EXCHANGE_TIMEOUT_MS, providerClient.exchange(code))
  } catch {
    // The deletion matters more.
    return
  }
}

/** Plans the revocation for when the erasure begins, if the grant is that of the account. */
export async function planRevocation (
  trx: Trx,
  secrets: Deps['secrets'],
  { accountId, erasureId, grant }: { accountId: string, erasureId: string, grant: Grant }
) {
  const link = await trx.selectFrom('provider_links').where('account_id', '=', accountId)
    .where('provider', '=', PROVIDER).where('subject', '=', grant.subject).select('subject').executeTakeFirst()
  if (!link) return
  const token = secrets.encrypt(grant.refreshToken, ...purpose(erasureId))
  await trx.insertInto('provider_revocations').values({ erasure_id: erasureId, provider: PROVIDER, token }).execute()
  await trx.updateTable('erasures').set({ providers: sql`array_remove(providers, ${PROVIDER})` })
    .where('id', '=', erasureId).execute()
}

/** Ends the connections of the erasures that have begun. A crash in between only means that one is ended twice. */
export async function revokeDue (
  { db, secrets, providerClient }: Pick<Deps, 'db' | 'secrets' | 'providerClient'>,
  log: Log
) {
  if (!providerClient) return
  await workDue(db, 'provider_revocations', {
    key: 'erasure_id',
    dueAt: 'next_attempt_at',
    where: sql`exists (
      select from erasures where id = erasure_id and begun_at is not null and status <> 'CANCELED')`,
    leaseSeconds: LEASE_SECONDS,
    retrySeconds: RETRY_SECONDS,
    maxRetrySeconds: MAX_RETRY_SECONDS,
    maxAttempts: MAX_ATTEMPTS,
    log,
    async work ({ erasure_id: erasureId, token }) {
      const isRevoked = await providerClient.revoke(secrets.decrypt(token, ...purpose(erasureId)))
      if (!isRevoked) log.warn({ erasureId }, 'provider B did not end the connection of a deleted account')
      await end(db, erasureId, isRevoked)
    },
    giveUp: async ({ erasure_id: erasureId }) => await end(db, erasureId, false)
  })
}

/** Forgets the token. Without success, the receipt names the provider again. */
async function end (db: Db, erasureId: string, isRevoked: boolean) {
  await db.transaction().execute(async (trx) => {
    const ended = await trx.deleteFrom('provider_revocations').where('erasure_id', '=', erasureId)
      .returning('provider').executeTakeFirst()
    if (!ended || isRevoked) return
    await trx.updateTable('erasures').set({ providers: sql`array_append(providers, ${ended.provider})` })
      .where('id', '=', erasureId).execute()
  })
}
