import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Trx } from '../tables.ts'
import { REFRESH_TOKEN_LIFETIME } from './queries.ts'

const REFRESH_TOKEN_BYTES = 32

export async function addRefreshToken (trx: Trx, sessionId: string, token: string) {
  await trx.insertInto('refresh_tokens').values({
    digest: digestOf(token),
    session_id: sessionId,
    expires_at: sql<Date>`now() + ${REFRESH_TOKEN_LIFETIME}::interval`
  }).execute()
}

export const generateRefreshToken = () => randomBytes(REFRESH_TOKEN_BYTES).toString('base64url')
export const digestOf = (token: string) => createHash('sha256').update(token).digest()
