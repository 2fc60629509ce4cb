import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { PersonBlocked, PersonReported, PersonUnblocked } from '@tandem/contracts'
import { until } from '@tandem/test-kit'
import { testApp } from '../test/app.ts'

const { get, post, del, member, person, publishedEvents, handlers, services, db } = await testApp(t)

const blocked = async (accountId: string) => (await get(accountId, '/blocks')).data.blocks

t.test('people without a matching profile can block and be blocked', async (t) => {
  const [ana, ben] = [person('Ana'), person('Ben')]
  t.match(await post(ana, '/blocks', { userId: ben, reason: 'Rude' }), { status: 200, message: 'User blocked' })
  t.match(await post(ana, '/blocks', { userId: ben }), { status: 200 }, 'again changes nothing')
  t.match(await blocked(ana), [{ userId: ben, name: 'Ben', image: null, blockedAt: String }])
  t.same((await get(ana, '/fitmatch/block')).data.blockedUsers, [], 'there is no profile to list in FitMatch')
  t.match(
    (await publishedEvents(PersonBlocked)).filter(({ blockerId }) => blockerId === ana),
    [{ blockedId: ben }]
  )
  t.match(await post(ben, '/blocks', { userId: ana }), { status: 404, code: 'NOT_FOUND' })
  t.match(await del(ben, `/blocks?userId=${ana}`), { status: 404, code: 'NOT_FOUND' })
  t.match(await del(ana, `/blocks?userId=${ben}`), { status: 200 })
  t.same(await blocked(ana), [])
  t.match(await publishedEvents(PersonUnblocked), [{ blockerId: ana, blockedId: ben }])
})

t.test('a block by account and one in FitMatch are removed apart, and nothing says which account has which profile', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben', { fields: { displayName: 'Benny' } })]
  const unblock = async (of: 'account' | 'profile') =>
    await del(ana.id, of === 'account' ? `/blocks?userId=${ben.id}` : `/fitmatch/block?profileId=${ben.profileId}`)
  const inFitMatch = async () => (await get(ana.id, '/fitmatch/block')).data.blockedUsers
  const isFound = async () => (await get(ben.id, `/fitmatch/profile/${ana.profileId}`)).status === 200
  const unblocked = async () =>
    (await publishedEvents(PersonUnblocked)).filter(({ blockerId }) => blockerId === ana.id).length

  await post(ana.id, '/blocks', { userId: ben.id, reason: 'Said outside' })
  t.notOk(await isFound())
  t.same(await inFitMatch(), [])
  t.match(await unblock('profile'), { status: 404, code: 'NOT_FOUND' }, 'as for any other profile')
  t.notOk(await isFound())
  t.match(await unblock('account'), { status: 200 })
  t.ok(await isFound())

  await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId, reason: 'Rude' })
  t.same(await blocked(ana.id), [])
  t.match(await inFitMatch(), [{ profileId: ben.profileId, displayName: 'Benny' }])
  t.match(await unblock('account'), { status: 404, code: 'NOT_FOUND' }, 'as for any other account')
  t.notOk(await isFound())

  await post(ana.id, '/blocks', { userId: ben.id, reason: 'Said outside' })
  const [byAccount, byProfile] = [await blocked(ana.id), await inFitMatch()]
  t.match(byAccount, [{ userId: ben.id, name: 'Ben' }], 'blocked in both ways, they are in both lists')
  t.match(byProfile, [{ profileId: ben.profileId, displayName: 'Benny', reason: 'Rude' }])
  t.not(byAccount[0].blockedAt, byProfile[0].blockedAt, 'each with a time of its own')
  t.match(await unblock('account'), { status: 200 })
  t.same(await blocked(ana.id), [])
  t.match(await inFitMatch(), byProfile)
  t.match(await unblock('account'), { status: 404 })
  t.notOk(await isFound(), 'until both are removed')

  await post(ana.id, '/blocks', { userId: ben.id, reason: 'Said outside' })
  t.match(await unblock('profile'), { status: 200 })
  t.same(await inFitMatch(), [])
  services.areUnavailable = true
  t.match(await blocked(ana.id), [{ userId: ben.id, name: 'Someone' }], 'the name of the profile is forgotten')
  services.areUnavailable = false
  await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId })
  t.match(await inFitMatch(), [{ profileId: ben.profileId, reason: null }], 'the reason too')
  await unblock('profile')
  t.notOk(await isFound())
  t.equal(await unblocked(), 1, 'social only hears of it once nothing is left')
  t.match(await unblock('account'), { status: 200 })
  t.ok(await isFound())
  t.equal(await unblocked(), 2)
})

t.test('a block stays that comes at the moment at which the one of the other list is removed', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const byAccount = {
    block: async () => await post(ana.id, '/blocks', { userId: ben.id }),
    unblock: async () => await del(ana.id, `/blocks?userId=${ben.id}`)
  }
  const byProfile = {
    block: async () => await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId }),
    unblock: async () => await del(ana.id, `/fitmatch/block?profileId=${ben.profileId}`)
  }
  for (const [former, next] of [[byAccount, byProfile], [byProfile, byAccount]] as const) {
    await former.block()
    const requests = await db.transaction().execute(async (trx) => {
      await trx.selectFrom('blocks').where('blocker_id', '=', ana.id).select('blocked_id').forUpdate().execute()
      const countWaiting = async () => {
        const { rows } = await sql`
          with waiting as (select distinct pid, pg_blocking_pids(pid) as blockers from pg_locks where not granted),
            first as (select pid from waiting where pg_backend_pid() = any(blockers))
          select from waiting where pid in (select pid from first) or blockers && array(select pid from first)`
          .execute(trx)
        return rows.length
      }
      const removed = former.unblock()
      await until(async () => await countWaiting() === 1)
      const added = next.block()
      await until(async () => await countWaiting() === 2)
      return [removed, added]
    })
    t.same((await Promise.all(requests)).map(({ status }) => status), [200, 200])
    t.match(await get(ben.id, `/fitmatch/profile/${ana.profileId}`), { status: 404 })
    t.match(await former.unblock(), { status: 404 })
    t.match(await next.unblock(), { status: 200 })
  }
})

t.test('a block of a profile that was deleted and made again is removed by the profile in the list', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId })
  await post(ana.id, '/blocks', { userId: ben.id })
  await del(ben.id, '/fitmatch/profile')
  await post(ben.id, '/fitmatch/profile', {})
  await del(ana.id, `/blocks?userId=${ben.id}`)
  const [{ profileId }] = (await get(ana.id, '/fitmatch/block')).data.blockedUsers
  t.equal(profileId, ben.profileId)
  t.match(await del(ana.id, `/fitmatch/block?profileId=${profileId}`), { status: 200 })
  t.match(await get(ben.id, `/fitmatch/profile/${ana.profileId}`), { status: 200 })
})

t.test('invalid requests are refused', async (t) => {
  const ana = person('Ana')
  t.match(await post(ana, '/blocks', { userId: ana }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await post(ana, '/blocks', {}), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await post(ana, '/blocks', { userId: randomUUID() }), { status: 404, code: 'NOT_FOUND' })
  t.match(await post(ana, '/blocks', { userId: 'garbage' }), { status: 404, code: 'NOT_FOUND' })
  const ben = person('Ben')
  services.areUnavailable = true
  t.match(await post(ana, '/blocks', { userId: ben }), { status: 503 })
  services.areUnavailable = false
  await post(ana, '/blocks', { userId: ben })
  services.areUnavailable = true
  t.match(await blocked(ana), [{ userId: ben, name: 'Ben' }], 'the list needs no other service')
  services.areUnavailable = false
})

t.test('the list has pages, the newest first', async (t) => {
  const ana = person('Ana')
  const others = Array.from({ length: 5 }, (_, turn) => person(`O${turn}`))
  for (const userId of others) await post(ana, '/blocks', { userId })
  const found: string[] = []
  for (let cursor = ''; cursor !== null;) {
    const { data } = await get(ana, `/blocks?limit=2&cursor=${cursor}`)
    found.push(...data.blocks.map(({ userId }: { userId: string }) => userId))
    cursor = data.nextCursor
  }
  t.same(found, others.toReversed())
})

t.test('a page goes on after the last person of the page before, who was unblocked meanwhile', async (t) => {
  const ana = person('Ana')
  const others = Array.from({ length: 4 }, (_, turn) => person(`O${turn}`))
  for (const userId of others) await post(ana, '/blocks', { userId })
  // Rows that were written within one millisecond.
  await sql`update blocks
    set created_at = '2026-01-31T08:00:00Z'::timestamptz + (created_at - date_trunc('milliseconds', created_at))
    where blocker_id = ${ana}`.execute(db)
  const { data: { blocks: first, nextCursor } } = await get(ana, '/blocks?limit=2')
  await del(ana, `/blocks?userId=${first[1].userId}`)
  const { data: { blocks: second } } = await get(ana, `/blocks?limit=2&cursor=${nextCursor}`)
  t.equal(first.length + second.length, others.length)
  t.same(new Set([...first, ...second].map(({ userId }) => userId)), new Set(others))
  t.match(await get(ana, '/blocks?cursor=2026-99-99'), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('a report in social blocks if the reporter wants it, once', async (t) => {
  const [ana, ben] = [person('Ana'), person('Ben')]
  const event = { reportId: randomUUID(), reporterId: ana, reportedId: ben }
  await deliver(handlers, PersonReported.type, { ...event, alsoBlock: false })
  t.same(await blocked(ana), [])
  const id = randomUUID()
  for (let turn = 0; turn < 2; turn++) {
    await deliver(handlers, PersonReported.type, { ...event, alsoBlock: true }, { id })
  }
  t.match(await blocked(ana), [{ userId: ben }])
  await del(ana, `/blocks?userId=${ben}`)
  await deliver(handlers, PersonReported.type, { ...event, alsoBlock: true }, { id })
  t.same(await blocked(ana), [], 'a late repeat does not block again')

  await db.insertInto('departures').values({ account_id: ben, erasure_id: randomUUID() }).execute()
  await deliver(handlers, PersonReported.type, { ...event, alsoBlock: true })
  t.same(await blocked(ana), [], 'nor does a report of somebody who was erased')
})
