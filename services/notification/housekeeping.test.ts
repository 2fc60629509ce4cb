import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { clearOld } from './housekeeping.ts'
import { notify } from './inbox/actions.ts'
import { testApp } from './test/app.ts'

t.test('what is old goes, and the unread count stays exact', async (t) => {
  const { db, deps, person, device, inbox, log, send } = (await testApp(t)).fresh()
  const ana = await person('Ana')
  await device(ana)
  for (const level of [2, 3, 4]) await notify(deps, { kind: 'levelReached', cause: `level:${level}`, to: [ana], params: { level } }, new Date())
  const aged = async (cause: string, interval: string) => {
    const notice = await db.selectFrom('notices').where('cause', '=', cause).selectAll().executeTakeFirstOrThrow()
    const delivery = await db.selectFrom('deliveries').where('notice_id', '=', notice.id).selectAll().executeTakeFirstOrThrow()
    const { rows: [{ id } = { id: '' }] } = await sql<{ id: string }>`select uuidv7(${interval}::interval) as id`.execute(db)
    await db.deleteFrom('notices').where('id', '=', notice.id).execute()
    await db.insertInto('notices').values({ ...notice, id, data: JSON.stringify(notice.data), params: JSON.stringify(notice.params) }).execute()
    await db.insertInto('deliveries').values({ ...delivery, id, notice_id: id, status: 'sent' }).execute()
  }
  await aged('level:2', '-91 days')
  await aged('level:3', '-31 days')
  const stale = randomUUID()
  await sql`insert into devices (account_id, session_id, token, platform, last_used_at) values (${ana}, ${stale}, 'old', 'ios', now() - interval '271 days')`.execute(db)
  await sql`insert into ended_sessions (session_id, ended_at) values (${stale}, now() - interval '2 days')`.execute(db)
  t.equal((await inbox(ana)).unreadCount, 3)

  await clearOld(db)
  t.match(await inbox(ana), { notifications: [{ title: 'Level 4!' }, { title: 'Level 3!' }], unreadCount: 2 })
  t.match(await log(ana), [{ title: 'Level 4!' }], 'pushes are remembered for 30 days')
  t.equal((await log(ana)).length, 1)
  t.equal((await send(ana, 'GET', '/notifications/push')).devices.length, 1)
  t.strictSame(await db.selectFrom('ended_sessions').selectAll().execute(), [])
  await clearOld(db)
  t.equal((await inbox(ana)).unreadCount, 2)
})
