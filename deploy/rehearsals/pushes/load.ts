import { setTimeout as sleep } from 'node:timers/promises'
import { LevelReached, type EventDefinition } from '@tandem/contracts'
import { sql } from 'kysely'
import type { Db, World } from './world.ts'

/** An event to publish. `key` identifies the push that it causes. */
export interface LoadEvent {
  event: EventDefinition
  key: string
  subject: string
  data: object
}

export interface PublishedEvent {
  key: string
  /** The time of publishing, in milliseconds since 1970. */
  at: number
}

/** Publishes events through the outboxes of their services, at a constant rate. */
export async function publishPaced (db: Db, events: LoadEvent[], perSecond: number): Promise<PublishedEvent[]> {
  const published: PublishedEvent[] = []
  const began = performance.now()
  while (published.length < events.length) {
    const due = events.slice(published.length, Math.floor((performance.now() - began) / 1_000 * perSecond) + 1)
    for (const { event, key, subject, data } of due) {
      const at = Date.now()
      const outbox = sql.table(`${event.service}.outbox`)
      await sql`
        insert into ${outbox} (type, subject, data)
        values (${event.type}, ${subject}, ${JSON.stringify(data)}::jsonb)`.execute(db)
      published.push({ key, at })
    }
    await sleep(5)
  }
  return published
}

/** Levels of each person in turn, from the event with number `from`. */
export function createLevels (accounts: string[], count: number, from = 0): LoadEvent[] {
  return Array.from({ length: count }, (_, each) => {
    const accountId = accounts[(from + each) % accounts.length]!
    const level = 2 + Math.floor((from + each) / accounts.length)
    return { event: LevelReached, key: `${accountId} ${level}`, subject: accountId, data: { accountId, level } }
  })
}

/** The broker redelivers the messages of a killed process after ten seconds. */
const REDELIVERY_MS = 12_000

/**
 * Waits until every published event has its notification, and every notification is delivered.
 * @param notifications the least number of notifications that must exist
 */
export async function waitUntilDelivered ({ db, check }: World, timeoutSeconds: number, notifications = 0) {
  const end = Date.now() + timeoutSeconds * 1_000
  for (;;) {
    const open = await countOpen(db)
    if (open.unpublished + open.undelivered === 0 && open.created >= notifications) {
      await sleep(REDELIVERY_MS)
      const later = await countOpen(db)
      if (later.undelivered === 0 && later.created === open.created) return
    }
    if (Date.now() > end) {
      check(false, `everything is delivered after ${timeoutSeconds} s: ${JSON.stringify(open)}`)
      return
    }
    await sleep(1_000)
  }
}

async function countOpen (db: Db) {
  const { rows: [counts] } = await sql<{ unpublished: number, undelivered: number, created: number }>`
    select (select count(*)::int from dashboard.outbox where published_at is null) as unpublished,
      (select count(*)::int from notification.deliveries where status in ('pending', 'held')) as undelivered,
      (select count(*)::int from notification.notifications) as created`.execute(db)
  return counts!
}
