import { sql } from 'kysely'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { lockPair } from '../people/pairs.ts'
import { testApp } from '../test/app.ts'

t.test('people who can no longer meet others by the time they ask or answer learn why', async (t) => {
  const { get, post, del, member, db, services } = await testApp(t)
  services.connection = () => ({ isMatched: false, hasBlocked: false, isFollower: true, isFollowing: true })
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const ask = async (one: { id: string }, other: { id: string }) =>
    await post(one.id, '/buddies/requests', { userId: other.id, sport: 'badminton' })
  const setBirth = async (date: string) =>
    await sql`update profiles set birth_date = ${date}::date where account_id = ${ana.id}`.execute(db)

  /** Makes the change while the request waits for the pair's lock, after its first checks. */
  const meanwhile = async (send: () => ReturnType<typeof post>, change: () => Promise<unknown>) => {
    const { response } = await db.transaction().execute(async (trx) => {
      await lockPair(trx, ana.id, ben.id)
      const response = send()
      await until(async () => {
        const { rows } = await sql`
          select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(trx)
        return rows.length > 0
      })
      await change()
      return { response }
    })
    return await response
  }

  t.match(await meanwhile(() => ask(ana, ben), () => setBirth('2020-01-01')), { status: 403, code: 'AGE_RESTRICTED' })
  await setBirth('1990-01-01')
  const { id } = (await ask(ben, ana)).data.request
  const accept = () => post(ana.id, `/buddies/requests/${id}/respond`, { accept: true })
  t.match(await meanwhile(accept, () => setBirth('2020-01-01')), { status: 403, code: 'AGE_RESTRICTED' })
  await setBirth('1990-01-01')
  t.match(await meanwhile(() => ask(ana, ben), () => del(ana.id, '/fitmatch/profile')), {
    status: 404,
    code: 'PROFILE_NOT_FOUND'
  })
  t.match(await get(ben.id, '/buddies'), { data: { buddies: [] } })
})
