import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { testSchema } from '@tandem/test-kit'
import { listBreakingChanges } from './compatibility.ts'

const begin = `
  create table posts (id int primary key, content text, kind text not null default 'TEXT', likes int not null default 0);
  create table likes (post_id int not null, account_id int not null);`

/** A service whose second migration is `text`. */
async function breaksOf (t: Test, text: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-migrations-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const service = path.join(folder, 'any')
  await mkdir(path.join(service, 'migrations'), { recursive: true })
  await writeFile(path.join(service, 'package.json'), '{}')
  await writeFile(path.join(service, 'migrations/001-begin.sql'), begin)
  await writeFile(path.join(service, 'migrations/002-next.sql'), text)
  let breaks: string[] = []
  await testSchema(t, async (url) => {
    breaks = await listBreakingChanges(url, service)
  })
  return breaks
}

t.test('what the version before need not know of breaks nothing', async (t) => {
  t.same(
    await breaksOf(
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

t.test('what it reads, or must know of to write, is found', async (t) => {
  t.same(await breaksOf(t, 'drop table likes'), ['any/002-next: likes is gone'])
  t.same(await breaksOf(t, 'alter table posts rename content to body'), ['any/002-next: posts.content is gone'])
  t.same(await breaksOf(t, 'alter table posts alter likes type bigint'), [
    'any/002-next: posts.likes was integer and is bigint'
  ])
  t.same(await breaksOf(t, 'alter table posts alter content set not null'), [
    'any/002-next: posts.content may be null no more'
  ])
  t.same(await breaksOf(t, 'alter table posts alter kind drop default'), [
    'any/002-next: posts.kind has no default any more'
  ])
  t.same(await breaksOf(t, 'alter table likes add kind text not null'), ['any/002-next: likes.kind must be filled in'])
})

t.test('so is what may refuse what it writes', async (t) => {
  t.same(await breaksOf(t, 'alter table likes add constraint once primary key (post_id, account_id)'), [
    'any/002-next: likes.once is a new rule: PRIMARY KEY (post_id, account_id)'
  ])
  t.same(await breaksOf(t, "alter table posts add constraint kinds check (kind = 'TEXT')"), [
    "any/002-next: posts.kinds is a new rule: CHECK ((kind = 'TEXT'::text))"
  ])
  t.match(await breaksOf(t, 'alter table likes add constraint of foreign key (post_id) references posts'), [
    /^any\/002-next: likes\.of is a new rule: FOREIGN KEY/
  ])
  t.match(await breaksOf(t, 'create unique index one_each on likes (account_id)'), [
    /^any\/002-next: likes\.one_each is a new rule: CREATE UNIQUE INDEX/
  ])
})

t.test('a migration may say of a thing why it is safe, and of no other', async (t) => {
  t.same(
    await breaksOf(
      t,
      '-- Safe: posts.content, which nothing has used since version 1.4\nalter table posts drop content, drop kind'
    ),
    ['any/002-next: posts.kind is gone']
  )
})
