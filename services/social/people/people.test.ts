import { randomUUID } from 'node:crypto'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { createApp } from '../app.ts'
import { givenPost, examplePerson, testApp } from '../test/app.ts'
import { upsertPeople } from './copies.ts'
import { normalizeName } from './names.ts'

t.test('people', async (t) => {
  const { db, deps, folder, handlers, get, post, person, follows, blocks, profiles } = await testApp(t)
  const ana = await person('Ana')

  t.test('a public profile contains the public fields', async (t) => {
    const ben = await person('Ben', { bio: 'Runs', image: 'https://elsewhere.example/b.webp' })
    await follows(ana, ben)
    for (const visibility of ['PUBLIC', 'PUBLIC', 'FOLLOWERS', 'PRIVATE'] as const) {
      await givenPost(db, { author_id: ben, visibility })
    }
    await givenPost(db, { author_id: ben, deleted_at: new Date() })
    t.same((await get(ana, `/users/${ben}`)).data.user, {
      id: ben,
      name: 'Ben',
      username: 'ben',
      image: 'https://elsewhere.example/b.webp',
      picture: {
        type: 'IMAGE',
        url: 'https://elsewhere.example/b.webp',
        width: null,
        height: null,
        blurhash: null,
        thumbnails: []
      },
      bio: 'Runs',
      followersCount: 1,
      followingCount: 0,
      postsCount: 2,
      isFollowing: true,
      isFollowedBy: false,
      isSelf: false
    })
    t.match((await get(ben, `/users/${ben}`)).data.user, { postsCount: 4, isSelf: true, isFollowing: false })
    for (const id of [randomUUID(), 'garbage']) {
      t.match(await get(ana, `/users/${id}`), { status: 404, code: 'NOT_FOUND' })
    }
  })

  t.test('a profile is found by username, for the people who can see it by id', async (t) => {
    const hana = await person('Hana')
    for (const name of ['hana', 'HANA', '@hana']) {
      t.match(await get(ana, `/users/by-username/${name}`), { status: 200, data: { user: { id: hana } } })
    }
    t.same(
      (await get(ana, '/users/by-username/hana')).data,
      (await get(ana, `/users/${hana}`)).data,
      'the response is that of the id'
    )
    const unknown = examplePerson('Ingo')
    profiles.people.set(unknown.accountId, unknown)
    t.match((await get(ana, '/users/by-username/ingo')).data.user, { id: unknown.accountId })
    await blocks(hana, ana)
    t.match(await get(ana, '/users/by-username/hana'), { status: 404, code: 'NOT_FOUND' })
    for (const name of ['nobody', 'a%20b', '%F0%9F%98%80']) {
      t.match(await get(ana, `/users/by-username/${name}`), { status: 404, code: 'NOT_FOUND' })
    }
    profiles.isUnavailable = true
    t.match(await get(ana, '/users/by-username/nobody'), { status: 503 })
    profiles.isUnavailable = false
  })

  t.test('a person missing from the local copy is fetched', async (t) => {
    const stranger = examplePerson('Zoe')
    profiles.people.set(stranger.accountId, stranger)
    t.match((await get(ana, `/users/${stranger.accountId}`)).data.user, { name: 'Zoe', username: 'zoe' })
  })

  t.test('many concurrent requests for a newly registered person share a few calls to profile', async (t) => {
    const newcomers = Array.from({ length: 20 }, (_, number) => examplePerson(`Newcomer${number}`))
    for (const each of newcomers) profiles.people.set(each.accountId, each)
    profiles.calls.length = 0
    const responses = await Promise.all(
      newcomers.flatMap(({ accountId }) => [get(ana, `/users/${accountId}`), post(ana, `/users/${accountId}/follow`)])
    )
    t.same(responses.map(({ status }) => status), responses.map(() => 200))
    t.ok(profiles.calls.length <= 5, `${profiles.calls.length} calls for 40 requests`)
  })

  t.test('unknown ids are fetched once and are not found', async (t) => {
    const ids = Array.from({ length: 20 }, () => randomUUID())
    profiles.calls.length = 0
    const responses = await Promise.all([...ids, ...ids, ...ids].map(async (id) => await get(ana, `/users/${id}`)))
    t.ok(responses.every(({ status, code }) => status === 404 && code === 'NOT_FOUND'))
    await Promise.all(ids.map(async (id) => await post(ana, `/users/${id}/follow`)))
    t.equal(profiles.calls.flat().length, ids.length)
  })

  t.test('while profile is unavailable a request about an unknown person is 503, not 404', async (t) => {
    const stranger = examplePerson('Yan')
    profiles.people.set(stranger.accountId, stranger)
    profiles.isUnavailable = true
    t.match(await get(ana, `/users/${stranger.accountId}`), { status: 503, code: 'SERVICE_UNAVAILABLE' })
    profiles.isUnavailable = false
    t.match(await get(ana, `/users/${stranger.accountId}`), { status: 200 })
  })

  t.test('an uploaded picture has sizes, a blurhash and thumbnails, and is at the current media URL', async (t) => {
    const key = `public/${randomUUID()}.webp`
    const imageDetails = { width: 400, height: 300, blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj' }
    const eva = { ...examplePerson('Eva'), image: deps.media.urlOf(key), imageDetails }
    await deliver(handlers, 'profile.person.changed.v1', eva)
    await givenPost(db, { author_id: eva.accountId })
    const moved = await createApp({
      ...deps,
      media: createMedia({ storage: diskStorage(folder), cdnUrl: 'https://new.example' })
    }, { log: silentLog, keys: testKeys })
    t.teardown(() => moved.close())
    const getMoved = async (url: string) => (await moved.inject({ url, headers: bearer(ana) })).json().data

    const url = `https://new.example/${key}`
    t.match((await get(ana, `/users/${eva.accountId}`)).data.user, { image: deps.media.urlOf(key) })
    t.match((await getMoved(`/users/${eva.accountId}`)).user, {
      image: url,
      picture: {
        url,
        ...imageDetails,
        thumbnails: [{ url: `${url}?w=160`, width: 160, height: 120 }, { url: `${url}?w=320`, width: 320, height: 240 }]
      }
    })
    t.match((await getMoved(`/feed?userId=${eva.accountId}`)).posts, [{ user: { image: url } }])
    t.match((await getMoved('/users/search?q=eva')).users, [{ image: url }])
  })

  t.test('of two changes within one millisecond the later one wins in any order of delivery', async (t) => {
    const dina = examplePerson('Dina')
    const [earlier, later] = [{ ...dina, name: 'Earlier', changedAt: '2026-01-01T00:00:00.000001Z' }, {
      ...dina,
      name: 'Later',
      changedAt: '2026-01-01T00:00:00.000002Z'
    }]
    for (const each of [later, earlier]) await deliver(handlers, 'profile.person.changed.v1', each)
    t.match((await get(ana, `/users/${dina.accountId}`)).data.user, { name: 'Later' })
  })

  t.test('a changed name is applied, and an older event does not overwrite it', async (t) => {
    const cara = examplePerson('Cara')
    await deliver(handlers, 'profile.person.changed.v1', { ...cara, name: 'Carla' })
    t.match((await get(ana, `/users/${cara.accountId}`)).data.user, { name: 'Carla' })
    await upsertPeople(deps, [{ ...cara, name: 'Old' }], new Date('2020-01-01'))
    await upsertPeople(deps, [{ ...cara, name: 'Asked' }])
    t.match((await get(ana, `/users/${cara.accountId}`)).data.user, { name: 'Carla' })
  })

  t.test('concurrent writes of many people in different orders do not deadlock', async (t) => {
    const crowd = Array.from({ length: 300 }, (_, number) => examplePerson(`Crowd${number}`))
    for (let year = 2021; year < 2026; year++) {
      const at = new Date(`${year}-01-01`)
      await t.resolves(
        Promise.all([
          upsertPeople(deps, crowd, at),
          upsertPeople(deps, crowd.toReversed(), at),
          upsertPeople(deps, crowd, at),
          upsertPeople(deps, crowd.toReversed(), at)
        ])
      )
    }
  })

  t.test('callers see their own profile change at once', async (t) => {
    profiles.people.set(ana, { ...profiles.people.get(ana)!, bio: 'new' })
    t.match((await get(ana, `/users/${ana}`)).data.user, { bio: 'new' })
  })

  t.test('people are found by the start of their username, then by words of their name', async (t) => {
    const names = [
      ['Mira Stone', 'mira'],
      ['Óscar Miraflores', 'oscar'],
      ['Xi Mírá', 'zz.mi_ra'],
      ['Tom', 'mira.tom'],
      ['Someone Else', 'else'],
      ['Ann-Mira', 'ann']
    ]
    const ids = new Map<string, string>()
    for (const [name = '', username = ''] of names) ids.set(username, await person(name, { username }))
    const hidden = await person('Mira Hidden', { username: 'mira_hidden' })
    await blocks(hidden, ana)
    const search = async (query: string) =>
      (await get(ana, `/users/search?${query}`)).data.users.map((user: { username: string }) => user.username)

    t.same(await search('q=MIRA'), ['mira', 'mira.tom', 'ann', 'oscar', 'zz.mi_ra'])
    t.same(await search('q=%40mira.t'), ['mira.tom'])
    t.same(await search(`q=${encodeURIComponent('＠Mira.t')}`), ['mira.tom'], 'as a Japanese keyboard writes it')
    t.same(await search('q=oscar%20mira'), ['oscar'])
    t.same(await search('q=stone'), ['mira'])
    t.same(await search('q=zzz'), [])
    t.same(await search('q=ana'), [], 'the caller is left out')
    t.same(await search(`q=${encodeURIComponent("':*|!&(")}`), [])
    t.match((await get(ana, '/users/search?q=mira&limit=1')).data.users, [{
      id: ids.get('mira'),
      name: 'Mira Stone',
      username: 'mira',
      image: null,
      isFollowing: false
    }])

    const paged: string[] = []
    let cursor: string | null = ''
    do {
      const { data } = await get(ana, `/users/search?q=mira&limit=1${cursor && `&cursor=${cursor}`}`)
      paged.push(...data.users.map((user: { username: string }) => user.username))
      cursor = data.nextCursor
    } while (cursor)
    t.same(paged, ['mira', 'mira.tom', 'ann', 'oscar', 'zz.mi_ra'])

    const first = (await get(ana, '/users/search?q=mira&limit=2')).data
    await db.updateTable('people').set({ username: 'mira.zz' }).where('username', '=', 'mira.tom').execute()
    t.same(await search(`q=mira&cursor=${first.nextCursor}`), ['mira.zz', 'ann', 'oscar', 'zz.mi_ra'], 'a rename')
    await db.deleteFrom('people').where('username', '=', 'mira.zz').execute()
    t.same(await search(`q=mira&cursor=${first.nextCursor}`), ['ann', 'oscar', 'zz.mi_ra'], 'a deletion')
    t.match(await get(ana, '/users/search?q=mira&cursor=x'), { status: 400, code: 'VALIDATION_ERROR' })

    const typed = {
      dang: 'Đặng Văn',
      lukasz: 'Łukasz Żak',
      soren: 'Søren Bæk',
      strasse: 'Jan Straße',
      oneil: 'Sean O’Neil',
      王: '王 小明',
      김: '김민준',
      あ: 'あい 田中'
    }
    for (const [query, name] of Object.entries(typed)) {
      const username = `typed.${ids.size}`
      ids.set(username, await person(name, { username }))
      t.same(await search(`q=${encodeURIComponent(query)}`), [username], name)
      t.same(await search(`q=${encodeURIComponent(name)}`), [username], name)
    }

    for (const query of ['q=m', 'q=', '', `q=${'m'.repeat(51)}`, 'q=%20m%20']) {
      t.match(await get(ana, `/users/search?${query}`), { status: 400, code: 'VALIDATION_ERROR' })
    }
    t.equal((await get(ana, `/users/search?q=${'m'.repeat(50)}`)).status, 200)
  })
})

t.test('names are normalized for the search', async (t) => {
  t.equal(normalizeName("  Ólafur-Örn  O'Neil "), 'olafur orn oneil')
  t.equal(normalizeName('山田 太郎'), '山田 太郎')
})
