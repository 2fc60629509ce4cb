import { randomUUID } from 'node:crypto'
import t from 'tap'
import { seededRandom } from '@tandem/test-kit'
import { hide } from '@tandem/account-kit'
import { deliver } from '@tandem/bus-kit/testing'
import { upsertBlock, upsertMatch } from '../connections/actions.ts'
import { handleConnection } from '../connections/rpc.ts'
import { testApp } from '../test/app.ts'

t.test('following', async (t) => {
  const { db, deps, handlers, get, post, del, publishedEvents, person, blocks } = await testApp(t)
  const ana = await person('Ana')
  const ben = await person('Ben')
  const relation = async (viewer: string, of: string) => {
    const { followersCount, followingCount, isFollowing, isFollowedBy } = (await get(viewer, `/users/${of}`)).data.user
    return [followersCount, followingCount, isFollowing, isFollowedBy]
  }

  t.test('a follow is counted on both sides and published', async (t) => {
    t.match(await post(ben, `/users/${ana}/follow`), { status: 200, data: { following: true } })
    t.match(await post(ben, `/users/${ana}/follow`), { status: 400, code: 'ALREADY_FOLLOWING' })
    t.same(await publishedEvents('social.person.followed.v1'), [{ followerId: ben, followedId: ana }])
    t.same(await relation(ben, ana), [1, 0, true, false])
    t.same(await relation(ana, ben), [0, 1, false, true])

    t.match(await del(ben, `/users/${ana}/follow`), { status: 200, data: { following: false } })
    t.match(await del(ben, `/users/${ana}/follow`), { status: 400, code: 'NOT_FOLLOWING' })
    t.same(await publishedEvents('social.person.unfollowed.v1'), [{ followerId: ben, followedId: ana }])
    t.same(await relation(ben, ana), [0, 0, false, false])
  })

  t.test('a repeat with the same idempotency key is the first response, and follows once', async (t) => {
    const fan = await person('Fan')
    const headers = { 'idempotency-key': randomUUID() }
    const repeats = await Promise.all([1, 2, 3].map(async () => await post(fan, `/users/${ana}/follow`, {}, headers)))
    for (const repeat of repeats) t.match(repeat, { status: 200, data: { following: true } })
    t.match(await post(fan, `/users/${ana}/follow`), { status: 400, code: 'ALREADY_FOLLOWING' })
    await del(fan, `/users/${ana}/follow`)
    t.match(await post(fan, `/users/${ben}/follow`, {}, headers), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
  })

  t.test('people cannot follow themselves or a user that does not exist', async (t) => {
    t.match(await post(ana, `/users/${ana}/follow`), { status: 400, code: 'CANNOT_FOLLOW_SELF' })
    t.match(await del(ana, `/users/${ana}/follow`), { status: 400, code: 'NOT_FOLLOWING' })
    for (const id of [randomUUID(), 'garbage']) {
      t.match(await post(ana, `/users/${id}/follow`), { status: 404, code: 'NOT_FOUND' })
      t.match(await del(ana, `/users/${id}/follow`), { status: 404, code: 'NOT_FOUND' })
      t.match(await get(ana, `/users/${id}/followers`), { status: 404, code: 'NOT_FOUND' })
    }
  })

  t.test('counts stay correct when people follow and unfollow each other concurrently', async (t) => {
    const random = seededRandom(t)
    const people = await Promise.all(Array.from({ length: 6 }, (_, index) => person(`P${index}`)))
    const anyone = () => people[Math.floor(random() * people.length)]!
    await Promise.all(Array.from({ length: 10 }, async () => {
      for (let step = 0; step < 20; step++) {
        const [one, other] = [anyone(), anyone()]
        const { status } = random() < 0.6
          ? await post(one, `/users/${other}/follow`)
          : await del(one, `/users/${other}/follow`)
        if (![200, 400].includes(status)) t.fail(`unexpected status ${status}`)
      }
    }))
    const follows = await db.selectFrom('follows').select(['follower_id', 'followed_id']).execute()
    for (
      const { account_id: id, ...counted } of await db.selectFrom('follow_counts').select([
        'account_id',
        'followers_count',
        'following_count'
      ]).execute()
    ) {
      t.same(counted, {
        followers_count: follows.filter((each) => each.followed_id === id).length,
        following_count: follows.filter((each) => each.follower_id === id).length
      })
    }
    const once = await person('Once')
    const codes = (await Promise.all(Array.from({ length: 20 }, () => post(ana, `/users/${once}/follow`)))).map((
      { status }
    ) => status)
    t.equal(codes.filter((status) => status === 200).length, 1)
  })

  t.test('followers and followed people are listed newest first in pages, without people in a block', async (t) => {
    const star = await person('Star')
    const fans = []
    for (const name of ['F1', 'F2', 'F3', 'F4']) fans.push(await person(name))
    for (const fan of fans) await post(fan, `/users/${star}/follow`)
    await post(ana, `/users/${fans[3]}/follow`)
    await blocks(ana, fans[2]!)
    const first = (await get(ana, `/users/${star}/followers?limit=2`)).data
    t.match(first.users, [{ id: fans[3], name: 'F4', username: 'f4', image: null, isFollowing: true }, {
      id: fans[1],
      isFollowing: false
    }])
    t.match((await get(ana, `/users/${star}/followers?limit=2&cursor=${first.nextCursor}`)).data, {
      users: [{ id: fans[0] }],
      nextCursor: null
    })
    t.match((await get(ana, `/users/${fans[0]}/following`)).data, {
      users: [{ id: star, name: 'Star' }],
      nextCursor: null
    })
  })

  t.test('the counts equal the lists for a reader in a block, and a hidden person can be unfollowed', async (t) => {
    const [star, fan, other, reader] = [await person('S'), await person('T'), await person('U'), await person('V')]
    for (const each of [fan, other]) await post(each, `/users/${star}/follow`)
    await post(star, `/users/${fan}/follow`)
    const read = async (viewer: string) => {
      const { followersCount, followingCount } = (await get(viewer, `/users/${star}`)).data.user
      const lists = ['followers', 'following'].map(async (list) =>
        (await get(viewer, `/users/${star}/${list}`)).data.users.length
      )
      t.same([followersCount, followingCount], await Promise.all(lists))
      return [followersCount, followingCount]
    }
    await blocks(fan, reader)
    t.same(await read(reader), [1, 0])
    t.same(await read(other), [2, 1])
    await hide(db, star, true, new Date())
    t.equal((await del(other, `/users/${star}/follow`)).status, 200)
    t.match(await del(other, `/users/${star}/follow`), { status: 404, code: 'NOT_FOUND' })
  })

  t.test('a block ends the follows between two people, prevents new ones and hides them from each other', async (t) => {
    const [dora, emil] = [await person('Dora'), await person('Emil')]
    await post(dora, `/users/${emil}/follow`)
    await post(emil, `/users/${dora}/follow`)
    await deliver(handlers, 'fitmatch.person.blocked.v1', { blockerId: dora, blockedId: emil })
    await deliver(handlers, 'fitmatch.person.blocked.v1', { blockerId: dora, blockedId: emil })
    for (const [one, other] of [[dora, emil], [emil, dora]] as const) {
      t.match(await get(one, `/users/${other}`), { status: 404, code: 'NOT_FOUND' })
      t.match(await post(one, `/users/${other}/follow`), { status: 404, code: 'NOT_FOUND' })
      t.match(await del(one, `/users/${other}/follow`), { status: 404, code: 'NOT_FOUND' })
      t.match(await get(one, `/users/${other}/following`), { status: 404, code: 'NOT_FOUND' })
    }
    t.match((await get(ana, `/users/${dora}`)).data.user, { followersCount: 0, followingCount: 0 })
    await deliver(handlers, 'fitmatch.person.unblocked.v1', { blockerId: dora, blockedId: emil })
    t.same(await relation(dora, emil), [0, 0, false, false])
    t.match(await post(dora, `/users/${emil}/follow`), { status: 200 })
  })

  t.test('a follow that runs concurrently with a block does not survive it', async (t) => {
    for (let round = 0; round < 10; round++) {
      const [fay, gus] = [await person(`Fay${round}`), await person(`Gus${round}`)]
      const [followed] = await Promise.all([
        post(gus, `/users/${fay}/follow`),
        upsertBlock(db, { blockerId: fay, blockedId: gus }, { isLifted: false, at: new Date(), sequence: 1 })
      ])
      t.ok([200, 404].includes(followed.status), String(followed.status))
      t.same(await db.selectFrom('follows').select('id').where('follower_id', '=', gus).execute(), [])
      t.match((await get(ana, `/users/${fay}`)).data.user, { followersCount: 0 })
    }
  })

  t.test('late, repeated and reordered events of blocks and matches lead to the correct state', async (t) => {
    const [one, other] = [await person('One'), await person('Other')]
    const [block, moment] = [{ blockerId: one, blockedId: other }, new Date()]
    await upsertBlock(db, block, { isLifted: true, at: moment, sequence: 2 })
    await upsertBlock(db, block, { isLifted: false, at: moment, sequence: 1 })
    t.equal((await get(one, `/users/${other}`)).status, 200)
    await upsertBlock(db, block, { isLifted: false, at: moment, sequence: 3 })
    await upsertBlock(db, { blockerId: other, blockedId: one }, { isLifted: false, at: moment, sequence: 3 })
    await upsertBlock(db, block, { isLifted: true, at: moment, sequence: 4 })
    t.equal((await get(one, `/users/${other}`)).status, 404, "the other's block still holds")

    const [ida, jon] = [await person('Ida'), await person('Jon')]
    const match = { matchId: randomUUID(), accountIds: [ida, jon] }
    await upsertMatch(db, match, { hasEnded: true })
    await deliver(handlers, 'fitmatch.match.made.v1', { ...match, matchType: 'LIKE' })
    t.equal((await get(ida, `/stories?userId=${jon}`)).status, 404)
    const again = { matchId: randomUUID(), accountIds: [ida, jon] }
    await deliver(handlers, 'fitmatch.match.made.v1', { ...again, matchType: 'LIKE' })
    t.equal((await get(ida, `/stories?userId=${jon}`)).status, 200)
    t.equal((await get(jon, `/stories?userId=${ida}`)).status, 200)
    await deliver(handlers, 'fitmatch.match.ended.v1', again)
    t.equal((await get(jon, `/stories?userId=${ida}`)).status, 404)
  })

  t.test('the connection RPC returns the block, the match and the follows of two people', async (t) => {
    const [kim, lou] = [await person('Kim'), await person('Lou')]
    const between = async (accountId: string, otherId: string) =>
      await handleConnection(deps).handle({ accountId, otherId })
    const nothing = { isMatched: false, hasBlocked: false, isFollower: false, isFollowing: false }
    t.same(await between(kim, lou), nothing)
    await post(kim, `/users/${lou}/follow`)
    t.same(await between(kim, lou), { ...nothing, isFollowing: true })
    t.same(await between(lou, kim), { ...nothing, isFollower: true })
    const match = { matchId: randomUUID(), accountIds: [kim, lou] }
    await deliver(handlers, 'fitmatch.match.made.v1', { ...match, matchType: 'LIKE' })
    t.same(await between(lou, kim), { ...nothing, isMatched: true, isFollower: true })
    await deliver(handlers, 'fitmatch.match.ended.v1', match)
    await deliver(handlers, 'fitmatch.person.blocked.v1', { blockerId: kim, blockedId: lou })
    t.same(await between(kim, lou), { ...nothing, hasBlocked: true })
    t.same(await between(lou, kim), nothing, 'the other person has not, and nobody follows')
    await deliver(handlers, 'fitmatch.person.unblocked.v1', { blockerId: kim, blockedId: lou })
    t.same(await between(kim, lou), nothing)
  })
})
