import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { handleRpc } from '@tandem/bus-kit'
import { deliver, fakeRpc } from '@tandem/bus-kit/testing'
import { HiddenOrErased, PersonHidden } from '@tandem/contracts'
import { silentLog } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import { checkErasure, checkExport, checkIndexes, checkSchema, type Seed } from '@tandem/account-kit/testing'
import { createSocialErasure } from '../erasure.ts'
import { personalData } from '../personal-data.ts'
import { testApp } from '../test/app.ts'
import { clearDeletedPosts } from './deleted-posts.ts'

const { db, deps, person, get, post, del, follows, publishedEvents } = await testApp(t)
const { erasure } = deps

t.test('every table of the live schema is declared', async (t) => await checkSchema(t, { db, personalData }))

t.test('an erasure reads no table as a whole', async (t) => await checkIndexes(t, { db, personalData }))

const seed: Seed = async ({ accountId, otherId, insert, markers }) => {
  const [own, others] = [
    await insert('posts', { author_id: accountId, type: 'POLL', visibility: 'PUBLIC' }),
    await insert('posts', {
      author_id: otherId,
      type: 'POLL',
      visibility: 'PUBLIC',
      likes_count: 1,
      comments_count: 2
    })
  ]
  for (const { id: post_id } of [own, others]) {
    await insert('post_hashtags', { post_id })
    await insert('polls', { post_id, total_votes: 1 })
    const option = await insert('poll_options', { post_id, text: 'yes', votes_count: 1 })
    await insert('poll_votes', { post_id, option_id: option['id'], account_id: accountId })
    await insert('likes', { post_id, account_id: accountId })
    await insert('mentions', { post_id, account_id: accountId })
  }
  await db.updateTable('posts').set({ likes_count: 1 }).where('id', '=', String(own['id'])).execute()
  await sql`update post_hashtags set tag = 'others' where post_id = ${others['id']}`.execute(db)
  await sql`update polls set question = 'others' where post_id = ${others['id']}`.execute(db)
  const comment = await insert('comments', { post_id: others['id'], author_id: accountId, replies_count: 1 })
  await insert('comments', { post_id: others['id'], author_id: otherId, parent_id: comment['id'] })
  const [story, theirs] = [
    await insert('stories', { author_id: accountId, media_type: 'IMAGE', view_count: 1, reaction_count: 1 }),
    await insert('stories', {
      author_id: otherId,
      media_type: 'IMAGE',
      media_url: 'x',
      view_count: 1,
      reaction_count: 1
    })
  ]
  await insert('story_views', { story_id: story['id'], account_id: otherId })
  await insert('story_views', { story_id: theirs['id'], account_id: accountId })
  await insert('story_reactions', { story_id: story['id'], account_id: otherId })
  await insert('story_reactions', { story_id: theirs['id'], account_id: accountId })
  await insert('follow_counts', { account_id: accountId, followers_count: 1, following_count: 1 })
  await insert('follow_counts', { account_id: otherId, followers_count: 1, following_count: 1 })
  await insert('follows', { follower_id: accountId, followed_id: otherId })
  await insert('follows', { follower_id: otherId, followed_id: accountId })
  for (const table of ['media', 'people', 'idempotency_keys', 'daily_quotas', 'hidden_people']) {
    await insert(table, { account_id: accountId })
  }
  for (const table of ['blocks', 'matches']) await insert(table, { account_id: accountId, other_id: otherId })
  await insert('failed_messages', { message: accountId })
  const decided = { outcome: 'NO_VIOLATION', resolved_at: new Date('2020-01-01') }
  const old = await insert('cases', { account_id: accountId, ...decided })
  await insert('case_evidence', { case_id: old['id'] })
  await insert('case_files', { case_id: old['id'], owner_id: accountId })
  await insert('reports', { case_id: old['id'], reporter_id: otherId, details: 'theirs' })
  const about = await insert('cases', { account_id: otherId, target_type: 'others', ...decided })
  await insert('reports', { case_id: about['id'], reporter_id: accountId, reason: 'SPAM' })
  const content = { content: 'rude', post: { authorId: accountId, content: markers.own } }
  await insert('case_evidence', { case_id: about['id'], content: JSON.stringify(content), others: [accountId] })
  for (const table of ['content_decisions', 'posting_restrictions']) {
    await insert(table, { account_id: accountId })
  }
}

t.test('an erasure leaves nothing of an account, and counts what it erased', async (t) => {
  await checkErasure(t, { db, erasure, personalData, seed })
})

t.test('the copy of a person has every table with their data, and nothing of anybody else', async (t) => {
  await checkExport(t, { db, erasure, personalData, seed, mayNameOther: ['follows'] })
})

t.test("others' counters are exact after an erasure, and their rows stay", async (t) => {
  const [ana, ben, cleo] = [await person('Ana'), await person('Ben'), await person('Cleo')]
  const { data: { post: { id } } } = await post(ben, '/feed', { type: 'TEXT', content: 'hello', visibility: 'PUBLIC' })
  for (const who of [ana, cleo]) {
    await follows(who, ben)
    await follows(ben, who)
    await post(who, `/feed/${id}/like`)
    const { data: { comment } } = await post(who, `/feed/${id}/comment`, { content: 'first' })
    await post(cleo, `/feed/${id}/comment`, { content: 'reply', parentId: comment.id })
    await post(ana, `/feed/${id}/comment`, { content: 'reply', parentId: comment.id })
  }
  await erase(ana)
  t.match((await get(ben, `/feed/${id}`)).data.post, { likesCount: 1, commentsCount: 3 })
  t.match((await get(ben, `/feed/${id}/comment`)).data.comments, [
    { content: '', user: { name: 'Someone' }, isDeleted: true, repliesCount: 1 },
    { content: 'first', repliesCount: 1 }
  ])
  t.match((await get(ben, `/users/${ben}`)).data.user, { followersCount: 1, followingCount: 1 })
})

t.test("what an erased person wrote goes from the evidence about others' comments, and nothing else", async (t) => {
  const [ana, ben, cleo, dan] = [await person('Ana'), await person('Ben'), await person('Cleo'), await person('Dan')]
  const { data: { post: { id } } } = await post(ana, '/feed', { type: 'TEXT', content: 'By Ana', visibility: 'PUBLIC' })
  const comment = async (who: string, content: string, parentId?: string) =>
    (await post(who, `/feed/${id}/comment`, { content, parentId })).data.comment.id as string
  const parentId = await comment(dan, 'By Dan')
  for (const [who, content] of [[ben, 'First by Ben'], [ana, 'Answer by Ana'], [cleo, 'By Cleo']] as const) {
    await comment(who, content, parentId)
  }
  const targetId = await comment(ben, 'Rude', parentId)
  await post(cleo, '/reports', { targetType: 'COMMENT', targetId, reason: 'HARASSMENT' })
  const evidence = async () => (await db.selectFrom('case_evidence').innerJoin('cases', 'cases.id', 'case_id').where(
    'target_id',
    '=',
    targetId
  )
    .select(['content', 'others']).executeTakeFirstOrThrow())
  t.match(await erasure.verify(ana), { left: { case_evidence: 1 } })
  await db.updateTable('cases').set({ is_held: true }).where('target_id', '=', targetId).execute()
  await erase(ana)
  t.match(await evidence(), {
    content: {
      content: 'Rude',
      post: null,
      around: { parent: { content: 'By Dan' }, before: [{ content: 'First by Ben' }, { content: 'By Cleo' }] }
    }
  })
  t.notMatch(JSON.stringify(await evidence()), new RegExp(`${ana}|by Ana`, 'i'))
  for (const who of [cleo, dan]) await erase(who)
  t.match(await evidence(), {
    content: { content: 'Rude', around: { parent: null, before: [{ content: 'First by Ben' }] } },
    others: []
  })
  for (const who of [ana, cleo, dan]) t.same((await erasure.verify(who)).left, {})
  await erase(ben)
  t.match((await evidence()).content, { around: { before: [{ content: 'First by Ben' }] } }, 'it is about Ben')
})

t.test('an erasure that is interrupted at any statement goes on, and its counts stay exact', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  for (let number = 0; number < 30; number++) {
    const { data } = await post(ben, '/feed', { type: 'TEXT', content: 'hello', visibility: 'PUBLIC' })
    await post(ana, `/feed/${data.post.id}/like`)
    await post(ana, '/feed', { type: 'TEXT', content: 'mine', visibility: 'PUBLIC' })
  }
  const before = await erasure.verify(ana)
  await db.insertInto('departures').values({ account_id: ana, erasure_id: randomUUID() }).execute()
  await sql`create sequence failures`.execute(db)
  // Every third deletion of a post fails, so the transaction around it is rolled back.
  await sql`
    create function fail_sometimes () returns trigger language plpgsql as
      $$ begin if nextval('failures') % 3 <> 0 then raise exception 'interrupted'; end if; return null; end $$`.execute(
    db
  )
  await sql`
    create trigger interrupt after delete on posts for each statement execute function fail_sometimes()`.execute(db)
  let interruptions = 0
  for (let turn = 0; turn < 10; turn++) {
    await Promise.all(
      [erasure.eraseDue(), erasure.eraseDue()].map(async (erasing) => await erasing.catch(() => interruptions++))
    )
  }
  await sql`drop trigger interrupt on posts`.execute(db)
  t.ok(interruptions > 0)
  const { rows } = await db.selectFrom('departures').where('account_id', '=', ana).select('rows')
    .executeTakeFirstOrThrow()
  t.same(rows, before.left)
  const likes = await db.selectFrom('posts').where('author_id', '=', ben).where('likes_count', '<>', 0).selectAll()
    .execute()
  t.same(likes, [])
})

t.test('files go with their rows, and one that cannot be deleted is tried again', async (t) => {
  const ana = await person('Ana')
  const image = {
    bytes: Buffer.from('image'),
    mimeType: 'image/webp',
    width: 1,
    height: 1,
    blurhash: '',
    thumbnails: []
  }
  const { key } = await deps.media.store('public', image, async () => {})
  await db.insertInto('media').values({ key, account_id: ana, mime_type: 'image/webp', width: 1, height: 1, bytes: 5 })
    .execute()
  await erase(ana)
  t.match(await db.selectFrom('departures').where('account_id', '=', ana).selectAll().executeTakeFirst(), { files: 1 })
  t.equal(await deps.media.size(key), undefined, 'the file is gone')

  const late = await deps.media.store('public', image, async () => {})
  await deps.media.copy(late.key, key)
  await sql`update departures set next_pass_at = now() where account_id = ${ana}`.execute(db)
  await sql`update files_to_erase set removed_at = now() - interval '1 minute' where account_id = ${ana}`.execute(db)
  await erasure.eraseDue()
  t.equal(await deps.media.size(key), undefined, 'one that was being stored meanwhile is gone too')
  t.match(await db.selectFrom('departures').where('account_id', '=', ana).selectAll().executeTakeFirst(), { files: 1 })
  t.same(await db.selectFrom('files_to_erase').where('account_id', '=', ana).selectAll().execute(), [])
})

t.test('what late events bring back is swept, and an account is closed when nothing comes any more', async (t) => {
  const ana = await person('Ana')
  await erase(ana)
  const due = async () => {
    await sql`update departures set next_pass_at = now() where account_id = ${ana} and next_pass_at is not null`
      .execute(db)
    await erasure.eraseDue()
  }
  const { data } = await post(await person('Ben'), '/feed', { type: 'TEXT', content: 'hi', visibility: 'PUBLIC' })
  await post(ana, `/feed/${data.post.id}/like`)
  await due()
  t.same((await erasure.verify(ana)).left, {})
  for (let sweep = 0; sweep < 4; sweep++) await due()
  t.match(await db.selectFrom('departures').where('account_id', '=', ana).selectAll().executeTakeFirst(), {
    next_pass_at: null,
    rows: { likes: 1 }
  })
})

t.test('a late event hides nobody who is erased, so that no row names them', async (t) => {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await erase(ana)
  for (const accountId of [ana, ben]) {
    await deliver(erasure.handlers, PersonHidden.type, { accountId, hidden: true })
  }
  t.same((await erasure.verify(ana)).left, {})
  t.match((await erasure.verify(ben)).left, { hidden_people: 1 })
})

async function erase (accountId: string) {
  await db.insertInto('departures').values({ account_id: accountId, erasure_id: randomUUID() }).execute()
  await erasure.eraseDue()
}

t.test('a service is ready once it has compared with identity who was erased, and has erased them again', async (t) => {
  const [gone, paused] = [await person('Gone'), randomUUID()]
  await post(gone, '/feed', { type: 'TEXT', content: 'from a backup', visibility: 'PUBLIC' })
  let isUnavailable = true
  const callRpc = fakeRpc(
    [
      handleRpc(HiddenOrErased, async () => ({
        at: new Date().toISOString(),
        departures: [
          { accountId: gone, isHidden: false, erasureId: randomUUID() },
          { accountId: paused, isHidden: true, erasureId: null }
        ],
        next: null
      }))
    ],
    () => isUnavailable
  )
  const restarted = createSocialErasure({ ...deps, callRpc })
  const stop = restarted.start(silentLog)
  t.teardown(stop)
  await t.rejects(restarted.checkCompared(), {
    message: 'erased accounts are not yet compared with identity and erased again'
  })
  isUnavailable = false
  await until(async () => await restarted.checkCompared().then(() => true, () => false))
  const { rows } = await sql<{ hasTombstone: boolean, isHidden: boolean }>`
    select exists (select from departures where account_id = ${gone}) as "hasTombstone",
      exists (select from hidden_people where account_id = ${paused} and is_hidden) as "isHidden"`.execute(db)
  t.same(rows, [{ hasTombstone: true, isHidden: true }])
  t.same((await restarted.verify(gone)).left, {})
})

t.test('a service is not ready while another replica erases somebody', async (t) => {
  const [mine, theirs] = [await person('Mine'), await person('Theirs')]
  for (const each of [mine, theirs]) await post(each, '/feed', { type: 'TEXT', content: 'hi', visibility: 'PUBLIC' })
  const named = [mine, theirs].map((accountId) => ({ accountId, isHidden: false, erasureId: randomUUID() }))
  const callRpc = fakeRpc([
    handleRpc(HiddenOrErased, async () => ({ at: new Date().toISOString(), departures: named, next: null }))
  ])
  for (const { accountId, erasureId } of named) {
    await db.insertInto('departures').values({ account_id: accountId, erasure_id: erasureId }).execute()
  }
  const restarted = createSocialErasure({ ...deps, callRpc })
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('departures').where('account_id', '=', theirs).select('account_id').forUpdate().execute()
    t.teardown(restarted.start(silentLog))
    await until(async () => Object.keys((await restarted.verify(mine)).left).length === 0)
  })
  await until(async () => await restarted.checkCompared().then(() => true, () => false))
  t.same((await restarted.verify(theirs)).left, {})
})

t.test('an hour after its deletion, a post keeps nothing but its place, also if the process is killed meanwhile', async (t) => {
  const [ana, ben, cleo] = [await person('Ana'), await person('Ben'), await person('Cleo')]
  const create = async (body: object) =>
    (await post(ana, '/feed', { visibility: 'PUBLIC', content: 'Secret #tag @ben', ...body })).data.post.id as string
  const id = await create({ type: 'POLL', pollOptions: [{ text: 'one' }, { text: 'two' }], locationName: 'Here' })
  const [younger, kept] = [await create({ type: 'TEXT' }), await create({ type: 'TEXT' })]
  const posts = [id, younger, kept]
  for (const each of posts) {
    await post(ben, `/feed/${each}/like`)
    const { data: { comment } } = await post(ben, `/feed/${each}/comment`, { content: 'A secret @cleo' })
    await post(cleo, `/feed/${each}/comment`, { content: 'Another secret', parentId: comment.id })
    await get(ben, `/feed/${each}`)
  }
  const { data: { post: { poll } } } = await get(ben, `/feed/${id}`)
  await post(ben, `/feed/${id}/vote`, { optionId: poll.options[0].id })
  await sql`insert into likes (post_id, account_id) select ${id}, gen_random_uuid() from generate_series(1, 1500)`
    .execute(db)
  await sql`update posts set likes_count = 1501 where id = ${id}`.execute(db)
  t.equal((await post(cleo, '/reports', { targetType: 'POST', targetId: id, reason: 'SPAM' })).status, 201)
  const age = async (...ids: string[]) =>
    await sql`update posts set deleted_at = now() - interval '61 minutes' where id = any(${ids}::uuid[])`.execute(db)
  await del(ana, `/feed/${younger}`)
  await del(ana, `/feed/${id}`)
  await age(id)

  const counts = async () => {
    const tables = [
      'likes',
      'comments',
      'mentions',
      'post_hashtags',
      'post_readers',
      'polls',
      'poll_options',
      'poll_votes'
    ]
    const left: Record<string, number[]> = {}
    for (const table of tables) {
      const { rows } = await sql<{ count: number }>`
        select (select count(*)::int from ${sql.table(table)} where post_id = each.id) as count
        from unnest(${posts}::uuid[]) with ordinality as each (id, position) order by position`.execute(db)
      left[table] = rows.map(({ count }) => count)
    }
    return left
  }
  const before = await counts()
  for (const [table, [count = 0]] of Object.entries(before)) t.ok(count > 0, table)

  await sql`create function fail () returns trigger language plpgsql as $$ begin raise 'killed'; end $$`.execute(db)
  await sql`create trigger interrupt before delete on comments for each row execute function fail()`.execute(db)
  await t.rejects(clearDeletedPosts(db), { message: 'killed' })
  await sql`drop trigger interrupt on comments`.execute(db)
  await Promise.all([clearDeletedPosts(db), clearDeletedPosts(db)])

  const cleared = Object.entries(before).map(([table, [, ...others]]) => [table, [0, ...others]])
  t.same(await counts(), Object.fromEntries(cleared), 'the other posts stay as they are')
  const { created_at, deleted_at, cleared_at, views_count, ...row } = await db.selectFrom('posts').where('id', '=', id)
    .selectAll().executeTakeFirstOrThrow()
  t.ok(created_at && deleted_at && cleared_at)
  const names = [
    'media_type',
    'activity_id',
    'workout_id',
    'achievement_id',
    'location_name',
    'latitude',
    'longitude',
    'workout',
    'achievement',
    'activity',
    'edited_at',
    'hidden_at'
  ]
  t.same(row, {
    ...Object.fromEntries(names.map((name) => [name, null])),
    id,
    author_id: ana,
    author_hidden: false,
    type: 'POLL',
    visibility: 'PUBLIC',
    content: '',
    media_urls: [],
    likes_count: 0,
    comments_count: 0
  })
  for (const who of [ana, ben]) t.match(await get(who, `/feed/${id}`), { status: 410, code: 'GONE' })
  t.match(await del(ben, `/feed/${id}/like`), { status: 410 })
  t.match(await get(cleo, '/reports'), { data: { reports: [{ targetId: id }] } })
  t.match(
    await db.selectFrom('case_evidence').innerJoin('cases', 'cases.id', 'case_id').where('target_id', '=', id)
      .select('content').executeTakeFirstOrThrow(),
    { content: { content: 'Secret #tag @ben', pollOptions: ['one', 'two'] } }
  )

  await age(younger)
  await clearDeletedPosts(db)
  t.same((await counts())['likes'], [0, 0, 1], 'once it is due, too')
  t.equal((await publishedEvents('social.post.deleted.v1')).filter(({ postId }) => postId === id).length, 1)
})
