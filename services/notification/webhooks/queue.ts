import { setTimeout as sleep } from 'node:timers/promises'
import { Counter } from 'prom-client'
import { signWebhook } from '@tandem/http-kit'
import type { Log } from '@tandem/process-kit'
import { createQueue, retryAfter, type Outcome, type QueueTestOptions } from '@tandem/queue-kit'
import type { Db } from '../tables.ts'
import { markFailed, markSent, postpone } from './actions.ts'
import type { Poster } from './poster.ts'
import { claimWebhooks, findPending, listPendingWebhooks, type ClaimedWebhook } from './queries.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** The pauses after failed attempts; the last one repeats. */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  4 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS
]
const MAX_JITTER = 0.25
const SWEEP_MIN_AGE_SECONDS = 30
const OTHER_LANE_POLL_MS = 1_000

const attemptsTotal = new Counter({
  name: 'notification_webhook_attempts_total',
  help: 'Attempts to deliver a webhook by outcome',
  labelNames: ['outcome'] as const
})
for (const outcome of ['sent', 'later', 'failed']) attemptsTotal.inc({ outcome }, 0)

interface Options extends QueueTestOptions {
  db: Db
  poster: Poster
  redisUrl: string
  log: Log
  /** The pauses after failed attempts, for tests. */
  retryDelaysMs?: number[]
}

export interface WebhookQueue {
  /**
   * Enqueues committed deliveries, or an endpoint with all that is due for it. Never throws: a sweep finds in Postgres
   * what Redis does not accept.
   */
  enqueue(ids: string[]): Promise<void>
  start(): void
  close(): Promise<void>
}

/**
 * Sends webhooks. Each endpoint has one lane in a process, which works through what is due for it, oldest first, and of
 * several processes one sends at a time. So one that is dead or slow delays nobody else. The order holds for each account
 * as long as nothing has to be retried.
 */
export function createWebhookQueue (
  { db, poster, redisUrl, log, retryDelaysMs = RETRY_DELAYS_MS, ...options }: Options
): WebhookQueue {
  let isClosing = false
  /** The lanes that are open in this process; true if another job came meanwhile. */
  const lanes = new Map<string, boolean>()

  const queue = createQueue({
    sweepMinAgeSeconds: SWEEP_MIN_AGE_SECONDS,
    ...options,
    name: 'notification-webhooks',
    redisUrl,
    log,
    // Of these only one for each endpoint takes longer than a query.
    concurrency: 64,
    work,
    listPending: async (query) => await listPendingWebhooks(db, query)
  })

  async function work (id: string): Promise<Outcome> {
    const before = await findPending(db, id)
    if (!before) return
    if (before.delayMs > 0) return retryAfter(before.delayMs)
    // The open lane sends it.
    if (lanes.has(before.endpointId)) return void lanes.set(before.endpointId, true)
    await openLane(before.endpointId)
    // A job cannot be enqueued while it runs, so that of a delivery waits for the next attempt itself.
    if (before.id !== id) return
    const after = await findPending(db, id)
    return after && retryAfter(after.delayMs)
  }

  async function openLane (endpointId: string) {
    try {
      do {
        lanes.set(endpointId, false)
        while (!isClosing && await deliverBatch(endpointId));
      } while (!isClosing && lanes.get(endpointId))
    } finally {
      lanes.delete(endpointId)
    }
  }

  /** @returns false if nothing is due */
  async function deliverBatch (endpointId: string) {
    const claimed = await claimWebhooks(db, endpointId)
    // Another process sends; this one goes on if that one dies.
    if (!claimed) return await sleep(OTHER_LANE_POLL_MS, true)
    const ofAccounts = Map.groupBy(claimed, ({ accountId, id }) => accountId ?? id)
    await Promise.all([...ofAccounts.values()].map(async (webhooks) => {
      for (const webhook of webhooks) await deliver(webhook)
    }))
    return claimed.length > 0
  }

  async function deliver (webhook: ClaimedWebhook) {
    const { id, endpointId, messageId, type, data, occurredAt, url, secret, attempts, isLastAttempt } = webhook
    const body = JSON.stringify({ type, timestamp: occurredAt.toISOString(), data })
    const result = await poster.post({
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Webhooks',
        ...signWebhook({ id: messageId, body, secret })
      },
      body
    })
    const outcome = result.error === null ? 'sent' : isLastAttempt ? 'failed' : 'later'
    attemptsTotal.inc({ outcome })
    log.info({ deliveryId: id, endpointId, webhookId: messageId, outcome, ...result }, 'attempted a webhook')
    if (outcome === 'sent') return await markSent(db, webhook, result)
    if (outcome === 'failed') return await markFailed(db, webhook, result)
    const pauseMs = retryDelaysMs[attempts - 1] ?? retryDelaysMs.at(-1)!
    const delayMs = Math.ceil(pauseMs * (1 + Math.random() * MAX_JITTER))
    await postpone(db, webhook, result, delayMs)
    await queue.enqueue([{ id, delayMs }])
  }

  return {
    enqueue: async (ids) => await queue.enqueue(ids),
    start: () => queue.start(),
    async close () {
      isClosing = true
      await queue.close()
      await poster.close()
    }
  }
}
