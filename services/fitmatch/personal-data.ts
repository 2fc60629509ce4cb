import { sql, type SqlBool } from 'kysely'
import { caseTables, markCasesOf } from '@tandem/case-kit'
import {
  databaseTables,
  either,
  inColumns,
  kitTables,
  notPersonal,
  personal,
  type PersonalData
} from '@tandem/account-kit'
import { eraseParticipations } from './activities/endings.ts'
import { operatorTables } from '@tandem/operator-kit'
import { eraseReports, withoutPartOf } from './erasure/actions.ts'
import { isEvidence, isOfHost, isRecentDecision } from './erasure/rows.ts'
import type { Tables } from './tables.ts'
import { selfieKeyPattern } from './verification/selfie-keys.ts'

const derived = { not: 'It follows from other tables of the copy.' }
const limits = { not: 'It counts towards a limit, for a few days.' }

const ofMatch = (accountId: string) =>
  sql<SqlBool>`match_id in (select id from matches where low_id = ${accountId}::uuid or high_id = ${accountId}::uuid)`
const isSentBy = (accountId: string) => sql<SqlBool>`(sender_id = ${accountId}::uuid)`
const ofProfile = (accountId: string) =>
  sql<SqlBool>`profile_id in (select id from profiles where account_id = ${accountId}::uuid)`

/** The profile of an account: a copy says no more of others than FitMatch showed. */
const profileOf = (accountId: ReturnType<typeof sql>) =>
  sql`(select profiles.id from profiles where profiles.account_id = ${accountId})`

/** What this service holds of people, in the order in which it is erased. */
export const personalData: PersonalData<Tables> = {
  // Before the participations: ending those disarms meetings, which would then not be counted.
  meetings: personal({
    rowsOf: inColumns('account_id'),
    exported: [
      'activity_id',
      'minutes',
      'status',
      'ask_at',
      'alarm_at',
      'contact_told_at',
      'contact_failed_at',
      'created_at'
    ]
  }),
  activity_timers: notPersonal('It holds the times of reminders of activities.'),
  activity_participants: personal({
    rowsOf: inColumns('account_id'),
    erase: eraseParticipations,
    exported: ['activity_id', 'state', 'checked_in_at', 'created_at']
  }),
  activities: personal({
    rowsOf: inColumns('host_id'),
    exported: [
      'id',
      'title',
      'sport',
      'date',
      'start_time',
      'end_time',
      'timezone',
      'location_name',
      'venue',
      'note',
      'city',
      'visibility',
      'capacity',
      'status',
      'created_at'
    ]
  }),
  typing_indicators: personal({ rowsOf: ofMatch, exported: derived }),
  // A chat goes with all messages, those of the other person too, as when one of the two ends the match.
  messages: personal({
    rowsOf: ofMatch,
    files: sql`array[image_url]`,
    exported: {
      columns: ['id', 'match_id', 'sender_id', 'content', 'image_url', 'created_at', 'read_at'],
      // Of a received message only its time, its sender, and when it was read.
      values: (accountId) => ({
        sender_id: profileOf(sql`sender_id`),
        content: sql`case when ${isSentBy(accountId)} then content end`,
        image_url: sql`case when ${isSentBy(accountId)} then image_url end`,
        read_at: sql`case when not ${isSentBy(accountId)} then read_at end`
      }),
      files: (accountId) => sql`case when ${isSentBy(accountId)} then array[image_url] else '{}' end`
    }
  }),
  matches: personal({
    rowsOf: inColumns('low_id', 'high_id'),
    exported: ['id', 'match_type', 'created_at', 'ended_at']
  }),
  swipes: personal({
    rowsOf: inColumns('swiper_id', 'target_id'),
    exported: {
      columns: ['target_id', 'swipe_type', 'created_at'],
      rows: inColumns('swiper_id'),
      values: () => ({ target_id: profileOf(sql`target_id`) })
    }
  }),
  message_quota: personal({ rowsOf: inColumns('account_id'), exported: limits }),
  setup_drafts: personal({ rowsOf: inColumns('account_id'), exported: ['draft', 'saved_at'] }),
  activity: personal({ rowsOf: inColumns('account_id'), exported: ['last_active_at'] }),
  badges: personal({ rowsOf: inColumns('account_id'), exported: ['badge', 'earned_at'] }),
  badge_checks: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It says when badges are recalculated.' }
  }),
  badge_progress: personal({ rowsOf: inColumns('account_id'), exported: ['badge', 'progress'] }),
  verification_photos: personal({
    rowsOf: (accountId) =>
      sql<SqlBool>`verification_id in (select id from verifications where account_id = ${accountId}::uuid)`,
    exported: derived
  }),
  verifications: personal({
    rowsOf: inColumns('account_id'),
    exported: ['status', 'reason', 'reason_code', 'submitted_at', 'decided_at', 'revoked_at']
  }),
  selfies: personal({
    rowsOf: (accountId) => sql<SqlBool>`key like ${selfieKeyPattern(accountId)}`,
    files: sql`array[key]`,
    exported: ['key', 'created_at']
  }),
  removed_photos: personal({
    rowsOf: inColumns('account_id'),
    files: sql`case when copy is null then '{}' else array[copy] end`,
    exported: { not: 'The person is notified of the decision, and can have the photo restored.' }
  }),
  photos: personal({
    rowsOf: ofProfile,
    files: sql`case when uploaded then array[url] else '{}' end`,
    exported: ['id', 'url', 'is_main', 'sort_order', 'created_at']
  }),
  venues: personal({
    rowsOf: ofProfile,
    exported: [
      'name',
      'branch',
      'city',
      'latitude',
      'longitude',
      'chain_id',
      'place_id',
      'is_custom',
      'created_at',
      'changed_at'
    ]
  }),
  profiles: personal({
    rowsOf: inColumns('account_id'),
    exported: [
      'id',
      'display_name',
      'bio',
      'birth_date',
      'gender',
      'height',
      'city',
      'district',
      'latitude',
      'longitude',
      'looking_for',
      'interested_in',
      'fitness_goals',
      'preferred_times',
      'workout_days',
      'age_min',
      'age_max',
      'max_distance',
      'prompts',
      'show_online_status',
      'show_distance',
      'show_last_active',
      'status',
      'created_at'
    ]
  }),
  deleted_profiles: personal({
    rowsOf: inColumns('account_id'),
    files: sql`photo_urls`,
    exported: ['profile', 'deleted_at']
  }),
  blocks: personal({
    rowsOf: inColumns('blocker_id', 'blocked_id'),
    exported: {
      columns: ['blocked_id', 'display_name', 'reason', 'created_at'],
      rows: inColumns('blocker_id'),
      values: () => ({ blocked_id: sql`coalesce(profile_id, blocked_id)` })
    }
  }),
  buddies: personal({ rowsOf: inColumns('low_id', 'high_id'), exported: ['low_id', 'high_id', 'sport', 'created_at'] }),
  // Without the status: a refusal is never shown to the person who asked.
  buddy_requests: personal({
    rowsOf: inColumns('from_id', 'to_id'),
    exported: {
      columns: ['from_id', 'to_id', 'sport', 'created_at'],
      // Until they agree, somebody who was named by their profile is only that.
      values: (accountId) => ({
        to_id: sql`case when by_profile and status <> 'ACCEPTED' and from_id = ${accountId}::uuid
          then ${profileOf(sql`to_id`)} else to_id end`
      })
    }
  }),
  buddy_refusals: personal({
    rowsOf: inColumns('from_id', 'to_id'),
    exported: { not: 'A refusal is never shown to the person who asked.' }
  }),
  people: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It is a copy; another service exports the original.' }
  }),
  reports: personal({
    rowsOf: either(inColumns('reporter_id', 'reported_id'), isOfHost),
    before: markCasesOf,
    erase: eraseReports,
    keeps: {
      rows: isEvidence,
      why: 'Reports about the person are evidence, also against a new account of theirs.',
      until: '180 days after the last decision'
    },
    exported: {
      columns: ['profile_id', 'reason', 'details', 'evidence', 'activity_id', 'status', 'created_at'],
      rows: inColumns('reporter_id')
    }
  }),
  ...caseTables(withoutPartOf),
  audit_log: personal({
    rowsOf: inColumns('account_id'),
    keeps: {
      rows: isRecentDecision,
      why: 'Decisions of operators can be questioned.',
      until: '24 months after the decision'
    },
    // A dismissed report would tell that somebody reported them.
    exported: {
      columns: ['action', 'created_at'],
      rows: (accountId) =>
        sql<SqlBool>`(account_id = ${accountId}::uuid
        and action in ('REPORT_SUSPEND', 'REPORT_RESTORE', 'VERIFICATION_APPROVE', 'VERIFICATION_REJECT'))`
    }
  }),
  members: personal({
    rowsOf: inColumns('account_id'),
    exported: [
      'timezone',
      'weight',
      'favorite_sports',
      'experience',
      'birth_date',
      'subscribed_until',
      'entitlements',
      'suspended_at'
    ]
  }),
  unused_files: notPersonal('Random names of files that nothing shows, until they are deleted.'),
  places: notPersonal('Gyms of an import, or those that at least three people have added.'),
  place_imports: notPersonal('The names of imported files.'),
  sports: notPersonal('It numbers the sports of the option list.'),
  ...databaseTables,
  ...operatorTables,
  ...kitTables
}
