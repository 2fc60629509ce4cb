import type { ColumnType, Generated, Kysely, Transaction } from 'kysely'
import type { ErasureTables } from '@tandem/account-kit'
import type { OperatorTables } from '@tandem/operator-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { DailyQuotaTables, IdempotencyTables } from '@tandem/database-kit'

// The driver parses a date as a Date and a numeric as a string, so queries cast: `day::text`, `calories::float8`.
type Day = ColumnType<never, string, string>
type Numeric<Written = number> = ColumnType<never, Written, Written>

export interface Tables
  extends
    OutboxTables,
    ProcessedEventTables,
    FailedMessageTables,
    IdempotencyTables,
    DailyQuotaTables,
    ErasureTables,
    OperatorTables
{
  totals: {
    account_id: string,
    xp: Generated<number>,
    workouts: Generated<number>,
    workout_minutes: Generated<number>,
    food_entries: Generated<number>,
    records: Generated<number>,
    /** The highest level that was published, and not lost since. */
    highest_level: Generated<number>,
    /** Counts the changes of logs. */
    revision: Generated<number>
  }
  logs: {
    id: Generated<string>,
    account_id: string,
    client_id: string,
    type: LogType,
    at: Date,
    day: Day,
    timezone: string,
    data: ColumnType<LogData, string, string>,
    modified_at: Date | null,
    /** Not if it is a part of the session of another log. */
    counts: Generated<boolean>,
    source: ColumnType<Source | null, string | null, string | null>,
    external_id: string | null,
    sent_client_id: string | null,
    ends_at: Date | null,
    is_split: Generated<boolean>,
    parts: ColumnType<string[] | null, never, never>,
    session_data: ColumnType<LogData | null, never, never>,
    bytes: number | null,
    import_id: string | null,
    revision: Generated<number>,
    created_at: Generated<Date>,
    updated_at: Generated<Date>
  }
  deleted_logs: {
    account_id: string,
    client_id: string,
    sent_client_id: string | null,
    deleted_at: Generated<Date>,
    /** When the source deleted it; null if it never comes back. */
    modified_at: Date | null,
    is_undone: Generated<boolean>,
    log_id: string | null,
    type: LogType | null,
    revision: Generated<number>
  }
  daily_summaries: {
    account_id: string,
    day: Day,
    workouts: number,
    workout_minutes: number,
    food_entries: number,
    calories: Numeric,
    protein: Numeric,
    water_entries: number,
    water_ml: number,
    sleep_entries: number,
    sleep_minutes: number,
    sleep_quality: number,
    sleep_ratings: number | null,
    weight_entries: number,
    records: number,
    xp: number
  }
  daily_measurements: {
    account_id: string,
    day: Day,
    steps: number | null,
    distance_meters: number | null,
    active_energy: number | null,
    heart_rate_min: number | null,
    heart_rate_max: number | null,
    heart_rate_avg: number | null,
    resting_heart_rate: number | null
  }
  lifts: {
    log_id: string,
    account_id: string,
    exercise_key: string,
    exercise: string,
    weight_kg: Numeric,
    reps: number,
    at: Date,
    is_record: Generated<boolean>
  }
  streaks: { account_id: string, kind: StreakKind, first_day: Day, last_day: Day }
  achievements: { id: Generated<string>, account_id: string, achievement: string, earned_at: Generated<Date> }
  shared_achievements: { post_id: string, account_id: string, achievement_id: string, is_deleted: boolean }
  bookings: {
    id: string,
    account_id: string,
    booking_id: string,
    title: string,
    starts_at: Date,
    ends_at: Date,
    location_name: string | null,
    is_cancelled: boolean,
    version: number
  }
  attended_activities: { account_id: string, activity_id: string }
  imports: {
    id: Generated<string>,
    account_id: string,
    status: ImportStatus,
    format: ImportFormat,
    columns: ColumnType<Record<string, string> | null, string | null, never>,
    timezone: string,
    /** In percent. */
    progress: Generated<number>,
    found: Generated<number>,
    created: Generated<number>,
    merged: Generated<number>,
    refused: ColumnType<RefusedEntry[], never, string>,
    refused_count: Generated<number>,
    error: string | null,
    claimed_until: Date | null,
    attempts: Generated<number>,
    is_slow: Generated<boolean>,
    created_at: Generated<Date>,
    finished_at: Date | null
  }
  import_files: { import_id: string, account_id: string, bytes: Buffer }
  people: { account_id: string, name: string, image: string | null, timezone: string, changed_at: Date }
  profile_weights: { account_id: string, kg: number | null, weighed_at: Date | null, changed_at: Date | null }
  profile_facts: { account_id: string, workout_frequency: number | null, changed_at: Date }
  goals: {
    account_id: string,
    daily_calories: Numeric<number | undefined>,
    protein_target: Numeric<number | undefined>,
    carbs_target: Numeric<number | undefined>,
    fat_target: Numeric<number | undefined>,
    goal_type: Generated<string>,
    water_ml: Generated<number>,
    sleep_minutes: Generated<number>,
    workouts_per_week: Generated<number>,
    updated_at: Generated<Date>
  }
  past_targets: {
    account_id: string,
    last_day: Day,
    daily_calories: Numeric,
    water_ml: number,
    sleep_minutes: number,
    workouts_per_week: number
  }
  programs: { id: Generated<string>, account_id: string, name: string, created_at: Generated<Date> }
  active_programs: { account_id: string, program_id: string }
  program_days: { id: Generated<string>, program_id: string, day_of_week: number, name: string, is_rest_day: boolean }
  program_exercises: {
    id: Generated<string>,
    program_day_id: string,
    position: number,
    name: string,
    sets: number,
    reps_min: number,
    reps_max: number,
    exercise_id: string | null
  }
  custom_exercises: {
    id: Generated<string>,
    account_id: string,
    key: string,
    name: string,
    created_at: Generated<Date>,
    deleted_at: Date | null
  }
  fasts: {
    id: Generated<string>,
    account_id: string,
    plan: FastPlan,
    goal_hours: number,
    started_at: Date,
    goal_at: Date,
    ended_at: Date | null,
    goal_due_at: Date | null,
    goal_published_at: Date | null
  }
}

export const logTypes = [
  'WORKOUT',
  'FOOD',
  'WATER',
  'SLEEP',
  'WEIGHT',
  'BODY_FAT',
  'STEPS',
  'DISTANCE',
  'ACTIVE_ENERGY',
  'HEART_RATE'
] as const
export type LogType = typeof logTypes[number]
/** The content of a log, in the form that `log-types/data.ts` defines for its type. */
export type LogData = Record<string, unknown>
export const sourceKinds = ['WATCH', 'PHONE', 'SCALE', 'APP'] as const
/** Where a log comes from. */
export interface Source {
  platform: string
  kind?: typeof sourceKinds[number]
  device?: string
  app?: string
}
export const importFormats = ['FIT', 'GPX', 'TCX', 'CSV', 'APPLE_HEALTH', 'TANDEM'] as const
export type ImportFormat = typeof importFormats[number]
export const importStatuses = ['PENDING', 'RUNNING', 'DONE', 'FAILED', 'UNDOING', 'UNDONE'] as const
export type ImportStatus = typeof importStatuses[number]
/** An entry of a file that is no valid log, by its number in the file. */
export interface RefusedEntry {
  line: number
  reason: string
}
export const fastPlans = ['12:12', '14:10', '16:8', '18:6', '20:4', 'CUSTOM'] as const
export type FastPlan = typeof fastPlans[number]
export type StreakKind = 'DAY' | 'WATER' | 'WEEK'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
