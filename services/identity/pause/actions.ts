import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { setHidden } from '../hidden.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'

/** Hides a person and ends their sessions until the next sign-in. @throws InvalidAccessToken */
export async function pauseAccount ({ db }: Pick<Deps, 'db'>, caller: Caller) {
  await db.transaction().execute(async (trx) => {
    const { id: accountId } = await lockCaller(trx, caller)
    await setHidden(trx, accountId, { paused_at: sql`now()` })
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_PAUSED', accountId, detail: {} })
  })
}
