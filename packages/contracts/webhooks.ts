// What leaves for the webhook endpoints of other teams, and no private life: of a person there is only the id,
// and what their schema here says.
import Type from 'typebox'
import { Id, Outcome, Timestamp } from './schemas.ts'

/** The `data` of a webhook by its published type. A new field is optional; a changed meaning is a new type. */
export const webhookData = {
  'account.registered': Type.Object({
    accountId: Id,
    /** The language, such as `id`. */
    locale: Type.String()
  }),
  'account.verified': Type.Object({ accountId: Id }),
  /** The account is being erased. It is the last webhook about the account. */
  'account.deleted': Type.Object({ accountId: Id }),
  'subscription.changed': Type.Object({
    accountId: Id,
    planId: Type.String(),
    status: Type.Enum(['ACTIVE', 'CANCELED', 'EXPIRED']),
    currentPeriodStart: Timestamp,
    currentPeriodEnd: Timestamp
  }),
  /** Of a post that everybody can see. */
  'post.created': Type.Object({ postId: Id, accountId: Id }),
  /** It names neither who reported nor who was reported. */
  'report.decided': Type.Object({
    reportId: Id,
    area: Type.Enum(['SOCIAL', 'FITMATCH']),
    outcome: Outcome
  }),
  /** How many matches were made from `from` until before `to`. Counts of the same hour add up. */
  'match.created': Type.Object({ count: Type.Integer({ minimum: 1 }), from: Timestamp, to: Timestamp })
}

export type WebhookType = keyof typeof webhookData
export type WebhookData<Type extends WebhookType> = Type.Static<(typeof webhookData)[Type]>

/** The types that an endpoint can ask for. */
export const WEBHOOK_TYPES = Object.keys(webhookData) as WebhookType[]
