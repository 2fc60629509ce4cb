import { sql, type SqlBool } from 'kysely'
import {
  idempotencyTables,
  inColumns,
  kitTables,
  mailTables,
  notPersonal,
  personal,
  type PersonalData
} from '@tandem/account-kit'
import { eraseLikes, eraseNotifications } from './erasure/actions.ts'
import type { Tables } from './tables.ts'

const copied = { not: 'It is a copy; another service exports the original.' }

/** What this service holds of people, in the order in which it is erased. */
export const personalData: PersonalData<Tables> = {
  post_likes: personal({ rowsOf: inColumns('liked_by'), erase: eraseLikes, exported: copied }),
  deliveries: personal({
    rowsOf: (accountId) =>
      sql<SqlBool>`(account_id = ${accountId}::uuid
        or notification_id in (select id from notifications where actor_id = ${accountId}::uuid))`,
    exported: ['id', 'device_name', 'platform', 'status', 'created_at', 'finished_at']
  }),
  notifications: personal({
    rowsOf: inColumns('account_id', 'actor_id'),
    erase: eraseNotifications,
    exported: ['id', 'kind', 'type', 'data', 'created_at', 'read_at']
  }),
  devices: personal({
    rowsOf: inColumns('account_id'),
    exported: ['id', 'platform', 'device_id', 'device_name', 'app_version', 'last_used_at', 'created_at']
  }),
  preferences: personal({
    rowsOf: inColumns('account_id'),
    exported: ['categories', 'quiet_hours_enabled', 'quiet_hours_start', 'quiet_hours_end']
  }),
  blocks: personal({ rowsOf: inColumns('blocker_id', 'blocked_id'), exported: copied }),
  realtime_frames: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It holds ids of what other tables export, for a day.' }
  }),
  unread_counts: personal({ rowsOf: inColumns('account_id'), exported: { not: 'It counts notifications.' } }),
  people: personal({ rowsOf: inColumns('account_id'), exported: copied }),
  like_digests: notPersonal('It holds ids of posts for a day.'),
  ended_sessions: notPersonal('It holds ids of ended sessions for a day.'),
  deleted_content: notPersonal('It holds ids of deleted posts and comments.'),
  ended_matches: notPersonal('It holds ids of ended matches.'),
  broadcasts: notPersonal('It holds messages to everybody.'),
  ...mailTables,
  ...idempotencyTables,
  ...kitTables
}
