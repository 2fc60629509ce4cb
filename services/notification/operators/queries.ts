import type { Db } from '../tables.ts'

/** The latest pushes of an account, without their texts. */
export const listDeliveriesOf = async (db: Db, accountId: string) =>
  await db.selectFrom('deliveries')
    .innerJoin('notifications', 'notifications.id', 'deliveries.notification_id')
    .where('deliveries.account_id', '=', accountId)
    .select([
      'deliveries.id',
      'notifications.kind',
      'platform',
      'device_name as deviceName',
      'status',
      'reason',
      'attempts',
      'deliveries.created_at as createdAt',
      'finished_at as finishedAt'
    ])
    .orderBy('deliveries.id', 'desc').limit(100).execute()
