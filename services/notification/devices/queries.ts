import type { Db } from '../tables.ts'

/** The devices that pushes of an account go to, last used first. */
export async function listDevices (db: Db, accountId: string) {
  return await db.selectFrom('devices').where('account_id', '=', accountId)
    .select([
      'id', 'device_id as deviceId', 'device_name as deviceName', 'platform', 'app_version as appVersion',
      'last_used_at as lastUsed', 'created_at as createdAt'
    ])
    .orderBy('last_used_at', 'desc')
    .execute()
}
