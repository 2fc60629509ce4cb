import { request, Agent } from 'node:http'
import { sql, type CompiledQuery } from 'kysely'
import { bearer } from '@tandem/http-kit/testing'
import { readAll, readDiscover, readFollowing, readByAuthor } from '../feed/queries.ts'
import { updateRanking } from '../feed/ranking.ts'
import { readTrending } from '../feed/trending.ts'
import { updateTagCounts } from '../hashtags/actions.ts'
import { listTrendingTags } from '../hashtags/queries.ts'
import { selectPosts } from '../posts/queries.ts'
import type { Db } from '../tables.ts'
import { asUuid, isFollowing } from '../visibility/people.ts'
import { person, type Filled } from './fill.ts'
import { print, time } from './measure.ts'
import { watch } from './watch.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const headers = new Map<string, ReturnType<typeof bearer>>()

function get (port: number, reader: string, path: string) {
  const signed = headers.get(reader) ?? bearer(reader)
  headers.set(reader, signed)
  return new Promise<string>((resolve, reject) => {
    request({ port, path, agent, headers: signed }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => {
        text += part
      }).on('end', () => response.statusCode === 200 ? resolve(text) : reject(new Error(text)))
    }).on('error', reject).end()
  })
}

/** Measures each feed over HTTP and, for comparison, its SQL alone. */
export async function measurePages (db: Db, port: number, { readers }: Filled) {
  const { watched, lastQuery } = watch(db)
  const page = { limit: 20 }
  await updateRanking(db)
  await updateTagCounts(db)
  const { rows: [deep] } = await sql<{ id: string }>`select uuidv7(interval '-330 days') as id`.execute(db)
  const cursor = deep!.id
  const feeds: [string, string, (db: Db, reader: string) => Promise<unknown>, string][] = [
    ['all', '44 followed', (db, reader) => readAll(db, reader, page), '/feed'],
    [
      'all, 90 % deep',
      '44 followed',
      (db, reader) => readAll(db, reader, { ...page, cursor }),
      `/feed?cursor=${cursor}`
    ],
    ['all', '10,000 followed', (db, reader) => readAll(db, reader, page), '/feed'],
    ['discover', '44 followed', (db, reader) => readDiscover(db, reader, page), '/feed?feedType=discover'],
    ['discover', '10,000 followed', (db, reader) => readDiscover(db, reader, page), '/feed?feedType=discover'],
    ['trending, first page', '44 followed', (db, reader) => readTrending(db, reader, page), '/feed?feedType=trending'],
    [
      'of one author',
      '44 followed',
      (db, reader) => readByAuthor(db, reader, person(7), page),
      `/feed?userId=${person(7)}`
    ],
    [
      'of one type',
      '44 followed',
      (db, reader) => readAll(db, reader, { ...page, type: 'WORKOUT' }),
      '/feed?type=WORKOUT'
    ],
    [
      'of a hashtag',
      '44 followed',
      (db, reader) => readAll(db, reader, { ...page, hashtag: 'tag500' }),
      '/feed?hashtag=tag500'
    ],
    ['following', 'nobody followed', (db, reader) => readFollowing(db, reader, page), '/feed?feedType=following'],
    ['following', '44 followed', (db, reader) => readFollowing(db, reader, page), '/feed?feedType=following'],
    ['following', '2,000 followed', (db, reader) => readFollowing(db, reader, page), '/feed?feedType=following'],
    ['following', '10,000 followed', (db, reader) => readFollowing(db, reader, page), '/feed?feedType=following'],
    [
      'following',
      '10,000 followed without posts',
      (db, reader) => readFollowing(db, reader, page),
      '/feed?feedType=following'
    ]
  ]
  for (const [name, kind, read, path] of feeds) {
    const people = readers[kind]!
    const queries: CompiledQuery[] = []
    for (const reader of people) {
      await read(watched, reader)
      queries.push(lastQuery())
    }
    const turns = kind.startsWith('10,000') && name === 'following' ? 60 : 200
    const bare = await time(turns, (turn) => db.executeQuery(queries[turn % queries.length]!))
    const served = await time(turns, (turn) => get(port, people[turn % people.length]!, path))
    print(`${name} (${kind}), the SQL alone`, bare)
    print(`${name} (${kind}), over HTTP`, served, bare)
  }
  print('trending hashtags', await time(30, () => listTrendingTags(db, readers['44 followed']![0]!)))
}

/** Compares alternatives for the following feed: a scan of all posts, and a precomputed timeline table. */
export async function compareFollowing (db: Db, untimed: Db, { readers, star }: Filled) {
  await sql`create table timeline (reader_id uuid, post_id uuid, primary key (reader_id, post_id))`.execute(db)
  const timeline = (reader: string) =>
    selectPosts(db, reader)
      .innerJoin(
        sql<{ id: string }>`(
          select post_id as id from timeline where reader_id = ${asUuid(reader)} order by post_id desc limit 21)`.as(
          'page'
        ),
        'page.id',
        'posts.id'
      )
      .orderBy('posts.id', 'desc').execute()
  const scan = (reader: string) =>
    selectPosts(db, reader)
      .where(sql<boolean>`posts.deleted_at is null and posts.visibility <> 'PRIVATE'`)
      .where(isFollowing(reader, sql.ref('posts.author_id')))
      .orderBy('posts.id', 'desc').limit(21).execute()

  for (const kind of ['44 followed', '2,000 followed', '10,000 followed', '10,000 followed without posts']) {
    const people = readers[kind]!.slice(0, 5)
    for (const reader of people) {
      await sql`
        insert into timeline select ${asUuid(reader)}, posts.id from follows join posts on posts.author_id = followed_id
        where follower_id = ${asUuid(reader)} and visibility <> 'PRIVATE' order by posts.id desc limit 800`.execute(
        untimed
      )
    }
    await sql`vacuum (analyze) timeline`.execute(untimed)
    const turns = kind.startsWith('10,000') ? 30 : 100
    const one = (turn: number) => people[turn % people.length]!
    const written = await time(turns, (turn) => timeline(one(turn)))
    print(`following (${kind}), precomputed timeline`, written)
    print(
      `following (${kind}), newest of each followed (this service)`,
      await time(turns, (turn) => readFollowing(db, one(turn), { limit: 20 })),
      written
    )
    const scanned = await time(turns, (turn) => scan(one(turn))).catch(() => undefined)
    if (scanned) print(`following (${kind}), scan of all posts`, scanned, written)
    else console.log(`following (${kind}), scan of all posts: not within 2 s`)
  }
  const write = await time(
    20,
    () =>
      sql`insert into timeline select follower_id, uuidv7() from follows where followed_id = ${asUuid(star)}`.execute(
        db
      )
  )
  print('writing one post to 10,000 precomputed timelines', write)
  await sql`drop table timeline`.execute(db)
}
