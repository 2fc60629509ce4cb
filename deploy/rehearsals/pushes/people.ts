import { sql } from 'kysely'
import type { Db } from './world.ts'

/** An id that is easy to recognise: `kind` is its first hexadecimal digit. */
export const createId = (kind: string, number: number) =>
  `${kind}0000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
export const tokenOf = (number: number) => `token-${number}`
export const numberOf = (token: string) => Number(token.slice('token-'.length))

const BATCH_SIZE = 5_000

/** Creates people with `devices` devices each. @returns their account ids */
export async function createPeople (db: Db, count: number, devices: number) {
  const accounts = Array.from({ length: count }, (_, number) => createId('a', number))
  for (let from = 0; from < count; from += BATCH_SIZE) {
    const batch = accounts.slice(from, from + BATCH_SIZE)
    await sql`
      with created as (
        insert into notification.people (account_id, name, locale, timezone, changed_at)
        select id, 'Person', 'en', 'Asia/Jakarta', now() from unnest(${batch}::uuid[]) as each (id)
        returning account_id
      )
      insert into notification.inboxes (account_id) select account_id from created`.execute(db)
    await sql`
      insert into notification.devices (account_id, session_id, token, platform)
      select id, id, 'token-' || ((${from}::int + number - 1) * ${devices}::int + device - 1), 'android'
      from unnest(${batch}::uuid[]) with ordinality as each (id, number), generate_series(1, ${devices}::int) as device`
      .execute(db)
  }
  return accounts
}
