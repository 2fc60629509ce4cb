import { sql } from 'kysely'
import { hasKnownNetwork } from '../sessions/networks.ts'
import type { Db, PublicPurpose } from '../tables.ts'

/** Of a code, from one network. */
export const MAX_ATTEMPTS_PER_CODE = 5
/** In 24 hours, over all codes of an account, from one network. */
const MAX_ATTEMPTS_PER_NETWORK = 20
/**
 * In 24 hours, over all codes of an account: from all networks that it knows, and from all others. Beyond it, a guess
 * succeeds once in 25,000 days of them, and only the mailed link is accepted.
 */
const MAX_ATTEMPTS = 40

/** SQL for a condition: whether the account of each row of `accounts` has a code that has not expired. */
export const hasActiveCode = (purpose: PublicPurpose) =>
  sql<boolean>`exists (
  select from codes where account_id = accounts.id and purpose = ${purpose} and expires_at > now())`

/**
 * The code that a caller in `network` may still enter. Networks that the account knows, and the one that requested the
 * code, have attempts of their own; all others share theirs. So nobody elsewhere uses up the attempts of the owner.
 */
export async function findOpenCode (
  db: Db,
  { accountId, purpose, network }: { accountId: string, purpose: PublicPurpose, network: string }
) {
  const code = await db.selectFrom('codes').innerJoin('accounts', 'accounts.id', 'codes.account_id')
    .where('account_id', '=', accountId).where('purpose', '=', purpose).where('expires_at', '>', sql<Date>`now()`)
    .select([
      'digest',
      'codes.network as requestedFrom',
      // Somebody who registers another person's address knows networks of the account too.
      sql<boolean>`email_verified_at is not null and ${hasKnownNetwork(network)}`.as('isKnown')
    ])
    .executeTakeFirst()
  if (!code) return
  const { digest, isKnown, requestedFrom } = code
  const countedNetwork = isKnown || network === requestedFrom ? network : ''

  const wrong = await db.selectFrom('wrong_codes')
    .where('account_id', '=', accountId).where('is_known', '=', isKnown)
    .where('entered_at', '>', sql<Date>`now() - interval '24 hours'`)
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('all'),
      fn.countAll<number>().filterWhere('network', '=', countedNetwork).as('ofNetwork'),
      fn.countAll<number>().filterWhere(eb.and([
        eb('network', '=', countedNetwork),
        eb('code_digest', '=', digest)
      ])).as('ofCode')
    ])
    .executeTakeFirstOrThrow()
  const isOpen = wrong.ofCode < MAX_ATTEMPTS_PER_CODE && wrong.ofNetwork < MAX_ATTEMPTS_PER_NETWORK &&
    wrong.all < MAX_ATTEMPTS
  return isOpen ? { digest, isKnown, countedNetwork } : undefined
}
