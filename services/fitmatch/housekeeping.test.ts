import { checkSteps, expiredIdempotencyKey } from '@tandem/database-kit/testing'
import { sql } from 'kysely'
import t from 'tap'
import { runHousekeeping } from './housekeeping.ts'
import { testApp } from './test/app.ts'

const { db, deps } = await testApp(t)

t.test('a step that fails does not stop the next', async (t) => {
  await checkSteps(t, {
    db,
    run: async () => await runHousekeeping(deps),
    missing: 'selfies',
    expired: expiredIdempotencyKey(),
    table: 'idempotency_keys'
  })
})

t.test('matches that ended long ago are deleted with their messages, never very many at once', async (t) => {
  await sql`insert into matches (low_id, high_id, match_type, ended_at)
    select gen_random_uuid(), 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'LIKE',
      now() - make_interval(days => case when n <= 150 then 31 else 29 end) from generate_series(1, 151) n`.execute(db)
  await sql`insert into messages (match_id, sender_id, image_url, created_at)
    select id, low_id, 'private/' || id || '.webp', now() from matches`.execute(db)
  // Two people who wrote for a long time.
  await sql`insert into messages (match_id, sender_id, content, created_at)
    select matches.id, low_id, 'Hi', now() - n * interval '1 second'
    from (select * from matches where ended_at < now() - interval '30 days' limit 1) matches, generate_series(1, 2500) n`
    .execute(db)
  // Stands for the timeout of a statement.
  await sql`create function refuse_many () returns trigger language plpgsql as $$
    begin
      if (select count(*) from gone) > tg_argv[0]::int then raise exception 'too many at once'; end if;
      return null;
    end $$`.execute(db)
  for (const [table, limit] of [['matches', 100], ['messages', 1_000]] as const) {
    await sql`create trigger refuse_many after delete on ${sql.table(table)} referencing old table as gone
      for each statement execute function refuse_many(${sql.lit(limit)})`.execute(db)
  }
  await runHousekeeping(deps)
  t.equal((await db.selectFrom('messages').select('id').execute()).length, 1)
  t.same(await db.selectFrom('unused_files').select('key').execute(), [], 'their images are deleted too')
})
