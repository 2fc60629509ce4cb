import { sql } from 'kysely'
import { InvalidAccessToken } from '@tandem/http-kit'
import { lockInboxes } from '../notifications/removal.ts'
import type { Db, Platform, Trx } from '../tables.ts'

const MAX_DEVICES_PER_ACCOUNT = 20

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
 * Assigns a push token to this account and session, even if another account had it; of concurrent registrations the
 * last one wins. Deletes other tokens of the same device. Returns the id of the device.
 * @throws InvalidAccessToken if the session has ended
 */
export async function registerDevice (db: Db, registration: Registration): Promise<string> {
  const { accountId, sessionId, token, platform, deviceId = null, deviceName = null, appVersion = null } = registration
  return await db.transaction().execute(async (trx) => {
    await ensureInbox(trx, accountId)
    const ended = await trx.selectFrom('ended_sessions').where('session_id', '=', sessionId).select('session_id')
      .executeTakeFirst()
    if (ended) throw new InvalidAccessToken()

    if (deviceId !== null) {
      await trx.deleteFrom('devices').where('account_id', '=', accountId).where('device_id', '=', deviceId)
        .where('token', '!=', token).execute()
    }
    // A device with a new owner gets a new id, so that pushes waiting for the previous owner are not sent to it.
    const { rows } = await sql<{ id: string }>`
      insert into devices (account_id, session_id, token, platform, device_id, device_name, app_version)
      values (${accountId}, ${sessionId}, ${token}, ${platform}, ${deviceId}, ${deviceName}, ${appVersion})
      on conflict (token) do update set
        id = case when devices.account_id = excluded.account_id then devices.id else excluded.id end,
        created_at = case when devices.account_id = excluded.account_id
          then devices.created_at
          else excluded.created_at
        end,
        account_id = excluded.account_id, session_id = excluded.session_id,
        platform = excluded.platform, device_id = excluded.device_id,
        device_name = excluded.device_name, app_version = excluded.app_version, last_used_at = now()
      returning id`.execute(trx)
    await sql`
      delete from devices where id in (
        select id from devices where account_id = ${accountId}
        order by last_used_at desc, id desc offset ${sql.lit(MAX_DEVICES_PER_ACCOUNT)}
      )`.execute(trx)
    return rows[0]?.id ?? ''
  })
}

/** Creates the inbox of an account if it is missing, and locks it until the end of the transaction. */
async function ensureInbox (trx: Trx, accountId: string) {
  await trx.insertInto('inboxes').values({ account_id: accountId }).onConflict((conflict) => conflict.doNothing())
    .execute()
  await lockInboxes(trx, [accountId])
}

/** Deletes a push token of this account; tokens of other accounts stay. Returns the number of deleted tokens. */
export async function deleteDevice (db: Db, accountId: string, token: string) {
  const removed = await db.deleteFrom('devices').where('account_id', '=', accountId).where('token', '=', token)
    .returning('id').execute()
  return removed.length
}

/** Deletes the devices of ended sessions and rejects later registrations with them. */
export async function endSessions (db: Db, accountId: string, sessionIds: string[]) {
  if (sessionIds.length === 0) return
  await db.transaction().execute(async (trx) => {
    // Waits for a registration in progress, so that its device is deleted too.
    await ensureInbox(trx, accountId)
    await trx.insertInto('ended_sessions')
      .values(sessionIds.map((session_id) => ({ session_id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await trx.deleteFrom('devices').where('session_id', 'in', sessionIds).execute()
  })
}
