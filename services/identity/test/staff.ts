import { randomUUID } from 'node:crypto'
import type { Db } from '../tables.ts'

/** Another moderator, who can sign in if they have a passkey. */
export async function givenModerator (db: Db, { hasPasskey = true } = {}) {
  const { id } = await db.insertInto('staff').values({ email: `${randomUUID()}@example.com`, role: 'MODERATOR' })
    .returning('id').executeTakeFirstOrThrow()
  if (!hasPasskey) return
  await db.insertInto('passkeys')
    .values({ id, staff_id: id, public_key: Buffer.alloc(0), counter: 0, transports: [] }).execute()
}
