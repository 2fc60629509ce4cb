import { createQueryGauge, type QueryGaugeSource } from '@tandem/database-kit'
import { sql } from 'kysely'
import { Counter } from 'prom-client'
import type { MailTables } from './mails.ts'

/** The services whose mailers run in this process. */
export const mailSources = new Set<QueryGaugeSource<MailTables>>()

const OUTCOMES = ['sent', 'retried', 'failed', 'dropped'] as const

export const attempts = new Counter({
  name: 'mail_attempts_total',
  help: 'Attempts to send an email: sent, to be retried, failed for good, or dropped as superseded or expired',
  labelNames: ['service', 'outcome'] as const
})

/** Starts the counter at 0: a rate in Prometheus misses the first count of a new series. */
export function initializeAttempts (service: string) {
  for (const outcome of OUTCOMES) attempts.inc({ service, outcome }, 0)
}

createQueryGauge({
  name: 'mail_waiting',
  help: 'Emails that are not sent yet',
  sources: mailSources,
  query: async (db) =>
    await db.selectFrom('mails').select(sql<number>`count(*)`.as('value'))
      .where('status', 'in', ['pending', 'sending'])
      .executeTakeFirst()
})

createQueryGauge({
  name: 'mail_oldest_seconds',
  help: 'Age of the oldest email that is not sent yet',
  sources: mailSources,
  // The ids are UUIDv7, which sort by time, so this reads one row of the index of unsent mails.
  query: async (db) =>
    await db.selectFrom('mails').select(sql<number>`extract(epoch from now() - created_at)::float8`.as('value'))
      .where('status', 'in', ['pending', 'sending'])
      .orderBy('id').limit(1)
      .executeTakeFirst()
})
