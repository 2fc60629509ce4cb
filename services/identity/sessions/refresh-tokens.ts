import { sql } from 'kysely'
import { digestOfToken } from '../random-tokens.ts'
import type { Trx } from '../tables.ts'
import { REFRESH_TOKEN_LIFETIME } from './queries.ts'

export async function addRefreshToken (trx: Trx, sessionId: string, token: string) {
  await trx.insertInto('refresh_tokens').values({
    digest: digestOfToken(token),
    session_id: sessionId,
    expires_at: sql<Date>`now() + ${REFRESH_TOKEN_LIFETIME}::interval`
  }).execute()
}
