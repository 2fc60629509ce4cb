import type { ColumnType, Generated, Kysely, Transaction } from 'kysely'
import type { DepartureTables } from '@tandem/account-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { IdempotencyTables } from '@tandem/database-kit'
import type { KeptFrameType } from '@tandem/contracts/realtime'
import type { MailTables } from '@tandem/mail-kit'
import type { Kind, NotificationType } from './notifications/kinds.ts'

export type Platform = 'android' | 'ios'
export type DeliveryStatus = 'pending' | 'sent' | 'muted' | 'held' | 'pruned' | 'failed'
/** Only the settings that an account changed. Everything else is on. */
export type Categories = Partial<Record<NotificationType, { push?: boolean, inApp?: boolean }>>
export type Params = Record<string, string | number | boolean | null>

type Json<Value> = ColumnType<Value, string, string>

export interface Tables
  extends OutboxTables, ProcessedEventTables, FailedMessageTables, IdempotencyTables, MailTables, DepartureTables
{
  people: {
    account_id: string,
    name: string,
    image: string | null,
    locale: string,
    timezone: string,
    changed_at: Date
  }
  blocks: { blocker_id: string, blocked_id: string, lifted: boolean, changed_at: Date, sequence: Generated<number> }
  unread_counts: {
    account_id: string,
    unread: Generated<number>,
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
    categories: Json<Categories>,
    quiet_hours_enabled: boolean,
    quiet_hours_start: string,
    quiet_hours_end: string
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
    subject_id: string | null,
    data: Json<Record<string, string>>,
    params: Json<Params>,
    listed: boolean,
    created_at: Generated<Date>,
    read_at: Date | null,
    removed_at: Date | null
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
  deleted_content: { id: string, deleted_at: Generated<Date> }
  ended_matches: { match_id: string, ended_at: Date }
  broadcasts: {
    id: string,
    title: Json<Bilingual>,
    body: Json<Bilingual>,
    cursor_account_id: Generated<string>,
    recipients_count: Generated<number>,
    created_at: Generated<Date>,
    finished_at: Date | null
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
}

export interface Bilingual {
  en: string
  id: string
}

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
