import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { listBreakingChanges } from './compatibility.ts'
import { testSchema } from './testing.ts'

const firstMigration = `
  create table posts (id int primary key, content text, kind text not null default 'TEXT', likes int not null default 0);
  create table likes (post_id int not null, account_id int not null);`

/** A service whose second migration is `text`. */
async function breakingChangesOf (t: Test, text: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-migrations-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const service = path.join(folder, 'any')
  await mkdir(path.join(service, 'migrations'), { recursive: true })
  await writeFile(path.join(service, 'package.json'), '{}')
  await writeFile(path.join(service, 'migrations/001-first.sql'), firstMigration)
  await writeFile(path.join(service, 'migrations/002-next.sql'), text)
  let breakingChanges: string[] = []
  await testSchema(t, async (url) => {
    breakingChanges = await listBreakingChanges(url, service)
  })
  return breakingChanges
}

t.test('additions that the previous version can ignore are not reported', async (t) => {
  t.same(
    await breakingChangesOf(
      t,
      `
    create table bookmarks (post_id int primary key references posts on delete cascade, note text not null);
    alter table posts add views int not null default 0, add place text, add shout text generated always as (upper(content)) stored;
    alter table posts alter kind drop not null;
    create index likes_of_account on likes (account_id);`
    ),
    []
  )
})

t.test('changes of what the previous version reads or writes are reported', async (t) => {
  t.same(await breakingChangesOf(t, 'drop table likes'), ['any/002-next: likes was removed'])
  t.same(await breakingChangesOf(t, 'alter table posts rename content to body'), [
    'any/002-next: posts.content was removed'
  ])
  t.same(await breakingChangesOf(t, 'alter table posts alter likes type bigint'), [
    'any/002-next: posts.likes was integer and is bigint'
  ])
  t.same(await breakingChangesOf(t, 'alter table posts alter content set not null'), [
    'any/002-next: posts.content is no longer nullable'
  ])
  t.same(await breakingChangesOf(t, 'alter table posts alter kind drop default'), [
    'any/002-next: posts.kind no longer has a default'
  ])
  t.same(await breakingChangesOf(t, 'alter table likes add kind text not null'), [
    'any/002-next: likes.kind is required and has no default'
  ])
})

t.test('constraints that could reject its rows are reported', async (t) => {
  t.same(await breakingChangesOf(t, 'alter table likes add constraint once primary key (post_id, account_id)'), [
    'any/002-next: likes.once is a new constraint: PRIMARY KEY (post_id, account_id)'
  ])
  t.same(await breakingChangesOf(t, "alter table posts add constraint kinds check (kind = 'TEXT')"), [
    "any/002-next: posts.kinds is a new constraint: CHECK ((kind = 'TEXT'::text))"
  ])
  t.match(await breakingChangesOf(t, 'alter table likes add constraint of foreign key (post_id) references posts'), [
    /^any\/002-next: likes\.of is a new constraint: FOREIGN KEY/
  ])
  t.match(await breakingChangesOf(t, 'create unique index one_each on likes (account_id)'), [
    /^any\/002-next: likes\.one_each is a new constraint: CREATE UNIQUE INDEX/
  ])
})

t.test('a change that the migration declares safe is not reported, and others are', async (t) => {
  t.same(
    await breakingChangesOf(
      t,
      '-- Safe: posts.content, which nothing has used since version 1.4\nalter table posts drop content, drop kind'
    ),
    ['any/002-next: posts.kind was removed']
  )
})
