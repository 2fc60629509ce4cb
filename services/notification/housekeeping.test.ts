import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { checkSteps, expiredIdempotencyKey } from '@tandem/database-kit/testing'
import t from 'tap'
import { deleteExpired } from './housekeeping.ts'
import { notify, testApp } from './test/app.ts'

t.test('expired rows are deleted, and the unread count stays exact', async (t) => {
  const { db, deps, person, device, inbox, log, send } = (await testApp(t)).reset()
  const ana = await person('Ana')
  await device(ana)
  for (const level of [2, 3, 4]) {
    await notify(deps, { kind: 'levelReached', dedupeKey: `level:${level}`, to: [ana], params: { level } }, new Date())
  }
  const age = async (dedupeKey: string, interval: string) => {
    const { id: oldId } = await db.selectFrom('notifications').where('dedupe_key', '=', dedupeKey).select('id')
      .executeTakeFirstOrThrow()
    const { rows: [{ id } = { id: '' }] } = await sql<{ id: string }>`select uuidv7(${interval}::interval) as id`
      .execute(db)
    await sql`
      with copy as (
        insert into notifications (id, account_id, dedupe_key, kind, type, data, params, listed)
        select ${id}::uuid, account_id, ${`${dedupeKey}:aged`}, kind, type, data, params, listed
        from notifications where id = ${oldId}
      )
      insert into deliveries (id, notification_id, account_id, device_id, platform, low_priority, status, due_at)
      select ${id}::uuid, ${id}::uuid, account_id, device_id, platform, low_priority, 'sent', due_at
      from deliveries where notification_id = ${oldId}`
      .execute(db)
    await db.deleteFrom('notifications').where('id', '=', oldId).execute()
  }
  await age('level:2', '-91 days')
  await age('level:3', '-31 days')
  const stale = randomUUID()
  await sql`
    insert into devices (account_id, session_id, token, platform, last_used_at)
    values (${ana}, ${stale}, 'old', 'ios', now() - interval '271 days')`
    .execute(db)
  await sql`insert into ended_sessions (session_id, ended_at) values (${stale}, now() - interval '2 days')`.execute(db)
  t.equal((await inbox(ana)).unreadCount, 3)

  await deleteExpired(db)
  t.match(await inbox(ana), { notifications: [{ title: 'Level 4!' }, { title: 'Level 3!' }], unreadCount: 2 })
  t.match(await log(ana), [{ title: 'Level 4!' }], 'pushes are kept for 30 days')
  t.equal((await log(ana)).length, 1)
  t.equal((await send(ana, 'GET', '/notifications/push')).devices.length, 1)
  t.strictSame(await db.selectFrom('ended_sessions').select('session_id').execute(), [])
  await deleteExpired(db)
  t.equal((await inbox(ana)).unreadCount, 2)
})

t.test('a step that fails does not stop the next', async (t) => {
  const { db } = await testApp(t)
  await checkSteps(t, {
    db,
    run: async () => await deleteExpired(db),
    missing: 'post_likes',
    expired: expiredIdempotencyKey(),
    table: 'idempotency_keys'
  })
})
