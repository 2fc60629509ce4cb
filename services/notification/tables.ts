import type { ColumnType, Generated, Kysely, Transaction } from 'kysely'
import type { ErasureTables } from '@tandem/account-kit'
import type { OperatorTables } from '@tandem/operator-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { DailyQuotaTables, IdempotencyTables } from '@tandem/database-kit'
import type { ProducerEventType, WebhookType } from '@tandem/contracts'
import type { KeptFrameType } from '@tandem/contracts/realtime'
import type { MailTables } from '@tandem/mail-kit'
import type { Kind } from './texts/kinds.ts'
import type { NotificationType } from './texts/types.ts'

export type Platform = 'android' | 'ios'
/**
 * The state of a push, with the reason beside it:
 * - pending: waits for a worker, or for the time that the provider named; the reason is its response
 * - held: until quiet hours end, until the minute of likes ends, or for 5 s because the chat is on the screen
 * - sent: accepted by the provider; `log only` without a provider account
 * - muted: muted category, a person without pushes, read or deleted before it was due, subject deleted, a block, a hidden person, or an event
 *   that arrived more than a day late
 * - pruned: the token is dead (404 UNREGISTERED, 400 INVALID_ARGUMENT naming no other field, 403 SENDER_ID_MISMATCH),
 *   or the device signed out
 * - failed: refused for its content, or not sent within a day
 */
export type DeliveryStatus = 'pending' | 'sent' | 'muted' | 'held' | 'pruned' | 'failed'
/** Only the settings that an account changed. Everything else is on. */
export type Categories = Partial<Record<NotificationType, { push?: boolean, inApp?: boolean }>>
export type Params = Record<string, string | number | boolean | null>

type Json<Value> = ColumnType<Value, string, string>

export interface Tables
  extends
    OutboxTables,
    ProcessedEventTables,
    FailedMessageTables,
    IdempotencyTables,
    DailyQuotaTables,
    MailTables,
    ErasureTables,
    OperatorTables
{
  people: {
    account_id: string,
    name: string,
    image: string | null,
    locale: string,
    timezone: string,
    push_notifications: Generated<boolean | null>,
    changed_at: Date
  }
  blocks: { blocker_id: string, blocked_id: string, lifted: boolean, changed_at: Date, sequence: Generated<number> }
  inboxes: {
    account_id: string,
    realtime_seq: Generated<number>,
    realtime_deleted_seq: Generated<number>,
    realtime_epoch: string | null,
    realtime_until: Date | null,
    realtime_focus_match: string | null,
    realtime_focus_until: Date | null
  }
  realtime_frames: {
    account_id: string,
    seq: number,
    type: KeptFrameType,
    frame_key: string | null,
    ids: Json<Record<string, unknown>>,
    at: Date
  }
  preferences: {
    account_id: string,
    categories: ColumnType<Categories, string | undefined, string>,
    quiet_hours_enabled: Generated<boolean>,
    quiet_hours_start: Generated<string>,
    quiet_hours_end: Generated<string>
  }
  devices: {
    id: Generated<string>,
    account_id: string,
    session_id: string,
    token: string,
    platform: Platform,
    device_id: string | null,
    device_name: string | null,
    app_version: string | null,
    last_used_at: Generated<Date>,
    created_at: Generated<Date>
  }
  ended_sessions: { session_id: string, ended_at: Generated<Date> }
  notifications: {
    id: string,
    account_id: string,
    dedupe_key: string,
    kind: Kind,
    type: NotificationType,
    actor_id: string | null,
    others_count: Generated<number>,
    owner_id: string | null,
    subjects: Generated<string[]>,
    sequence: Generated<number>,
    data: Json<Record<string, string>>,
    params: Json<Params>,
    listed: boolean,
    created_at: Generated<Date>,
    read_at: Date | null,
    removed_at: Date | null,
    withdrawn: Generated<boolean>
  }
  post_likes: {
    post_id: string,
    liked_by: string,
    liked: boolean,
    notification_id: string | null,
    changed_at: Date,
    sequence: Generated<number>
  }
  like_digests: { post_id: string, notification_id: string | null, ends_at: Date }
  withdrawals: {
    subject: string,
    account_id: string,
    actor_id: string,
    spares_owner: boolean,
    sequence: number,
    withdrawn_at: Generated<Date>
  }
  rewritings: { subject: string, params: Json<Params>, sequence: number, rewritten_at: Generated<Date> }
  broadcasts: {
    id: string,
    title: Json<Localized>,
    body: Json<Localized>,
    cursor_account_id: Generated<string>,
    recipients_count: Generated<number>,
    created_at: Generated<Date>,
    finished_at: Date | null,
    stopped_at: Generated<Date | null>
  }
  trusted_contacts: {
    account_id: string,
    id: Generated<string>,
    name: string,
    email: string,
    locale: string,
    status: Generated<'PENDING' | 'CONFIRMED' | 'DECLINED'>,
    created_at: Generated<Date>,
    decided_at: Date | null
  }
  meeting_mails: {
    meeting_id: string,
    is_overdue: Generated<boolean>,
    is_cleared: Generated<boolean>,
    created_at: Generated<Date>
  }
  trusted_contact_links: { token_digest: Buffer, contact_id: string }
  trusted_contact_refusals: { account_id: string, address_digest: Buffer, refused_at: Generated<Date> }
  trusted_contact_requests: { address_digest: Buffer, requested_at: Date[], last_at: Date }
  producers: {
    id: Generated<string>,
    name: string,
    event_types: string[],
    events_per_second: number,
    dropped_count: Generated<number>,
    created_at: Generated<Date>,
    revoked_at: Date | null
  }
  producer_keys: {
    digest: Buffer,
    producer_id: string,
    hint: string,
    created_at: Generated<Date>,
    last_used_at: Date | null,
    revoked_at: Date | null
  }
  producer_rates: { producer_id: string, left_over: number, counted_at: Date }
  producer_event_ids: { producer_id: string, event_id: string, received_at: Generated<Date> }
  producer_events: {
    id: Generated<string>,
    producer_id: string,
    event_id: string,
    type: ProducerEventType,
    account_id: string | null,
    account_token: string | null,
    is_known: Generated<boolean>,
    data: Json<Record<string, unknown>>,
    occurred_at: Date,
    due_at: Date,
    attempts: Generated<number>
  }
  bookings: {
    producer_id: string,
    booking_id: string,
    account_id: string,
    id: Generated<string>,
    title: string | null,
    starts_at: Date | null,
    ends_at: Date | null,
    location_name: string | null,
    is_cancelled: Generated<boolean>,
    version: Generated<number>,
    occurred_at: Date,
    changed_at: Generated<Date>
  }
  deliveries: {
    id: string,
    notification_id: string,
    account_id: string,
    device_id: string,
    device_name: string | null,
    platform: Platform,
    low_priority: boolean,
    status: DeliveryStatus,
    reason: string | null,
    attempts: Generated<number>,
    due_at: Date,
    claimed_until: Date | null,
    created_at: Generated<Date>,
    finished_at: Date | null
  }
  webhook_endpoints: {
    id: Generated<string>,
    url: string,
    secret: string,
    event_types: WebhookType[],
    created_at: Generated<Date>,
    last_success_at: Generated<Date | null>,
    disabled_at: Generated<Date | null>,
    disabled_reason: Generated<string | null>
  }
  webhook_messages: {
    id: string,
    type: WebhookType,
    account_id: string | null,
    data: Json<object>,
    occurred_at: Date,
    created_at: Generated<Date>
  }
  webhook_deliveries: {
    id: Generated<string>,
    endpoint_id: string,
    message_id: string,
    status: Generated<WebhookDeliveryStatus>,
    attempts: Generated<number>,
    due_at: Generated<Date>,
    claimed_until: Generated<Date | null>,
    queued_at: Generated<Date>,
    response_status: Generated<number | null>,
    error: Generated<string | null>,
    finished_at: Generated<Date | null>
  }
  webhook_match_counts: { hour: Date, count: number }
}

export type WebhookDeliveryStatus = 'pending' | 'sent' | 'failed'

/** A text in each locale of the brand. */
export type Localized = Record<string, string>

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
