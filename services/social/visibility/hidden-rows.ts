import { sql } from 'kysely'
import { settleEach } from '@tandem/process-kit'
import type { Db } from '../tables.ts'

/**
 * What hidden people did, as `counts.ts` subtracts it and feeds pass over it: in each table, the person of a row and the
 * mark of it.
 */
const marks = [
  ['posts', 'author_id', 'author_hidden'],
  ['likes', 'account_id', 'account_hidden'],
  ['comments', 'author_id', 'author_hidden'],
  ['poll_votes', 'account_id', 'account_hidden'],
  ['story_views', 'account_id', 'account_hidden'],
  ['story_reactions', 'account_id', 'account_hidden'],
  ['follows', 'follower_id', 'follower_hidden'],
  ['follows', 'followed_id', 'followed_hidden']
] as const

/** Keeps each statement well below its timeout. */
const BATCH_SIZE = 2_000

/** Marks the rows of a person according to whether they are hidden now. */
export async function markRowsOf (db: Db, accountId: string) {
  for (const mark of marks) while (await markBatch(db, accountId, mark) > 0n);
}

async function markBatch (db: Db, accountId: string, [table, person, mark]: typeof marks[number]) {
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set ${sql.ref(mark)} = not ${sql.ref(mark)} where ctid = any(array(
      select counted.ctid from ${sql.table(table)} counted, hidden_people hidden
      where hidden.account_id = ${accountId} and counted.${sql.ref(person)} = ${accountId}
        and counted.${sql.ref(mark)} <> hidden.is_hidden limit ${sql.lit(BATCH_SIZE)}))`.execute(db)
  return numAffectedRows
}

/** Marks again what people did at the moment at which they were hidden, or came back. */
export async function markRecentlyHidden (db: Db) {
  const people = await db.selectFrom('hidden_people').where('changed_at', '>', sql<Date>`now() - interval '1 hour'`)
    .select('account_id').execute()
  await settleEach(people, async ({ account_id: accountId }) => await markRowsOf(db, accountId))
}
