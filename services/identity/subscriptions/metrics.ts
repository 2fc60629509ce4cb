import { sql } from 'kysely'
import { Counter, Gauge } from 'prom-client'
import type { Db } from '../tables.ts'

/** The database of this process, once it asks the stores. */
export const subscriptionSource: { db?: Db } = {}

/** What ended, so that the churn of a day is its increase. */
export const endedSubscriptions = new Counter({
  name: 'identity_subscriptions_ended_total',
  help: 'Subscriptions that ended: EXPIRED, or CANCELED by a refund or an operator',
  labelNames: ['status'] as const
})
for (const status of ['EXPIRED', 'CANCELED']) endedSubscriptions.inc({ status }, 0)

new Gauge({
  name: 'identity_purchases',
  help: 'Purchases that accounts have, by what the store says; TRIAL is an active one that is free',
  labelNames: ['state'] as const,
  async collect () {
    this.reset()
    if (!subscriptionSource.db) return
    const { rows } = await sql<{ state: string, count: number }>`
      select case when is_trial and state = 'ACTIVE' then 'TRIAL' else state end as state, count(*)::int as count
      from purchases where account_id is not null and not is_replaced and state not in ('EXPIRED', 'REVOKED')
        and (state not in ('ACTIVE', 'GRACE') or greatest(period_end, grace_end) > now() - interval '1 day')
      group by 1`.execute(subscriptionSource.db)
    for (const state of ['ACTIVE', 'TRIAL', 'GRACE', 'HOLD', 'PAUSED', 'PENDING']) this.set({ state }, 0)
    for (const { state, count } of rows) this.set({ state }, count)
  }
})

new Gauge({
  name: 'identity_unacknowledged_purchase_oldest_seconds',
  help: 'How long ago the oldest purchase was sold that Google has not been told of; it refunds them after three days',
  async collect () {
    if (!subscriptionSource.db) return
    const { rows: [oldest] } = await sql<{ seconds: number }>`
      select coalesce(extract(epoch from now() - min(bought_at)), 0)::float8 as seconds
      from purchases where needs_acknowledgement and account_id is not null`.execute(subscriptionSource.db)
    this.set(oldest?.seconds ?? 0)
  }
})

new Gauge({
  name: 'identity_store_notification_oldest_seconds',
  help: 'How long the oldest notification has waited for its store to answer',
  async collect () {
    if (!subscriptionSource.db) return
    const { rows: [oldest] } = await sql<{ seconds: number }>`
      select coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as seconds
      from store_notifications where done_at is null`.execute(subscriptionSource.db)
    this.set(oldest?.seconds ?? 0)
  }
})
