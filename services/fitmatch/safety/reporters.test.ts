import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { AccountVerified, SuspensionChanged, SuspensionContinued } from '@tandem/contracts'
import { runHousekeeping } from '../housekeeping.ts'
import { recheckRecentReporters } from './reporters.ts'
import { inParallel, testApp, type Member } from '../test/app.ts'

t.test('reporters', async (t) => {
  const { get, post, member, person, operator, publishedEvents, deps, handlers, services } = await testApp(t)
  const report = (reporterId: string, { profileId }: Member, reason = 'SPAM') =>
    post(reporterId, '/fitmatch/report', { reportedProfileId: profileId, reason })
  const statusOf = async ({ id }: Member) => (await get(id, '/fitmatch/settings')).data.status
  const verify = async (accountId: string) => {
    services.unverified.delete(accountId)
    await deliver(handlers, AccountVerified.type, { accountId })
  }
  /** An account that has just registered, without a profile. */
  const throwaway = () => {
    const accountId = person('Eve')
    services.unverified.add(accountId)
    return accountId
  }
  const openOn = async ({ id }: Member) =>
    (await operator('GET', '/fitmatch/admin/reports?limit=50')).data.reports
      .filter(({ reportedId }: { reportedId: string }) => reportedId === id).length

  t.test('a suspension goes on in a new account, before and after it has a profile', async (t) => {
    const [ben, eva] = [await member('Ben'), person('Eva')]
    for (const accountId of [ben.id, eva, eva]) await deliver(handlers, SuspensionContinued.type, { accountId })
    t.equal(await statusOf(ben), 'SUSPENDED')
    t.equal((await post(eva, '/fitmatch/profile')).data?.status ?? 'SUSPENDED', 'SUSPENDED')
    t.equal((await get(eva, '/fitmatch/settings')).data.status, 'SUSPENDED')
    const changes = (await publishedEvents(SuspensionChanged)).filter(({ accountId }) => accountId === eva)
    t.same(changes, [{ accountId: eva, suspended: true }], 'published once')
  })

  t.test('without a verified email address suspend nobody, but operators see their reports', async (t) => {
    const ben = await member('Ben')
    for (const reason of ['UNDERAGE', 'SPAM', 'HARASSMENT', 'UNDERAGE']) {
      t.match(await report(throwaway(), ben, reason), { status: 201, data: { report: { status: 'OPEN', reason } } })
    }
    t.equal(await statusOf(ben), 'ACTIVE')
    t.equal(await openOn(ben), 4)
    for (const turn of [1, 2]) t.match(await report((await member(`R${turn}`)).id, ben), { status: 201 })
    t.equal(await statusOf(ben), 'ACTIVE', 'two reporters that count are not enough')
    t.match(await report((await member('R3')).id, ben), { status: 201 })
    t.equal(await statusOf(ben), 'SUSPENDED')
  })

  t.test('count from the moment their email address is verified, despite late and repeated events', async (t) => {
    const [ben, cleo] = [await member('Ben'), await member('Cleo')]
    const [ana, eve] = [throwaway(), throwaway()]
    await report(ana, ben, 'UNDERAGE')
    await report(eve, cleo, 'SPAM')
    for (let turn = 0; turn < 2; turn++) for (const each of [ana, eve]) await verify(each)
    t.equal(await statusOf(ben), 'SUSPENDED')
    t.equal(await statusOf(cleo), 'ACTIVE')
    t.match((await publishedEvents(SuspensionChanged)).filter(({ accountId }) => accountId === ben.id), { length: 1 })

    const { data: { reports: [own] } } = await get(ana, '/fitmatch/report')
    await operator('POST', `/fitmatch/admin/reports/${own.id}/resolve`, { action: 'RESTORE' })
    await verify(ana)
    t.equal(await statusOf(ben), 'ACTIVE', 'a resolved report stays resolved')
  })

  t.test('count once, whether the report or the verification comes first', async (t) => {
    for (let round = 0; round < 15; round++) {
      const [ben, ana] = [await member('Ben'), throwaway()]
      services.unverified.add(ana)
      const [created] = await Promise.all([
        report(ana, ben, 'UNDERAGE'),
        deliver(handlers, AccountVerified.type, { accountId: ana })
      ])
      t.equal(created.status, 201)
      t.equal(await statusOf(ben), 'SUSPENDED')
    }
  })

  t.test('do not deadlock when they report each other in a ring', async (t) => {
    for (let round = 0; round < 6; round++) {
      const ring = await inParallel(3, (turn) => member(`M${turn}`))
      const responses = await Promise.all(
        ring.map(({ id }, index) => report(id, ring[(index + 1) % 3] ?? ring[0] as Member))
      )
      t.strictSame(responses.map(({ status }) => status), [201, 201, 201])
    }
  })

  t.test('are checked again after identity was unavailable', async (t) => {
    const ben = await member('Ben')
    const ana = person('Ana')
    services.areUnavailable = true
    t.match(await report(ana, ben, 'UNDERAGE'), { status: 201 })
    await t.rejects(recheckRecentReporters(deps))
    t.equal(await statusOf(ben), 'ACTIVE')
    services.areUnavailable = false
    await runHousekeeping(deps)
    t.equal(await statusOf(ben), 'SUSPENDED')
  })
})
