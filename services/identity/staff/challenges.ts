import { sql } from 'kysely'
import { InvalidPasskey } from '../errors.ts'
import type { ChallengePurpose, Db, Trx } from '../tables.ts'

const LIFETIME = '5 minutes'

interface Challenge {
  challenge: string
  purpose: ChallengePurpose
  staffId: string | null
}

export async function storeChallenge (db: Db, { challenge, purpose, staffId }: Challenge) {
  await db.insertInto('passkey_challenges')
    .values({ challenge, purpose, staff_id: staffId, expires_at: sql<Date>`now() + ${LIFETIME}::interval` }).execute()
}

/** Uses up the challenge that a browser's response signs. @throws InvalidPasskey */
export async function redeemChallenge (trx: Trx, purpose: ChallengePurpose, clientDataJson: string) {
  const challenge = readChallenge(clientDataJson)
  const redeemed = await trx.deleteFrom('passkey_challenges').where('challenge', '=', challenge)
    .where('purpose', '=', purpose).where('expires_at', '>', sql<Date>`now()`)
    .returning('staff_id as staffId').executeTakeFirst()
  if (!redeemed) throw new InvalidPasskey()
  return { challenge, staffId: redeemed.staffId }
}

function readChallenge (clientDataJson: string) {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString()) as { challenge?: unknown }
    return typeof challenge === 'string' ? challenge : ''
  } catch {
    return ''
  }
}
