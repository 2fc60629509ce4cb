import { claimOnce, on } from '@tandem/bus-kit'
import {
  AccountErasing,
  AccountRegistered,
  AccountVerified,
  ContentReportResolved,
  MatchMade,
  PostCreated,
  ReportResolved,
  SubscriptionChanged
} from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { countMatch, createLastWebhook, createWebhook, type WebhookMessage } from './actions.ts'

type WebhookDeps = Pick<Deps, 'db' | 'webhooks'>

async function send ({ db, webhooks }: WebhookDeps, message: WebhookMessage) {
  await webhooks.enqueue(await db.transaction().execute(async (trx) => await createWebhook(trx, message)))
}

/** The handlers of the events that leave as webhooks. */
export const onEventForWebhooks = (deps: WebhookDeps) => [
  on(
    AccountRegistered,
    async ({ id, time: occurredAt, data: { accountId, locale } }) =>
      await send(deps, { id, type: 'account.registered', accountId, data: { accountId, locale }, occurredAt })
  ),

  on(
    AccountVerified,
    async ({ id, time: occurredAt, data: { accountId } }) =>
      await send(deps, { id, type: 'account.verified', accountId, data: { accountId }, occurredAt })
  ),

  on(SubscriptionChanged, async ({ id, time: occurredAt, data }) => {
    const { accountId, planId, status, currentPeriodStart, currentPeriodEnd } = data
    await send(deps, {
      id,
      type: 'subscription.changed',
      accountId,
      data: { accountId, planId, status, currentPeriodStart, currentPeriodEnd },
      occurredAt
    })
  }),

  on(
    PostCreated,
    async ({ id, time: occurredAt, data: { postId, authorId: accountId } }) =>
      await send(deps, { id, type: 'post.created', accountId, data: { postId, accountId }, occurredAt })
  ),

  on(ContentReportResolved, async ({ id, time: occurredAt, data: { reportId, outcome } }) =>
    await send(deps, {
      id,
      type: 'report.decided',
      accountId: null,
      data: { reportId, area: 'SOCIAL', outcome },
      occurredAt
    })),

  on(ReportResolved, async ({ id, time: occurredAt, data: { reportId, action, outcome } }) =>
    await send(deps, {
      id,
      type: 'report.decided',
      accountId: null,
      data: {
        reportId,
        area: 'FITMATCH',
        outcome: outcome ?? (action === 'SUSPEND' ? 'ACTION_TAKEN' : 'NO_VIOLATION')
      },
      occurredAt
    })),

  on(MatchMade, async ({ id, time }) => {
    await deps.db.transaction().execute(async (trx) => {
      if (await claimOnce(trx, id, 'webhook match counts')) await countMatch(trx, time)
    })
  })
]

/** Comes after the handler that writes the tombstone, from which on no webhook about the account is created. */
export const onAccountErasing = ({ db, webhooks }: WebhookDeps) =>
  on(AccountErasing, async ({ time: occurredAt, data: { erasureId, accountId } }) => {
    await webhooks.enqueue(
      await db.transaction().execute(async (trx) => await createLastWebhook(trx, { erasureId, accountId, occurredAt }))
    )
  })
