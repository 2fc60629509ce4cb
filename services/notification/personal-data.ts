import { sql, type SqlBool } from 'kysely'
import {
  databaseTables,
  inColumns,
  kitTables,
  mailTables,
  notPersonal,
  personal,
  type PersonalData
} from '@tandem/account-kit'
import { operatorTables } from '@tandem/operator-kit'
import { eraseLikes, eraseNotifications } from './erasure/actions.ts'
import type { Tables } from './tables.ts'

const copied = { not: 'It is a copy; another service exports the original.' }

/** What this service holds of people, in the order in which it is erased. */
export const personalData: PersonalData<Tables> = {
  post_likes: personal({ rowsOf: inColumns('liked_by'), erase: eraseLikes, exported: copied }),
  deliveries: personal({
    rowsOf: (accountId) =>
      sql<SqlBool>`(account_id = ${accountId}::uuid
        or notification_id = any(array(select id from notifications where actor_id = ${accountId}::uuid)))`,
    exported: {
      columns: ['id', 'device_name', 'platform', 'status', 'created_at', 'finished_at'],
      rows: inColumns('account_id')
    }
  }),
  notifications: personal({
    rowsOf: inColumns('account_id', 'actor_id', 'owner_id'),
    erase: eraseNotifications,
    exported: {
      columns: ['id', 'kind', 'type', 'data', 'created_at', 'read_at'],
      rows: inColumns('account_id'),
      // Who likes a person is never told by their copy.
      values: () => ({ data: sql`case when kind = 'likeReceived' then '{}' else data end` })
    }
  }),
  devices: personal({
    rowsOf: inColumns('account_id'),
    exported: ['id', 'platform', 'device_id', 'device_name', 'app_version', 'last_used_at', 'created_at']
  }),
  preferences: personal({
    rowsOf: inColumns('account_id'),
    exported: ['categories', 'quiet_hours_enabled', 'quiet_hours_start', 'quiet_hours_end']
  }),
  trusted_contact_links: personal({
    rowsOf: (accountId) =>
      sql<SqlBool>`contact_id in (select id from trusted_contacts where account_id = ${accountId}::uuid)`,
    exported: { not: 'It holds digests of links that were mailed to the contact.' }
  }),
  trusted_contacts: personal({
    rowsOf: inColumns('account_id'),
    exported: ['name', 'email', 'locale', 'status', 'created_at', 'decided_at']
  }),
  trusted_contact_refusals: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It holds digests of addresses that asked not to be asked again.' }
  }),
  meeting_mails: notPersonal('It holds ids of meetings for 30 days.'),
  trusted_contact_requests: notPersonal('It holds digests of addresses for 30 days, and no accounts.'),
  blocks: personal({ rowsOf: inColumns('blocker_id', 'blocked_id'), exported: copied }),
  realtime_frames: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It holds ids of what other tables export, for a day.' }
  }),
  inboxes: personal({ rowsOf: inColumns('account_id'), exported: { not: 'It numbers realtime frames.' } }),
  people: personal({ rowsOf: inColumns('account_id'), exported: copied }),
  like_digests: notPersonal('It holds ids of posts for a day.'),
  ended_sessions: notPersonal('It holds ids of ended sessions for a day.'),
  withdrawals: personal({
    rowsOf: inColumns('account_id', 'actor_id'),
    exported: { not: 'It keeps late events from creating notifications, for 30 days.' }
  }),
  rewritings: notPersonal('It holds the starts of activities, and ids of edited posts, for 30 days.'),
  broadcasts: notPersonal('It holds messages to everybody.'),
  producer_events: personal({
    rowsOf: inColumns('account_id'),
    exported: ['type', 'data', 'occurred_at', 'due_at']
  }),
  bookings: personal({
    rowsOf: inColumns('account_id'),
    exported: ['booking_id', 'title', 'starts_at', 'ends_at', 'location_name', 'is_cancelled', 'changed_at']
  }),
  producer_event_ids: notPersonal('It holds ids that other systems gave to their events, for 7 days.'),
  producer_rates: notPersonal('It counts events of systems.'),
  producer_keys: notPersonal('It holds digests of keys of systems.'),
  producers: notPersonal('They are systems of the company.'),
  webhook_deliveries: notPersonal('It is deleted with its message.'),
  // That an account was deleted is sent after its erasure.
  webhook_messages: personal({
    rowsOf: (accountId) => sql<SqlBool>`(account_id = ${accountId}::uuid and type <> 'account.deleted')`,
    exported: ['id', 'type', 'data', 'occurred_at']
  }),
  webhook_endpoints: notPersonal('It holds addresses of other systems.'),
  webhook_match_counts: notPersonal('It holds numbers.'),
  ...mailTables,
  ...databaseTables,
  ...operatorTables,
  ...kitTables
}
