import type Type from 'typebox'
import { claimOnce, on } from '@tandem/bus-kit'
import {
  AccountErasing,
  AccountRegistered,
  AccountVerified,
  ContentReportResolved,
  MatchMade,
  PostCreated,
  ReportResolved,
  SubscriptionChanged,
  type EventDefinition
} from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { countMatch, createLastWebhook, createWebhook, type WebhookContent } from './actions.ts'

type WebhookDeps = Pick<Deps, 'db' | 'webhooks'>

/** The handlers of the events that leave as webhooks. */
export function onEventForWebhooks ({ db, webhooks }: WebhookDeps) {
  const sendAs = <Schema extends Type.TSchema>(
    event: EventDefinition<Schema>,
    contentOf: (data: NoInfer<Type.Static<Schema>>) => WebhookContent
  ) =>
    on(event, async ({ id, time: occurredAt, data }) => {
      const message = { ...contentOf(data), id, occurredAt }
      await webhooks.enqueue(await db.transaction().execute(async (trx) => await createWebhook(trx, message)))
    })

  return [
    sendAs(AccountRegistered, ({ accountId, locale }) => ({
      type: 'account.registered',
      accountId,
      data: { accountId, locale }
    })),
    sendAs(AccountVerified, ({ accountId }) => ({ type: 'account.verified', accountId, data: { accountId } })),
    sendAs(SubscriptionChanged, ({ accountId, planId, status, currentPeriodStart, currentPeriodEnd }) => ({
      type: 'subscription.changed',
      accountId,
      data: { accountId, planId, status, currentPeriodStart, currentPeriodEnd }
    })),
    sendAs(PostCreated, ({ postId, authorId: accountId }) => ({
      type: 'post.created',
      accountId,
      data: { postId, accountId }
    })),
    sendAs(ContentReportResolved, ({ reportId, outcome }) => ({
      type: 'report.decided',
      accountId: null,
      data: { reportId, area: 'SOCIAL', outcome }
    })),
    sendAs(ReportResolved, ({ reportId, action, outcome }) => ({
      type: 'report.decided',
      accountId: null,
      data: {
        reportId,
        area: 'FITMATCH',
        outcome: outcome ?? (action === 'SUSPEND' ? 'ACTION_TAKEN' : 'NO_VIOLATION')
      }
    })),
    on(MatchMade, async ({ id, time }) => {
      await db.transaction().execute(async (trx) => {
        if (await claimOnce(trx, id, 'webhook match counts')) await countMatch(trx, time)
      })
    })
  ]
}

/** Comes after the handler that writes the tombstone, from which on no webhook about the account is created. */
export const onAccountErasing = ({ db, webhooks }: WebhookDeps) =>
  on(AccountErasing, async ({ time: occurredAt, data: { erasureId, accountId } }) => {
    await webhooks.enqueue(
      await db.transaction().execute(async (trx) => await createLastWebhook(trx, { erasureId, accountId, occurredAt }))
    )
  })
