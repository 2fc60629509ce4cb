import { sql } from 'kysely'
import { removeNoticesBetween } from '../inbox/withdrawals.ts'
import type { Db } from '../schema.ts'

export interface PersonCopy { accountId: string, name: string, image: string | null, locale: string, timezone: string }

/** Keeps the copy of people. News that come late do not undo newer ones; without `at` they only fill what is missing. */
export async function keepPeople (db: Db, people: PersonCopy[], at: Date = new Date(0)) {
  if (people.length === 0) return
  const sorted = people.toSorted((a, b) => a.accountId < b.accountId ? -1 : 1)
  await db.insertInto('people')
    .values(sorted.map(({ accountId, name, image, locale, timezone }) => ({ account_id: accountId, name, image, locale, timezone, changed_at: at })))
    .onConflict((conflict) => conflict.column('account_id')
      .doUpdateSet((row) => ({
        name: row.ref('excluded.name'),
        image: row.ref('excluded.image'),
        locale: row.ref('excluded.locale'),
        timezone: row.ref('excluded.timezone'),
        changed_at: row.ref('excluded.changed_at')
      }))
      .whereRef('people.changed_at', '<', 'excluded.changed_at'))
    .execute()
  // Whoever is known gets what is written to everybody.
  await db.insertInto('inboxes')
    .values(sorted.map(({ accountId }) => ({ account_id: accountId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

interface Block { blockerId: string, blockedId: string }

/** Notes that one does not exist for the other, or does again; the later of two pieces of news holds. */
export async function keepBlock (db: Db, { blockerId, blockedId }: Block, { lifted, at }: { lifted: boolean, at: Date }) {
  await db.transaction().execute(async (trx) => {
    const kept = await trx.insertInto('blocks')
      .values({ blocker_id: blockerId, blocked_id: blockedId, lifted, changed_at: at })
      .onConflict((conflict) => conflict.columns(['blocker_id', 'blocked_id'])
        .doUpdateSet({ lifted, changed_at: at })
        .where('blocks.changed_at', '<=', sql<Date>`excluded.changed_at`))
      .returning('blocker_id')
      .executeTakeFirst()
    if (kept && !lifted) await removeNoticesBetween(trx, blockerId, blockedId)
  })
}
