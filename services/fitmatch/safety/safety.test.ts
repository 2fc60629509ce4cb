import { access } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import {
  MatchEnded,
  MessageSent,
  PersonBlocked,
  PersonUnblocked,
  ReportResolved,
  SuspensionChanged
} from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, testApp, type Member } from '../test/app.ts'

t.test('safety', async (t) => {
  const {
    get,
    post,
    postOnce,
    put,
    del,
    upload,
    member,
    person,
    createMatch,
    swipe,
    operator,
    publishedEvents,
    db,
    deps,
    folder,
    cdnUrl,
    services
  } = await testApp(t)
  const block = (one: Member, other: Member, reason?: string) =>
    post(one.id, '/fitmatch/block', { blockedProfileId: other.profileId, reason })
  const report = (one: Member, other: Member, reason = 'SPAM', more: object = {}) =>
    post(one.id, '/fitmatch/report', { reportedProfileId: other.profileId, reason, ...more })
  const statusOf = async ({ id }: Member) => (await get(id, '/fitmatch/settings')).data.status
  const idsIn = async ({ id }: Member) =>
    (await get(id, '/fitmatch/discover?limit=50')).data.profiles.map((each: { id: string }) => each.id) as string[]

  t.test('after a block neither finds the other', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const matchId = await createMatch(ana, ben)
    await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { content: 'Hi' })
    t.match(await block(ana, ben, 'Rude'), { status: 200, success: true, message: String })
    t.match(await block(ana, ben), { status: 200 }, 'blocking again has no effect')
    t.strictSame((await publishedEvents(PersonBlocked)).filter(({ blockerId }) => blockerId === ana.id), [{
      blockerId: ana.id,
      blockedId: ben.id
    }])
    t.equal((await publishedEvents(MatchEnded)).filter((each) => each.matchId === matchId).length, 1)
    for (const [one, other] of [[ana, ben], [ben, ana]] as const) {
      t.match(await get(one.id, `/fitmatch/profile/${other.profileId}`), { status: 404, code: 'PROFILE_NOT_FOUND' })
      t.match(await swipe(one, other), { status: 404, code: 'PROFILE_NOT_FOUND' })
      t.match((await get(one.id, '/fitmatch/matches')).data, { totalMatches: 0, newMatches: [], conversations: [] })
      t.match(await get(one.id, `/fitmatch/chat/${matchId}`), { status: 404, code: 'NOT_FOUND' })
      t.match(await get(one.id, `/fitmatch/chat/${matchId}/messages`), { status: 404 })
      t.match(await post(one.id, `/fitmatch/chat/${matchId}/messages`, { content: 'x' }), { status: 404 })
      t.match(await post(one.id, `/fitmatch/chat/${matchId}/read`), { status: 404 })
      t.match(await post(one.id, `/fitmatch/chat/${matchId}/typing`, { isTyping: true }), { status: 404 })
      t.match(await del(one.id, `/fitmatch/chat/${matchId}`), { status: 404 })
      t.match((await get(one.id, '/fitmatch/likes')).data, { count: 0 })
      t.notOk((await idsIn(one)).includes(other.profileId))
    }
    t.match(await block(ben, ana), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.match(await get(ana.id, '/fitmatch/block'), {
      status: 200,
      data: { blockedUsers: [{ profileId: ben.profileId, displayName: 'Ben', reason: 'Rude', blockedAt: String }] }
    })
    t.strictSame((await get(ben.id, '/fitmatch/block')).data, { blockedUsers: [] })
    t.equal(
      (await db.selectFrom('swipes').where('swiper_id', 'in', [ana.id, ben.id]).select('target_id').execute()).length,
      0
    )

    t.match(await del(ben.id, `/fitmatch/block?profileId=${ana.profileId}`), { status: 404, code: 'NOT_FOUND' })
    t.match(await del(ana.id, `/fitmatch/block?profileId=${ben.profileId}`), { status: 200, message: String })
    t.match(await publishedEvents(PersonUnblocked), [{ blockerId: ana.id, blockedId: ben.id }])
    t.match(await get(ana.id, `/fitmatch/chat/${matchId}`), { status: 404 }, 'an ended match stays ended')
    t.ok(await createMatch(ana, ben), 'and the two can match again')
  })

  t.test('a block outlives the profile, on either side', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await block(ana, ben)
    await del(ben.id, '/fitmatch/profile')
    const { data } = await post(ben.id, '/fitmatch/profile', {})
    t.match(await get(ana.id, `/fitmatch/profile/${data.id}`), { status: 404 })
    t.match(await get(ben.id, `/fitmatch/profile/${ana.profileId}`), { status: 404 })
    t.match(await del(ana.id, `/fitmatch/block?profileId=${data.id}`), { status: 200 })
    t.match(await get(ben.id, `/fitmatch/profile/${ana.profileId}`), { status: 200 })
  })

  t.test('messages sent during a block are neither readable nor published later', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const matchId = await createMatch(ana, ben)
    let blocked = false
    const sending = inParallel(40, async (turn) => {
      const after = blocked
      return { after, ...await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { content: String(turn) }) }
    })
    await block(ben, ana)
    blocked = true
    const publishedAtBlock = (await publishedEvents(MessageSent)).length
    const sent = await sending
    t.ok(sent.every(({ status }) => [201, 404].includes(status)))
    t.equal((await publishedEvents(MessageSent)).length, publishedAtBlock)
    t.match(await get(ben.id, `/fitmatch/chat/${matchId}`), { status: 404 })
    t.match(await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { content: 'late' }), { status: 404 })
  })

  t.test('a report blocks, is listed, and keeps its evidence', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const matchId = await createMatch(ana, ben)
    for (let turn = 0; turn < 55; turn++) {
      await post(turn % 2 ? ana.id : ben.id, `/fitmatch/chat/${matchId}/messages`, { content: `m${turn}` })
    }
    const created = await report(ana, ben, 'HARASSMENT', {
      details: ' Insults ',
      evidence: ['https://a.example/1.png']
    })
    t.match(created, {
      status: 201,
      data: {
        report: {
          id: String,
          reportedProfileId: ben.profileId,
          reason: 'HARASSMENT',
          details: 'Insults',
          evidence: ['https://a.example/1.png'],
          status: 'OPEN',
          createdAt: String
        }
      }
    })
    t.strictSame((await get(ana.id, '/fitmatch/report')).data, { reports: [created.data.report] })
    t.match((await get(ana.id, '/fitmatch/block')).data, { blockedUsers: [{ profileId: ben.profileId }] })
    t.equal(await statusOf(ben), 'ACTIVE')
    await del(ben.id, '/fitmatch/profile')
    const { data } = await operator('GET', '/fitmatch/admin/reports')
    const kept = data.reports.find(({ id }: { id: string }) => id === created.data.report.id)
    t.match(kept, {
      reporterId: ana.id,
      reportedId: ben.id,
      profile: { displayName: 'Ben', bio: 'Runs' },
      messages: { length: 50 }
    })
    t.match([kept.messages[0], kept.messages.at(-1)], [{ content: 'm5', senderId: ana.id }, { content: 'm54' }])
  })

  t.test('neither unmatching nor deleting the profile removes evidence for a report', async (t) => {
    const leave: Record<string, (who: Member, matchId: string) => Promise<{ status: number }>> = {
      unmatches: (who, matchId) => del(who.id, `/fitmatch/chat/${matchId}`),
      'deletes the profile': (who) => del(who.id, '/fitmatch/profile'),
      'unmatches and deletes the profile': async (who, matchId) => {
        await del(who.id, `/fitmatch/chat/${matchId}`)
        return await del(who.id, '/fitmatch/profile')
      },
      'recreates the profile': async (who) => {
        await del(who.id, '/fitmatch/profile')
        return { status: (await post(who.id, '/fitmatch/profile')).status - 1 }
      }
    }
    for (const [how, leaves] of Object.entries(leave)) {
      const [ana, ben, eve] = [await member('Ana'), await member('Ben'), await member('Eve')]
      const matchId = await createMatch(ana, ben)
      await post(ben.id, `/fitmatch/chat/${matchId}/messages`, { content: 'Insult' })
      t.match(await leaves(ben, matchId), { status: 200 })
      for (const who of [ana, ben]) {
        t.ok([404].includes((await get(who.id, `/fitmatch/chat/${matchId}`)).status))
        t.ok([404].includes((await get(who.id, `/fitmatch/chat/${matchId}/messages`)).status))
      }
      if (how !== 'unmatches') {
        t.match(
          await report(eve, ben),
          { status: 404, code: 'PROFILE_NOT_FOUND' },
          `for an unrelated person, the profile of someone who ${how} no longer exists`
        )
      }
      const { status, data } = await report(ana, ben, 'HARASSMENT')
      t.equal(status, 201, `a person who ${how} can be reported`)
      const { data: { reports } } = await operator('GET', '/fitmatch/admin/reports?limit=50')
      t.match(reports.find(({ id }: { id: string }) => id === data.report.id), {
        reportedId: ben.id,
        reportedProfileId: ben.profileId,
        profile: { id: ben.profileId, displayName: 'Ben', photos: [{}, {}] },
        messages: [{ content: 'Insult', senderId: ben.id }]
      })
    }
  })

  t.test('a profile that was deleted while it was matched is erased after 30 days, with its photos', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const isKept = async (url: string) =>
      await access(path.join(folder, 'media', new URL(url).pathname.slice(new URL(cdnUrl).pathname.length + 1))).then(
        () => true,
        () => false
      )
    const photoOf = async ({ id }: Member) =>
      (await upload(id, '/fitmatch/photos', 'file', createPng())).data.photo.url as string
    const [mine, theirs] = [await photoOf(ana), await photoOf(ben)]
    await createMatch(ana, ben)
    await del(ben.id, '/fitmatch/profile')
    t.ok(await isKept(theirs))
    const endedDaysAgo = async (days: number) => {
      const at = new Date(Date.now() - days * 86_400_000)
      await db.updateTable('deleted_profiles').set({ deleted_at: at }).where('id', '=', ben.profileId).execute()
      await db.updateTable('matches').set({ ended_at: at }).where('low_id', 'in', [ana.id, ben.id]).execute()
      await runHousekeeping(deps)
    }
    await endedDaysAgo(29.9)
    t.match(await report(ana, ben), { status: 201 })
    t.ok(await isKept(theirs))
    await endedDaysAgo(30.1)
    t.match(await report(ana, ben), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.ok(await isKept(theirs), 'except files that a report retains')
    await del(ana.id, '/fitmatch/profile')
    t.notOk(await isKept(mine), 'and immediately without matches')
  })

  t.test('a paused or suspended profile can be blocked and reported', async (t) => {
    const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
    await put(ben.id, '/fitmatch/settings', { status: 'PAUSED' })
    t.match(await block(ana, ben), { status: 200 })
    t.match(await report(cleo, ben, 'UNDERAGE'), { status: 201 })
    t.equal(await statusOf(ben), 'SUSPENDED')
    t.match(await report(await member('Dan'), ben), { status: 201 })
    t.match(await block(await member('Eve'), ben), { status: 200 })
  })

  t.test('a reporter with a resolved report cannot suspend the same person again', async (t) => {
    const ben = await member('Ben')
    const [ana, ...others] = await inParallel(3, (turn) => member(`S${turn}`)) as [Member, Member, Member]
    for (const each of others) await report(each, ben)
    const { data } = await report(ana, ben, 'UNDERAGE')
    t.equal(await statusOf(ben), 'SUSPENDED')
    await operator('POST', `/fitmatch/admin/reports/${data.report.id}/resolve`, { action: 'RESTORE' })
    for (const each of [ana, ...others]) t.match(await report(each, ben, 'UNDERAGE'), { status: 201 })
    t.equal(await statusOf(ben), 'ACTIVE')
    t.match(await report(await member('New'), ben, 'UNDERAGE'), { status: 201 })
    t.equal(await statusOf(ben), 'SUSPENDED')
  })

  t.test('a report is created once under an idempotency key', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const send = () => postOnce(ana.id, 'r', '/fitmatch/report', { reportedProfileId: ben.profileId, reason: 'SPAM' })
    const responses = await inParallel(4, send)
    t.equal(new Set(responses.map(({ data }) => data.report.id)).size, 1)
    t.equal((await get(ana.id, '/fitmatch/report')).data.reports.length, 1)
  })

  t.test('the chat of blocked people is erased after 30 days, except images that a report retains', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const matchId = await createMatch(ana, ben)
    const send = async (who: Member) =>
      (await post(who.id, `/fitmatch/chat/${matchId}/messages`, {
        image: { base64: createPng().toString('base64'), mimeType: 'image/png' }
      })).data.message.imageUrl as string
    const [mine, theirs] = [await send(ana), await send(ben)]
    const isKept = async (url: string) =>
      await access(path.join(folder, 'media', new URL(url).pathname.slice(new URL(cdnUrl).pathname.length + 1))).then(
        () => true,
        () => false
      )
    await report(ana, ben, 'HARASSMENT')
    const ended = async (ago: number) => {
      await db.updateTable('matches').set({ ended_at: new Date(Date.now() - ago) }).where('id', '=', matchId).execute()
      await runHousekeeping(deps)
      return (await db.selectFrom('messages').where('match_id', '=', matchId).select('id').execute()).length
    }
    t.equal(await ended(29.9 * 86_400_000), 2)
    t.equal(await ended(30.1 * 86_400_000), 0)
    t.strictSame([await isKept(mine), await isKept(theirs)], [false, true])
  })

  t.test('reports by three people suspend an account, repeated reports by one do not', async (t) => {
    const ben = await member('Ben')
    const [ana, ...others] = await inParallel(4, (turn) => member(`R${turn}`)) as [Member, Member, Member, Member]
    for (let turn = 0; turn < 4; turn++) t.match(await report(ana, ben), { status: 201 })
    t.match(await report(others[0], ben), { status: 201 })
    t.equal(await statusOf(ben), 'ACTIVE')
    t.match(await report(others[1], ben), { status: 201 })
    t.equal(await statusOf(ben), 'SUSPENDED')
    t.match((await publishedEvents(SuspensionChanged)).filter(({ accountId }) => accountId === ben.id), [{
      accountId: ben.id,
      suspended: true,
      automatedCaseId: String
    }])

    const dan = await member('Dan')
    const reporters = await inParallel(3, (turn) => member(`P${turn}`))
    await Promise.all(reporters.map((each) => report(each, dan)))
    t.equal(await statusOf(dan), 'SUSPENDED', 'also when they report at the same instant')
  })

  t.test('only an operator lifts a suspension, and it outlives the profile', async (t) => {
    const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
    const matchId = await createMatch(ben, cleo)
    t.match(await report(ana, ben, 'UNDERAGE'), { status: 201 })
    t.equal(await statusOf(ben), 'SUSPENDED')
    const refused = [
      get(ben.id, '/fitmatch/discover'),
      swipe(ben, cleo),
      get(ben.id, '/fitmatch/matches'),
      get(ben.id, `/fitmatch/chat/${matchId}`),
      get(ben.id, '/fitmatch/likes'),
      get(ben.id, `/fitmatch/chat/${matchId}/messages`),
      post(ben.id, `/fitmatch/chat/${matchId}/messages`, { content: 'Hi' }),
      get(ben.id, `/fitmatch/profile/${cleo.profileId}`),
      post(ben.id, `/fitmatch/chat/${matchId}/read`),
      post(ben.id, `/fitmatch/chat/${matchId}/typing`, { isTyping: true }),
      del(ben.id, `/fitmatch/chat/${matchId}`),
      put(ben.id, '/fitmatch/settings', { status: 'ACTIVE' }),
      put(ben.id, '/fitmatch/settings', { status: 'PAUSED' })
    ]
    for (const each of refused) t.match(await each, { status: 403, code: 'PROFILE_SUSPENDED' })
    t.match(await get(cleo.id, `/fitmatch/profile/${ben.profileId}`), { status: 404 })
    t.match(await get(cleo.id, `/fitmatch/chat/${matchId}`), { status: 404 })
    t.match((await get(cleo.id, '/fitmatch/matches')).data, { totalMatches: 0 })
    t.match(await get(ben.id, '/fitmatch/profile'), { data: { status: 'SUSPENDED' } })

    await del(ben.id, '/fitmatch/profile')
    t.match(await post(ben.id, '/fitmatch/profile', {}), { status: 201, data: { status: 'SUSPENDED' } })
    t.match(await get(ben.id, '/fitmatch/discover'), { status: 403, code: 'PROFILE_SUSPENDED' })

    const { data: { reports } } = await get(ana.id, '/fitmatch/report')
    t.match(
      await operator('POST', `/fitmatch/admin/reports/${reports[0].id}/resolve`, {
        action: 'RESTORE',
        note: 'Showed an ID card'
      }),
      { status: 200, message: String }
    )
    t.equal(await statusOf(ben), 'ACTIVE')
    t.match((await publishedEvents(ReportResolved)).at(-1), {
      reportId: reports[0].id,
      reporterId: ana.id,
      action: 'RESTORE'
    })
    t.match((await publishedEvents(SuspensionChanged)).at(-1), { accountId: ben.id, suspended: false })
    t.match((await get(ana.id, '/fitmatch/report')).data, { reports: [{ status: 'RESOLVED', state: 'NO_VIOLATION' }] })
  })

  t.test('operators see urgent reports first, and their decisions are logged', async (t) => {
    const reporters = await inParallel(4, (turn) => member(`Q${turn}`)) as [Member, Member, Member, Member]
    const [ben, cleo] = [await member('Ben'), await member('Cleo')]
    const first = (await report(reporters[0], ben)).data.report.id
    const second = (await report(reporters[1], ben)).data.report.id
    const urgent = (await report(reporters[0], cleo, 'UNDERAGE')).data.report.id
    const ids: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { data } = await operator('GET', `/fitmatch/admin/reports?limit=2${cursor && `&cursor=${cursor}`}`)
      ids.push(...data.reports.map(({ id }: { id: string }) => id))
      cursor = data.nextCursor
    }
    t.equal(new Set(ids).size, ids.length)
    t.ok(ids.indexOf(urgent) < ids.indexOf(first) && ids.indexOf(first) < ids.indexOf(second))

    const resolve = (id: string, body: object) => operator('POST', `/fitmatch/admin/reports/${id}/resolve`, body)
    t.match(await resolve(first, { action: 'DISMISS' }), { status: 200 })
    await report(reporters[2], ben)
    t.equal(await statusOf(ben), 'ACTIVE', 'dismissed reports do not count')
    t.match(await resolve(second, { action: 'SUSPEND', note: 'Seen it' }), { status: 200 })
    t.equal(await statusOf(ben), 'SUSPENDED')
    await resolve(second, { action: 'RESTORE' })
    await report(reporters[3], ben)
    t.equal(await statusOf(ben), 'ACTIVE', 'nor do resolved reports')
    t.match(
      await db.selectFrom('audit_log').where('account_id', '=', ben.id).select(['action', 'note', 'subject_id'])
        .orderBy('id').execute(),
      [
        { action: 'REPORT_DISMISS', note: null, subject_id: first },
        { action: 'REPORT_SUSPEND', note: 'Seen it' },
        { action: 'REPORT_RESTORE' }
      ]
    )
    t.match(await resolve('garbage', { action: 'DISMISS' }), { status: 404, code: 'NOT_FOUND' })
    t.match(await resolve(first, { action: 'DELETE' }), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await operator('GET', '/fitmatch/admin/reports?status=OLD'), { status: 400 })
    const ana = reporters[0].id
    t.match(await get(ana, '/fitmatch/admin/reports'), { status: 403, code: 'FORBIDDEN' })
    t.match(await post(ana, `/fitmatch/admin/reports/${first}/resolve`, { action: 'RESTORE' }), {
      status: 403,
      code: 'FORBIDDEN'
    })
  })

  t.test('blocking first does not prevent the other person from reporting', async (t) => {
    const [ana, ben, eve] = [await member('Ana'), await member('Ben'), await member('Eve')]
    await createMatch(ana, ben)
    await block(ben, ana)
    t.match(await report(ana, ben, 'HARASSMENT'), { status: 201 })
    await block(ben, eve)
    t.match(await report(eve, ben), { status: 404, code: 'PROFILE_NOT_FOUND' }, 'an unrelated person learns nothing')
  })

  t.test('reports are limited to ten a day, and invalid ones are rejected', async (t) => {
    const ana = await member('Ana')
    const others = await inParallel(12, (turn) => member(`O${turn}`))
    for (
      const body of [{ reason: 'SPAM' }, { reportedProfileId: ana.profileId, reason: 'SPAM' }, {
        reportedProfileId: others[0]?.profileId,
        reason: 'BORING'
      }, { reportedProfileId: others[0]?.profileId, reason: 'SPAM', evidence: ['javascript:alert(1)'] }]
    ) {
      t.match(await post(ana.id, '/fitmatch/report', body), { status: 400, code: 'VALIDATION_ERROR' })
    }
    t.match(await post(ana.id, '/fitmatch/block', { blockedProfileId: ana.profileId }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
    t.match(await post(ana.id, '/fitmatch/block', { blockedProfileId: 'garbage' }), {
      status: 404,
      code: 'PROFILE_NOT_FOUND'
    })
    t.match(await post(ana.id, '/fitmatch/report', { reportedProfileId: 'garbage', reason: 'SPAM' }), {
      status: 404,
      code: 'PROFILE_NOT_FOUND'
    })
    const responses = await Promise.all(others.map((each) => report(ana, each)))
    t.equal(responses.filter(({ status }) => status === 201).length, 10)
    t.match(responses.find(({ status }) => status !== 201), { status: 429, code: 'LIMIT_EXCEEDED' })
    t.strictSame((await get(person('Nobody'), '/fitmatch/report')).data, { reports: [] })
  })

  t.test('responses to blocks and matches wait until social has consumed the event, but only for a moment', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    t.teardown(() => {
      delete services.connection
    })
    let calls = 0
    const knownAfterCalls = (times: number, connection: { isMatched: boolean, hasBlocked: boolean }) => {
      calls = 0
      services.connection = () =>
        ++calls > times ? connection : { isMatched: !connection.isMatched, hasBlocked: !connection.hasBlocked }
    }
    knownAfterCalls(2, { isMatched: true, hasBlocked: false })
    await createMatch(ana, ben)
    t.equal(calls, 3)
    knownAfterCalls(2, { isMatched: false, hasBlocked: true })
    t.match(await block(ana, ben), { status: 200 })
    t.equal(calls, 3)
    knownAfterCalls(1, { isMatched: false, hasBlocked: false })
    t.match(await del(ana.id, `/fitmatch/block?profileId=${ben.profileId}`), { status: 200 })
    t.equal(calls, 2)
    knownAfterCalls(1, { isMatched: false, hasBlocked: true })
    t.match(await report(ana, ben), { status: 201 })
    t.equal(calls, 2)

    knownAfterCalls(Infinity, { isMatched: false, hasBlocked: true })
    t.match(await block(ben, await member('Cleo')), { status: 200 })
    t.ok(calls > 1 && calls <= 100, 'polls for half a second')
  })
})
