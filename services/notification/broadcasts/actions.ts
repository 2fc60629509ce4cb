import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { runPeriodically, type Log } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { writeNotices } from '../inbox/actions.ts'
import { planNotification, type NotificationRequest } from '../inbox/planning.ts'
import { recipientColumns, type Recipient } from '../inbox/recipients.ts'
import type { Waiting } from '../push/pushes.ts'
import type { Bilingual, Db, Trx } from '../tables.ts'

const CHUNK = 500
const LOOK_EVERY = 1_000
// Enough to keep the workers busy; more would only lie in Redis.
const FULL = 5_000
const PAUSE_WHEN_FULL = 200

interface Broadcast { id: string, title: Bilingual, body: Bilingual }

/** Notes what is to be written to everybody; the spreading takes it from there. */
export async function insertBroadcast (db: Db, { id, title, body }: Broadcast, at: Date) {
  await db.insertInto('broadcasts')
    .values({ id, title: JSON.stringify(title), body: JSON.stringify(body), created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Writes broadcasts to everybody, chunk by chunk, until stopped. Replicas take turns; whoever dies leaves the next chunk to another. */
export function startSpreading (deps: Deps, log: Log) {
  let stopping = false
  const stop = runPeriodically(async () => {
    while (!stopping && await notifyNextChunk(deps)) {
      while (!stopping && await isFull(deps)) await sleep(PAUSE_WHEN_FULL)
    }
  }, { intervalMs: LOOK_EVERY, log })
  return async () => {
    stopping = true
    await stop()
  }
}

// While Redis is away nobody can tell, and what is written now is offered once it is back.
const isFull = async ({ pushes }: Deps) => await pushes.lowDepth().then((depth) => depth > FULL, () => false)

/**
 * Tells the next accounts, in the order of their ids, and how far it came, in one transaction.
 * @returns false when there is nothing to do, or another replica does it
 */
export async function notifyNextChunk ({ db, pushes, now }: Deps): Promise<boolean> {
  let waiting: Waiting[] = []
  const worked = await db.transaction().execute(async (trx) => {
    const broadcast = await trx.selectFrom('broadcasts').where('finished_at', 'is', null)
      .select(['id', 'title', 'body', 'told_up_to', 'created_at'])
      .orderBy('created_at').limit(1).forUpdate().skipLocked()
      .executeTakeFirst()
    if (!broadcast) return false

    const recipients = await listAfter(trx, broadcast.told_up_to)
    const { title, body } = broadcast
    const telling: NotificationRequest = {
      kind: 'broadcast',
      cause: `broadcast:${broadcast.id}`,
      to: [],
      data: { broadcastId: broadcast.id },
      params: { title_en: title.en, title_id: title.id, body_en: body.en, body_id: body.id }
    }
    const plans = recipients.map((recipient) => planNotification(telling, recipient, { now: now(), happenedAt: broadcast.created_at }))
    const written = await writeNotices(trx, plans, { low: true })
    waiting = [...written.waiting.values()].flat()
    await trx.updateTable('broadcasts')
      .set({
        told_up_to: recipients.at(-1)?.accountId ?? broadcast.told_up_to,
        told: sql`told + ${written.told.size}`,
        ...recipients.length < CHUNK && { finished_at: sql`now()` }
      })
      .where('id', '=', broadcast.id)
      .execute()
    return true
  })
  await pushes.offer(waiting)
  return worked
}

async function listAfter (trx: Trx, accountId: string) {
  const { rows } = await sql<Recipient>`
    select wanted.account_id as "accountId", ${recipientColumns}
    from (select account_id from inboxes where account_id > ${accountId} order by account_id limit ${sql.lit(CHUNK)}) wanted
    left join people on people.account_id = wanted.account_id
    left join preferences on preferences.account_id = wanted.account_id
    order by wanted.account_id`.execute(trx)
  return rows
}
