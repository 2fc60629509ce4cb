import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { BuddyAccepted, BuddyRequested, BuddyRequestWithdrawn, PersonChanged } from '@tandem/contracts'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { runHousekeeping } from '../housekeeping.ts'
import { withUsers } from '../people/lookup.ts'
import { setSuspended } from '../safety/suspensions.ts'
import { plan as somePlan } from '../test/activities.ts'
import { inParallel, testApp, type Member } from '../test/app.ts'

t.test('sport buddies', async (t) => {
  const {
    get,
    post,
    postOnce,
    del,
    member,
    createMatch,
    person,
    operator,
    publishedEvents,
    db,
    deps,
    handlers,
    services,
    folder
  } = await testApp(t)
  const follows = new Set<string>()
  const followEachOther = (one: { id: string }, other: { id: string }) =>
    follows.add(`${one.id} ${other.id}`).add(`${other.id} ${one.id}`)
  services.connection = ({ accountId, otherId }) => ({
    isMatched: false,
    hasBlocked: false,
    isFollower: follows.has(`${otherId} ${accountId}`),
    isFollowing: follows.has(`${accountId} ${otherId}`)
  })
  const ask = (one: { id: string }, other: { id: string }, sport = 'badminton') =>
    post(one.id, '/buddies/requests', { userId: other.id, sport })
  const respond = (one: Member, requestId: string, accept: boolean) =>
    post(one.id, `/buddies/requests/${requestId}/respond`, { accept })
  const box = async (one: Member, name: 'in' | 'out') =>
    (await get(one.id, `/buddies/requests?box=${name}`)).data.requests as { id: string, user: { id: string } }[]
  const buddiesOf = async (one: Member) =>
    ((await get(one.id, '/buddies')).data.buddies as { user: { id: string } }[]).map(({ user }) => user.id)
  const two = async () => {
    const [ana, ben] = [await member('Ana'), await member('Ben')] as const
    followEachOther(ana, ben)
    return [ana, ben] as const
  }
  const eventsOf = async (event: { type: string }, one: { id: string }) =>
    (await publishedEvents(event)).filter(({ fromAccountId }) => fromAccountId === one.id)
  const makeBuddies = async (ana: Member, ben: Member) => {
    await ask(ana, ben)
    await ask(ben, ana)
  }

  t.test('a request is shown to both, published once, and accepted', async (t) => {
    const [ana, ben] = await two()
    const asked = await ask(ana, ben)
    const request = { user: { id: ben.id, name: 'Ben' }, sport: 'badminton', status: 'PENDING', createdAt: String }
    t.match(asked, { status: 201, data: { request } })
    const { id } = asked.data.request
    t.match(await ask(ana, ben, 'running'), { status: 201, data: { request: { id, sport: 'badminton' } } }, 'a repeat')
    t.match(await box(ana, 'out'), [{ id, ...request }])
    t.match(await box(ben, 'in'), [{ id, user: { id: ana.id, name: 'Ana', image: null }, status: 'PENDING' }])
    t.same(await box(ana, 'in'), [])
    t.same(await eventsOf(BuddyRequested, ana), [{
      requestId: id,
      fromAccountId: ana.id,
      toAccountId: ben.id,
      sport: 'badminton'
    }])

    t.match(await respond(ana, id, true), { status: 404, code: 'NOT_FOUND' }, 'the sender cannot accept')
    t.match(await respond(ben, id, true), { status: 200, data: { request: { id, status: 'ACCEPTED' } } })
    t.match(await respond(ben, id, true), { status: 200, data: { request: { status: 'ACCEPTED' } } }, 'a retry')
    t.match(await respond(ben, id, false), { status: 404 })
    t.match(await eventsOf(BuddyAccepted, ana), [{ requestId: id, toAccountId: ben.id, sport: 'badminton' }])
    t.equal((await eventsOf(BuddyAccepted, ana)).length, 1)
    t.match((await get(ben.id, '/buddies')).data, {
      buddies: [{ user: { id: ana.id, name: 'Ana' }, sport: 'badminton', since: String }],
      nextCursor: null
    })
    t.same(await buddiesOf(ana), [ben.id])
    t.same([await box(ana, 'out'), await box(ben, 'in')], [[], []])
    for (const [one, other] of [[ana, ben], [ben, ana]] as const) {
      t.match(await ask(one, other), { status: 409, code: 'ALREADY_BUDDIES' })
    }
  })

  t.test('opposite requests accept each other, also at the same instant', async (t) => {
    for (const turn of Array.from({ length: 10 }, (_, index) => index)) {
      const [ana, ben] = await two()
      const responses = await Promise.all([ask(ana, ben), ask(ben, ana)])
      t.strictSame(responses.map(({ status }) => status), [201, 201], `round ${turn}`)
      t.strictSame(new Set(responses.map(({ data }) => data.request.status)), new Set(['PENDING', 'ACCEPTED']))
      const accepted = [...await eventsOf(BuddyAccepted, ana), ...await eventsOf(BuddyAccepted, ben)]
      t.equal(accepted.length, 1)
      t.strictSame([await buddiesOf(ana), await buddiesOf(ben)], [[ben.id], [ana.id]])
    }
  })

  t.test('a refusal is never shown, and holds for 90 days whatever the sender does', async (t) => {
    const [ana, ben] = await two()
    const { id } = (await ask(ana, ben)).data.request
    t.match(await respond(ben, id, false), { status: 200, data: { request: null } })
    t.same(await box(ben, 'in'), [])
    t.match(await box(ana, 'out'), [{ id, status: 'PENDING' }])
    t.match(await ask(ana, ben), { status: 201, data: { request: { id, status: 'PENDING' } } })
    t.match(await del(ana.id, `/buddies/requests/${id}`), { status: 200 })
    const again = await ask(ana, ben)
    t.match(again, { status: 201, data: { request: { status: 'PENDING' } } })
    t.same(await box(ben, 'in'), [], 'the refusal still holds')
    t.equal((await eventsOf(BuddyRequested, ana)).length, 1)

    await sql`update buddy_requests set created_at = now() - interval '91 days' where from_id = ${ana.id}`.execute(db)
    t.same(await box(ana, 'out'), [])
    t.match(await ask(ana, ben), { status: 201 }, 'an expired request does not block a new one')
    t.same(await box(ben, 'in'), [])
    t.match(await ask(ben, ana), { data: { request: { status: 'ACCEPTED' } } }, 'who refused can change their mind')
  })

  t.test('after 90 days a refusal is over, and requests expire', async (t) => {
    const [ana, ben] = await two()
    const { id } = (await ask(ana, ben)).data.request
    await respond(ben, id, false)
    await sql`update buddy_refusals set refused_at = now() - interval '91 days' where from_id = ${ana.id}`.execute(db)
    await sql`update buddy_requests set created_at = now() - interval '91 days' where id = ${id}`.execute(db)
    t.match(await respond(ben, id, true), { status: 404 }, 'an expired request cannot be answered')
    t.match(await del(ana.id, `/buddies/requests/${id}`), { status: 404 })
    await runHousekeeping(deps)
    t.same(await db.selectFrom('buddy_requests').where('id', '=', id).select('id').execute(), [])
    t.same(await db.selectFrom('buddy_refusals').where('from_id', '=', ana.id).select('to_id').execute(), [])
    await ask(ana, ben)
    t.match(await box(ben, 'in'), [{ user: { id: ana.id } }])
  })

  t.test('only people who follow one of the two can be asked, and the answer says no more', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    t.match(await ask(ana, ben), { status: 403, code: 'CANNOT_INVITE' })
    follows.add(`${ben.id} ${ana.id}`)
    t.match(await ask(ana, ben), { status: 201 }, 'a follower')
    const cleo = await member('Cleo')
    follows.add(`${ana.id} ${cleo.id}`)
    t.match(await ask(ana, cleo), { status: 201 }, 'somebody the caller follows')
    t.match(await ask(cleo, ana), { status: 201 }, 'who was asked needs no follow')

    t.match(await ask(ana, { id: randomUUID() }), { status: 404, code: 'NOT_FOUND' })
    t.match(await ask(ana, ana), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await post(ana.id, '/buddies/requests', { userId: 'garbage', sport: 'badminton' }), { status: 404 })
    t.match(await ask(ana, ben, 'dancing with bears'), { status: 400, code: 'VALIDATION_ERROR' })
    const dan = await member('Dan')
    services.areUnavailable = true
    t.match(await ask(ana, dan), { status: 503, code: 'SERVICE_UNAVAILABLE' })
    services.areUnavailable = false
  })

  t.test('whether somebody uses FitMatch is not revealed: they are asked when they can answer', async (t) => {
    const ana = await member('Ana')
    const minor = await member('Mia', { fields: { birthDate: '1990-01-01' } })
    await sql`update profiles set birth_date = current_date - 6000 where account_id = ${minor.id}`.execute(db)
    const others = { nobody: { id: person('Nia') }, minor }
    for (const [name, other] of Object.entries(others)) {
      followEachOther(ana, other)
      t.match(await ask(ana, other), { status: 201, data: { request: { status: 'PENDING' } } }, name)
      t.match(await ask(other, ana), { status: name === 'minor' ? 403 : 404 }, `${name} cannot accept`)
    }
    t.same(await eventsOf(BuddyRequested, ana), [])
    t.equal((await post(others.nobody.id, '/fitmatch/profile')).status, 201)
    t.match((await get(others.nobody.id, '/buddies/requests')).data.requests, [{ user: { id: ana.id } }])
  })

  t.test('people without a profile, a birth date or 18 years, and suspended ones, neither ask nor answer', async (t) => {
    const [ana, ben] = await two()
    const { id } = (await ask(ben, ana)).data.request
    const setBirth = async (date: string) =>
      await sql`update profiles set birth_date = ${sql.raw(date)} where account_id = ${ana.id}`.execute(db)
    const checkAll = async (expected: object) => {
      t.match(await ask(ana, ben), expected)
      t.match(await respond(ana, id, true), expected)
    }
    await setBirth(`(current_date - interval '18 years' + interval '1 day')::date`)
    await checkAll({ status: 403, code: 'AGE_RESTRICTED' })
    await setBirth('null')
    await checkAll({ status: 403, code: 'AGE_RESTRICTED' })
    const nobody = person('Nia')
    followEachOther({ id: nobody }, ben)
    t.match(await ask({ id: nobody }, ben), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.match(await get(nobody, '/buddies'), { status: 404, code: 'PROFILE_NOT_FOUND' })
    await db.updateTable('profiles').set({ suspended: true }).where('account_id', '=', ana.id).execute()
    await checkAll({ status: 403, code: 'PROFILE_SUSPENDED' })
    t.match(await get(ana.id, '/buddies'), { status: 403, code: 'PROFILE_SUSPENDED' })
    t.same(await eventsOf(BuddyAccepted, ben), [])
  })

  t.test('20 requests a day, exactly, and repeats are free', async (t) => {
    const ana = await member('Ana')
    const others = await inParallel(24, async (turn) => ({ id: person(`P${turn}`) }))
    for (const other of others) followEachOther(ana, other)
    const responses = await Promise.all(others.map((other) => ask(ana, other)))
    t.equal(responses.filter(({ status }) => status === 201).length, 20)
    t.equal(responses.filter(({ code }) => code === 'LIMIT_EXCEEDED').length, 4)
    const accepted = others[responses.findIndex(({ status }) => status === 201)]!
    t.match(await ask(ana, accepted), { status: 201 })

    const first = (await get(ana.id, '/buddies/requests?box=out&limit=15')).data
    const second = (await get(ana.id, `/buddies/requests?box=out&limit=15&cursor=${first.nextCursor}`)).data
    t.strictSame([first.requests.length, second.requests.length, second.nextCursor], [15, 5, null])
    const dan = await member('Dan')
    followEachOther(ana, dan)
    await ask(dan, ana)
    t.match(await ask(ana, dan), { status: 201, data: { request: { status: 'ACCEPTED' } } }, 'accepting is free')
  })

  t.test('the same Idempotency-Key gets the same response', async (t) => {
    const [ana, ben] = await two()
    const send = () => postOnce(ana.id, 'key-1', '/buddies/requests', { userId: ben.id, sport: 'badminton' })
    const [one, other] = [await send(), await send()]
    t.match([one.status, other.status], [201, 201])
    t.strictSame(one.data, other.data)
  })

  t.test('a withdrawn request cannot be answered, and its notification is withdrawn', async (t) => {
    const [ana, ben] = await two()
    const { id } = (await ask(ana, ben)).data.request
    t.match(await del(ben.id, `/buddies/requests/${id}`), { status: 404 }, 'only by its sender')
    t.match(await del(ana.id, `/buddies/requests/${id}`), { status: 200, success: true })
    t.match(await del(ana.id, `/buddies/requests/${id}`), { status: 404, code: 'NOT_FOUND' })
    t.match(await respond(ben, id, true), { status: 404, code: 'NOT_FOUND' })
    t.same(await eventsOf(BuddyRequestWithdrawn, ana), [{
      requestId: id,
      fromAccountId: ana.id,
      toAccountId: ben.id
    }])
  })

  t.test('either of the two ends being buddies, and both can ask again', async (t) => {
    const [ana, ben] = await two()
    await makeBuddies(ana, ben)
    t.match(await del(ben.id, `/buddies/${ana.id}`), { status: 200, success: true })
    t.match(await del(ana.id, `/buddies/${ben.id}`), { status: 404, code: 'NOT_FOUND' })
    t.same([await buddiesOf(ana), await buddiesOf(ben)], [[], []])
    t.match(await ask(ana, ben), { status: 201, data: { request: { status: 'PENDING' } } })
  })

  t.test('buddies can invite each other, and open invitations end with it unless a follow connects them', async (t) => {
    const [ana, ben] = await two()
    await makeBuddies(ana, ben)
    follows.clear()
    const date = Temporal.Now.plainDateISO('Asia/Jakarta').add({ days: 3 }).toString()
    const plan = { sport: 'running', date, startTime: '18:00', endTime: '19:00', locationName: 'Gate 5' }
    const invite = async (host: Member, guest: Member) =>
      await post(host.id, '/activities', { ...plan, userIds: [guest.id] })
    const invitationsOf = async (one: Member) =>
      (await get(one.id, '/activities?filter=invitations')).data.activities.length as number
    t.match(await invite(ana, ben), { status: 201 })
    t.match(await invite(ben, ana), { status: 201 })
    t.same([await invitationsOf(ana), await invitationsOf(ben)], [1, 1])
    follows.add(`${ben.id} ${ana.id}`)
    t.match(await del(ana.id, `/buddies/${ben.id}`), { status: 200 })
    t.same([await invitationsOf(ana), await invitationsOf(ben)], [0, 1], 'Ben still follows Ana')
    t.match(await invite(ben, ana), { status: 403, code: 'CANNOT_INVITE' })
  })

  t.test('people who have finished an activity together can ask each other', async (t) => {
    const [ana, ben] = await two()
    await makeBuddies(ana, ben)
    const date = Temporal.Now.plainDateISO('Asia/Jakarta').add({ days: 3 }).toString()
    const plan = { sport: 'running', date, startTime: '18:00', endTime: '19:00', locationName: 'Gate 5' }
    const { data: { activity } } = await post(ana.id, '/activities', { ...plan, userIds: [ben.id] })
    t.match(await post(ben.id, `/activities/${activity.id}/respond`, { accept: true, version: 1 }), { status: 200 })
    await del(ana.id, `/buddies/${ben.id}`)
    follows.clear()
    t.match(await ask(ben, ana), { status: 403 }, 'not before it is over')
    await db.updateTable('activities').set({ status: 'FINISHED' }).where('id', '=', activity.id).execute()
    t.match(await ask(ben, ana), { status: 201 })
  })

  t.test('people who trained together ask each other by profile, and see no account until both agree', async (t) => {
    const [ana, ben, cleo] = [...await two(), await member('Cleo')]
    const matchId = await createMatch(ana, ben)
    follows.clear()
    t.match(
      await ask(ana, { id: ben.profileId }),
      { status: 403, code: 'CANNOT_INVITE' },
      'a match alone is not enough'
    )
    const { data: { activity } } = await post(ana.id, '/activities', somePlan({ profileIds: [ben.profileId] }))
    await post(ben.id, `/activities/${activity.id}/respond`, { accept: true, version: 1 })
    await db.updateTable('activities').set({ status: 'FINISHED' }).where('id', '=', activity.id).execute()
    const sees = async (who: Member) =>
      JSON.stringify([
        await box(who, 'out'),
        await get(who.id, `/fitmatch/chat/${matchId}`),
        await deps.erasure.readPersonalData({ accountId: who.id, after: null })
      ])
    t.match(await ask(ana, { id: ben.profileId }), {
      status: 201,
      data: { request: { user: { id: ben.profileId, name: 'Ben' } } }
    })
    t.notOk((await sees(ana)).includes(ben.id))
    const [request] = (await get(ben.id, '/buddies/requests')).data.requests
    t.match(request.user, { id: ana.id }, 'who asks shows who they are')
    await respond(ben, request.id, true)
    t.match((await get(ana.id, '/buddies')).data.buddies, [{ user: { id: ben.id } }])
    followEachOther(ana, cleo)
    t.match(await ask(ana, { id: cleo.profileId }), { status: 403 }, 'a follow would say whose profile it is')
  })

  t.test('a block ends everything between the two, in either direction', async (t) => {
    for (const blocks of ['sender', 'receiver'] as const) {
      const [ana, ben] = await two()
      const cleo = await member('Cleo')
      followEachOther(ana, cleo)
      await makeBuddies(ana, cleo)
      const { id } = (await ask(ana, ben)).data.request
      const [blocker, blocked] = blocks === 'sender' ? [ana, ben] : [ben, ana]
      await post(blocker.id, '/fitmatch/block', { blockedProfileId: blocked.profileId })
      for (const [one, other] of [[ana, ben], [ben, ana]] as const) {
        t.match(await ask(one, other), { status: 404, code: 'NOT_FOUND' })
        t.match(await respond(one, id, true), { status: 404 })
        t.same([await box(one, 'in'), await box(one, 'out')], [[], []])
      }
      t.same(await buddiesOf(ana), [cleo.id], 'other buddies stay')
      await post(ana.id, '/fitmatch/block', { blockedProfileId: cleo.profileId })
      t.same([await buddiesOf(ana), await buddiesOf(cleo)], [[], []])
    }
  })

  t.test('a block and an acceptance at once never leave buddies', async (t) => {
    // A block waits half a second for social, which does not run here.
    await inParallel(20, async () => {
      const [ana, ben] = await two()
      const { id } = (await ask(ana, ben)).data.request
      await Promise.all([
        respond(ben, id, true),
        post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId })
      ])
      t.strictSame([await buddiesOf(ana), await buddiesOf(ben)], [[], []])
    })
  })

  t.test('suspension and deletion of the profile end everything, also against an acceptance at once', async (t) => {
    for (const way of ['suspended', 'deleted'] as const) {
      for (const turn of [1, 2, 3]) {
        const [ana, ben] = await two()
        const cleo = await member('Cleo')
        followEachOther(ana, cleo)
        await makeBuddies(ana, cleo)
        const { id } = (await ask(ana, ben)).data.request
        const end = async () => {
          if (way === 'deleted') return await del(ana.id, '/fitmatch/profile')
          const reported = { reportedProfileId: ana.profileId, reason: 'SPAM' }
          const reporter = await member('Rita')
          const { data } = await post(reporter.id, '/fitmatch/report', reported)
          return await operator('POST', `/fitmatch/admin/reports/${data.report.id}/resolve`, { action: 'SUSPEND' })
        }
        const [ended] = await Promise.all([end(), respond(ben, id, true)])
        t.equal(ended.status, 200)
        t.strictSame(
          [await buddiesOf(cleo), await buddiesOf(ben), await box(ben, 'in')],
          [[], [], []],
          `${way} ${turn}`
        )
      }
    }
  })

  t.test('hidden people are neither found nor shown, and come back', async (t) => {
    const [ana, ben] = await two()
    const cleo = await member('Cleo')
    followEachOther(ana, cleo)
    await makeBuddies(ana, ben)
    const { id } = (await ask(ana, cleo)).data.request
    const dora = await member('Dora')
    followEachOther(ana, dora)
    const own = (await ask(dora, ana)).data.request
    const hide = async (is_hidden: boolean) =>
      await db.insertInto('hidden_people').values({ account_id: ana.id, is_hidden, changed_at: new Date() })
        .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ is_hidden })).execute()
    await hide(true)
    t.strictSame([await buddiesOf(ben), await box(cleo, 'in')], [[], []])
    t.match(await respond(cleo, id, true), { status: 404 })
    t.match(await ask(cleo, ana), { status: 404, code: 'NOT_FOUND' })
    t.match(await del(dora.id, `/buddies/requests/${own.id}`), { status: 200 }, 'their own request people can withdraw')
    await hide(false)
    t.strictSame(await buddiesOf(ben), [ana.id])
    t.match(await respond(cleo, id, true), { status: 200 })
  })

  t.test('suspended people are refused like hidden ones, also with a new profile, and can be asked again later', async (t) => {
    const [ana, ben] = await two()
    const suspend = async (suspended: boolean) =>
      await db.transaction().execute(async (trx) => await setSuspended(trx, ana.id, suspended))
    await makeBuddies(ana, ben)
    await suspend(true)
    const { headers: _, ...refused } = await ask(ben, ana)
    t.match(refused, { status: 404, code: 'NOT_FOUND' })
    t.match(await ask(ben, { id: randomUUID() }), refused, 'exactly as somebody who does not exist')
    t.same([await box(ben, 'out'), await buddiesOf(ben)], [[], []])
    await del(ana.id, '/fitmatch/profile')
    t.match(await ask(ben, ana), { status: 404 }, 'without a profile')
    t.equal((await post(ana.id, '/fitmatch/profile')).status, 201)
    t.match(await ask(ben, ana), { status: 404 }, 'with a new one')
    await suspend(false)
    t.match(await ask(ben, ana), { status: 201, data: { request: { status: 'PENDING' } } })
    t.match(await box(ana, 'in'), [{ user: { id: ben.id } }])
  })

  t.test('people are shown under the name of their account, and a late change does not overwrite a newer one', async (t) => {
    const [ana, ben] = await two()
    await makeBuddies(ana, ben)
    const change = async (name: string, changedAt: string) =>
      await deliver(handlers, PersonChanged.type, {
        accountId: ben.id,
        changedAt,
        name,
        username: 'ben',
        image: 'https://cdn.example/ben.webp',
        bio: null,
        locale: 'en',
        timezone: 'Asia/Jakarta'
      })
    await change('Benjamin', '2030-01-02T00:00:00.000Z')
    await change('Old', '2030-01-01T00:00:00.000Z')
    t.match((await get(ana.id, '/buddies')).data.buddies, [{
      user: { id: ben.id, name: 'Benjamin', image: 'https://cdn.example/ben.webp' }
    }])
  })

  t.test('an uploaded picture is shown at the current media URL', async (t) => {
    const [ana, ben] = await two()
    await makeBuddies(ana, ben)
    const key = `public/${randomUUID()}.webp`
    await deliver(handlers, PersonChanged.type, {
      accountId: ben.id,
      name: 'Ben',
      username: 'ben',
      image: deps.media.urlOf(key),
      bio: null,
      locale: 'en',
      timezone: 'Asia/Jakarta'
    })
    const media = createMedia({ storage: diskStorage(folder), cdnUrl: 'https://new.example' })
    const [shown] = await withUsers({ ...deps, media }, [{ userId: ben.id }])
    t.equal(shown?.user.image, `https://new.example/${key}`)
    t.match((await get(ana.id, '/buddies')).data.buddies, [{ user: { image: deps.media.urlOf(key) } }])
  })
})
