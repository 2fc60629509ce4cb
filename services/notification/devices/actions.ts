import { sql } from 'kysely'
import { InvalidAccessToken } from '@tandem/service-kit'
import { lockInboxes } from '../inbox/withdrawals.ts'
import type { Db, Platform, Trx } from '../tables.ts'

const DEVICES_EACH = 20

export interface Registration {
  accountId: string
  sessionId: string
  token: string
  platform: Platform
  deviceId?: string | undefined
  deviceName?: string | undefined
  appVersion?: string | undefined
}

/**
 * Makes a push token this account's and this session's, whoever had it before; of several who register it at once the last one keeps it.
 * Another token of the same device is retired. Returns the id of the device.
 * @throws InvalidAccessToken when the session has ended meanwhile
 */
export async function registerDevice (db: Db, registration: Registration): Promise<string> {
  const { accountId, sessionId, token, platform, deviceId = null, deviceName = null, appVersion = null } = registration
  return await db.transaction().execute(async (trx) => {
    await ensureInbox(trx, accountId)
    const ended = await trx.selectFrom('ended_sessions').where('session_id', '=', sessionId).select('session_id').executeTakeFirst()
    if (ended) throw new InvalidAccessToken()

    if (deviceId !== null) {
      await trx.deleteFrom('devices').where('account_id', '=', accountId).where('device_id', '=', deviceId).where('token', '!=', token).execute()
    }
    // With its owner the device gets another id, so that what waits for the one before is not sent to him.
    const { rows } = await sql<{ id: string }>`
      insert into devices (account_id, session_id, token, platform, device_id, device_name, app_version)
      values (${accountId}, ${sessionId}, ${token}, ${platform}, ${deviceId}, ${deviceName}, ${appVersion})
      on conflict (token) do update set
        id = case when devices.account_id = excluded.account_id then devices.id else excluded.id end,
        created_at = case when devices.account_id = excluded.account_id then devices.created_at else excluded.created_at end,
        account_id = excluded.account_id, session_id = excluded.session_id, platform = excluded.platform, device_id = excluded.device_id,
        device_name = excluded.device_name, app_version = excluded.app_version, last_used_at = now()
      returning id`.execute(trx)
    await sql`
      delete from devices where id in (
        select id from devices where account_id = ${accountId} order by last_used_at desc, id desc offset ${sql.lit(DEVICES_EACH)}
      )`.execute(trx)
    return rows[0]?.id ?? ''
  })
}

/** Takes the row of an inbox, which there is from now on, until the end of the transaction. */
async function ensureInbox (trx: Trx, accountId: string) {
  await trx.insertInto('inboxes').values({ account_id: accountId }).onConflict((conflict) => conflict.doNothing()).execute()
  await lockInboxes(trx, [accountId])
}

/** Takes a token away from its owner; another's is not touched. Returns how many went. */
export async function removeDevice (db: Db, accountId: string, token: string) {
  const removed = await db.deleteFrom('devices').where('account_id', '=', accountId).where('token', '=', token).returning('id').execute()
  return removed.length
}

/** With a session its device goes, and nobody registers one with it any more. */
export async function endSessions (db: Db, accountId: string, sessionIds: string[]) {
  if (sessionIds.length === 0) return
  await db.transaction().execute(async (trx) => {
    // A registration under way ends first, and its device is seen here.
    await ensureInbox(trx, accountId)
    await trx.insertInto('ended_sessions')
      .values(sessionIds.map((session_id) => ({ session_id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await trx.deleteFrom('devices').where('session_id', 'in', sessionIds).execute()
  })
}
