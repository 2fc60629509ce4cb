import { sql } from 'kysely'
import type { Secrets } from '../secrets.ts'
import type { Db, Provider, Restriction } from '../tables.ts'
import { digestOfProvider, digestsOfEmail } from './digests.ts'

/** Whether an address is that of a banned account that was erased, with another tag or none. */
export const isEmailBanned = async (db: Db, secrets: Secrets, email: string) =>
  await isRemembered(db, digestsOfEmail(secrets, email), 'BANNED')

export const isProviderBanned = async (db: Db, secrets: Secrets, provider: Provider, subject: string) =>
  await isRemembered(db, [digestOfProvider(secrets, provider, subject)], 'BANNED')

/** Whether an erased account with one of these digests had a restriction that has not ended. */
export async function isRemembered (db: Db, digests: Buffer[], restriction: Restriction) {
  const found = await db.selectFrom('remembered').where('digest', 'in', digests)
    .where('restriction', '=', restriction).where('until', '>', sql<Date>`now()`)
    .select('digest').limit(1).executeTakeFirst()
  return found !== undefined
}
