import { sql, type SqlBool } from 'kysely'
import { databaseTables, inColumns, kitTables, personal, type PersonalData } from '@tandem/account-kit'
import { operatorTables } from '@tandem/operator-kit'
import type { Tables } from './tables.ts'

const derived = { not: 'It follows from other tables of the copy.' }

const ofProgram = (accountId: string) =>
  sql<SqlBool>`program_id in (select id from programs where account_id = ${accountId}::uuid)`

/** What this service holds of people, in the order in which it is erased. */
export const personalData: PersonalData<Tables> = {
  lifts: personal({
    rowsOf: inColumns('account_id'),
    exported: ['log_id', 'exercise', 'weight_kg', 'reps', 'at', 'is_record']
  }),
  logs: personal({
    rowsOf: inColumns('account_id'),
    exported: [
      'id',
      'client_id',
      'sent_client_id',
      'source',
      'external_id',
      'type',
      'at',
      'ends_at',
      'timezone',
      'data',
      'is_split',
      'modified_at',
      'created_at',
      'updated_at'
    ]
  }),
  deleted_logs: personal({
    rowsOf: inColumns('account_id'),
    exported: ['client_id', 'modified_at', 'is_undone', 'deleted_at']
  }),
  fasts: personal({
    rowsOf: inColumns('account_id'),
    exported: ['id', 'plan', 'goal_hours', 'started_at', 'goal_at', 'ended_at']
  }),
  import_files: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It is a file of the person, kept until it is read; its logs are in the copy.' }
  }),
  imports: personal({
    rowsOf: inColumns('account_id'),
    exported: [
      'id',
      'status',
      'format',
      'columns',
      'timezone',
      'found',
      'created',
      'merged',
      'refused',
      'error',
      'created_at',
      'finished_at'
    ]
  }),
  daily_measurements: personal({ rowsOf: inColumns('account_id'), exported: derived }),
  daily_summaries: personal({ rowsOf: inColumns('account_id'), exported: derived }),
  streaks: personal({ rowsOf: inColumns('account_id'), exported: ['kind', 'first_day', 'last_day'] }),
  achievements: personal({ rowsOf: inColumns('account_id'), exported: ['id', 'achievement', 'earned_at'] }),
  shared_achievements: personal({
    rowsOf: inColumns('account_id'),
    exported: ['post_id', 'achievement_id', 'is_deleted']
  }),
  attended_activities: personal({ rowsOf: inColumns('account_id'), exported: ['activity_id'] }),
  totals: personal({
    rowsOf: inColumns('account_id'),
    exported: ['xp', 'workouts', 'workout_minutes', 'food_entries', 'records', 'highest_level']
  }),
  active_programs: personal({ rowsOf: inColumns('account_id'), exported: ['program_id'] }),
  program_exercises: personal({
    rowsOf: (accountId) => sql<SqlBool>`program_day_id in (select id from program_days where ${ofProgram(accountId)})`,
    exported: ['program_day_id', 'position', 'name', 'exercise_id', 'sets', 'reps_min', 'reps_max']
  }),
  program_days: personal({ rowsOf: ofProgram, exported: ['id', 'program_id', 'day_of_week', 'name', 'is_rest_day'] }),
  programs: personal({ rowsOf: inColumns('account_id'), exported: ['id', 'name', 'created_at'] }),
  custom_exercises: personal({ rowsOf: inColumns('account_id'), exported: ['id', 'name', 'created_at', 'deleted_at'] }),
  goals: personal({
    rowsOf: inColumns('account_id'),
    exported: [
      'daily_calories',
      'protein_target',
      'carbs_target',
      'fat_target',
      'goal_type',
      'water_ml',
      'sleep_minutes',
      'workouts_per_week'
    ]
  }),
  past_targets: personal({
    rowsOf: inColumns('account_id'),
    exported: ['last_day', 'daily_calories', 'water_ml', 'sleep_minutes', 'workouts_per_week']
  }),
  bookings: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It is a copy; notification exports the original.' }
  }),
  profile_weights: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It is a copy; profile exports the original.' }
  }),
  profile_facts: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It is a copy; profile exports the original.' }
  }),
  people: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It is a copy; profile exports the original.' }
  }),
  ...databaseTables,
  ...operatorTables,
  ...kitTables
}
