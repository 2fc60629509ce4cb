import type { Db } from '../tables.ts'

/** Lists the devices that receive an account's pushes, last used first. */
export async function listDevices (db: Db, accountId: string) {
  return await db.selectFrom('devices').where('account_id', '=', accountId)
    .select([
      'id',
      'device_id as deviceId',
      'device_name as deviceName',
      'platform',
      'app_version as appVersion',
      'last_used_at as lastUsed',
      'created_at as createdAt'
    ])
    .orderBy('last_used_at', 'desc')
    .execute()
}
