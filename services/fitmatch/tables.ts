import type { ColumnType, Generated, GeneratedAlways, Kysely, Transaction } from 'kysely'
import type { ErasureTables } from '@tandem/account-kit'
import type { OperatorTables } from '@tandem/operator-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { CaseTables } from '@tandem/case-kit'
import type { DailyQuotaTables, IdempotencyTables } from '@tandem/database-kit'

export const genders = ['MALE', 'FEMALE', 'OTHER'] as const
export type Gender = typeof genders[number]
export const profileStatuses = ['ACTIVE', 'PAUSED', 'SUSPENDED'] as const
export const matchTypes = ['LIKE', 'WORKOUT_BUDDY'] as const
export type MatchType = typeof matchTypes[number]
export const swipeTypes = ['PASS', ...matchTypes] as const
export type SwipeType = typeof swipeTypes[number]
/** Why operators reject a verification, for apps. */
export const rejectionCodes = [
  'FACE_NOT_VISIBLE',
  'DIFFERENT_PERSON',
  'PHOTO_OF_A_PHOTO',
  'SEVERAL_PEOPLE',
  'OTHER'
] as const
export type RejectionCode = typeof rejectionCodes[number]
export const verificationStatuses = ['PENDING', 'APPROVED', 'REJECTED', 'CANCELED'] as const
export type VerificationStatus = typeof verificationStatuses[number]
export const reportReasons = [
  'FAKE_PROFILE',
  'HARASSMENT',
  'INAPPROPRIATE_CONTENT',
  'SPAM',
  'UNDERAGE',
  'OFFLINE_BEHAVIOR',
  'OTHER'
] as const
export type ReportReason = typeof reportReasons[number]
export const reportStatuses = ['OPEN', 'RESOLVED'] as const
export type ReportStatus = typeof reportStatuses[number]
export const reportActions = ['DISMISS', 'SUSPEND', 'RESTORE'] as const
export type ReportAction = typeof reportActions[number]
export const participantStates = ['INVITED', 'ASKED', 'GOING', 'DECLINED', 'REFUSED', 'LEFT', 'REMOVED'] as const
export type ParticipantState = typeof participantStates[number]
export const activityStatuses = ['PLANNED', 'FINISHED', 'CANCELED'] as const
export type ActivityStatus = typeof activityStatuses[number]
export const activityVisibilities = ['INVITED', 'OPEN'] as const
/** OWN are places of an operator, with tags like those of OpenStreetMap; PEOPLE those that people have added. */
export type PlaceSource = 'OVERTURE' | 'OPENSTREETMAP' | 'OWN' | 'PEOPLE'
export type TimerKind = 'REMIND_24H' | 'REMIND_1H' | 'RELEASE' | 'FINISH'
export interface ActivityVenue {
  name: string
  branch: string | null
  city: string | null
  latitude: number | null
  longitude: number | null
}
interface Prompt {
  id: string
  question: string
  answer: string
}

/** Inserted as JSON text. */
type Json<Value> = ColumnType<Value, string, string>
type ProfileCopy = Record<string, unknown> & { photos: { url: string }[] }

export interface Tables
  extends
    OutboxTables,
    ProcessedEventTables,
    FailedMessageTables,
    IdempotencyTables,
    DailyQuotaTables,
    ErasureTables,
    OperatorTables,
    CaseTables
{
  members: {
    account_id: string,
    timezone: Generated<string>,
    person_changed_at: Date | null,
    weight: number | null,
    favorite_sports: Generated<string[]>,
    experience: Generated<string>,
    birth_date: string | null,
    facts_changed_at: Date | null,
    subscribed_until: Date | null,
    entitlements: Generated<string[]>,
    subscription_sequence: number | null,
    suspended_at: Date | null,
    suspended_until: Date | null,
    decision_sequence: Generated<number>,
    email_verified: Generated<boolean>
  }
  activity: { account_id: string, last_active_at: Date }
  sports: { id: string, bit: number }
  profiles: {
    id: Generated<string>,
    account_id: string,
    display_name: string,
    has_custom_name: boolean,
    bio: string | null,
    birth_date: string | null,
    has_custom_birth_date: Generated<boolean>,
    gender: Gender | null,
    height: number | null,
    city: string | null,
    district: string | null,
    latitude: number | null,
    longitude: number | null,
    looking_for: string[],
    interested_in: string[],
    fitness_goals: string[],
    preferred_times: string[],
    workout_days: string[],
    age_min: number,
    age_max: number,
    max_distance: number,
    prompts: Json<Prompt[]>,
    show_online_status: Generated<boolean>,
    show_distance: Generated<boolean>,
    show_last_active: Generated<boolean>,
    tutorial_seen: Generated<boolean>,
    photo_verified: Generated<boolean>,
    paused: Generated<boolean>,
    suspended: boolean,
    /** A trigger sets it: whether `hidden_people` hides the owner. */
    hidden: Generated<boolean>,
    photo_count: Generated<number>,
    trait_bits: number,
    sport_bits: string,
    created_at: Generated<Date>,
    updated_at: Generated<Date>,
    status: GeneratedAlways<typeof profileStatuses[number]>,
    is_discoverable: GeneratedAlways<boolean>,
    gender_bit: GeneratedAlways<number>,
    preferred_gender_bits: GeneratedAlways<number>,
    public_latitude: GeneratedAlways<number | null>,
    public_longitude: GeneratedAlways<number | null>,
    cell: GeneratedAlways<number>
  }
  removed_photos: {
    photo_id: string,
    account_id: string,
    url: string | null,
    width: Generated<number | null>,
    height: Generated<number | null>,
    blurhash: Generated<string | null>,
    copy: string | null,
    is_main: Generated<boolean>,
    is_verified: Generated<boolean>,
    sort_order: Generated<number>,
    sequence: number,
    removed_at: Generated<Date>,
    restored_at: Generated<Date | null>
  }
  photos: {
    id: Generated<string>,
    profile_id: string,
    /** A media key, or a URL elsewhere. The same holds for every other url column. */
    url: string,
    /** Null: the photo is on another server, or has no thumbnails. */
    width: number | null,
    height: number | null,
    blurhash: string | null,
    uploaded: boolean,
    is_main: boolean,
    is_verified: Generated<boolean>,
    sort_order: number,
    created_at: Generated<Date>
  }
  venues: {
    id: Generated<string>,
    profile_id: string,
    chain_id: string | null,
    name: string,
    branch: string | null,
    city: string | null,
    latitude: number | null,
    longitude: number | null,
    place_id: string | null,
    is_custom: boolean,
    sort_order: number,
    created_at: Generated<Date>,
    /** The name, by which venues of several people are compared. */
    name_key: string,
    /** When its name or position was last changed. */
    changed_at: Generated<Date>,
    gym_keys: GeneratedAlways<string[]>
  }
  places: {
    id: string,
    source: PlaceSource,
    name: string,
    name_key: string,
    city: string | null,
    chain_id: string | null,
    latitude: number,
    longitude: number,
    cell: GeneratedAlways<number>,
    imported_at: Generated<Date | null>,
    removed_at: Generated<Date | null>
  }
  place_imports: {
    file: string,
    records: Generated<number>,
    places: Generated<number>,
    started_at: Generated<Date>,
    finished_at: Date | null
  }
  setup_drafts: { account_id: string, draft: Json<Record<string, unknown>>, saved_at: Generated<Date> }
  swipes: {
    swiper_id: string,
    target_id: string,
    swipe_type: SwipeType,
    /** Whether the target was notified of it. It stays so once they have answered. */
    like_published: Generated<boolean>,
    created_at: Generated<Date>
  }
  matches: {
    id: Generated<string>,
    low_id: string,
    high_id: string,
    match_type: MatchType,
    created_at: Generated<Date>,
    last_message_at: Date | null,
    ended_at: Date | null
  }
  messages: {
    id: Generated<string>,
    match_id: string,
    sender_id: string,
    content: string | null,
    image_url: string | null,
    image_width: number | null,
    image_height: number | null,
    image_blurhash: string | null,
    client_id: string | null,
    created_at: Date,
    read_at: Date | null
  }
  message_quota: { account_id: string, window_started_at: Date, used: number }
  typing_indicators: { match_id: string, account_id: string, started_at: Date }
  unused_files: { key: string, delete_after: Generated<Date> }
  blocks: {
    blocker_id: string,
    blocked_id: string,
    profile_id: string | null,
    profile_blocked_at: Date | null,
    by_account: Generated<boolean>,
    display_name: string,
    reason: string | null,
    created_at: Generated<Date>
  }
  reports: {
    id: Generated<string>,
    reporter_id: string,
    reported_id: string,
    profile_id: string,
    case_id: string | null,
    reason: ReportReason,
    details: string | null,
    evidence: string[],
    profile: Json<ProfileCopy>,
    messages: Json<(Record<string, unknown> & { imageUrl: string | null })[]>,
    activity_id: string | null,
    activity: Json<Record<string, unknown>> | null,
    is_urgent: GeneratedAlways<boolean>,
    status: Generated<ReportStatus>,
    action: ReportAction | null,
    note: string | null,
    created_at: Generated<Date>,
    resolved_at: Date | null
  }
  deleted_profiles: {
    id: string,
    account_id: string,
    display_name: string,
    profile: Json<ProfileCopy>,
    photo_urls: string[],
    deleted_at: Generated<Date>
  }
  selfies: { key: string, created_at: Generated<Date> }
  verifications: {
    id: Generated<string>,
    account_id: string,
    profile_id: string,
    status: Generated<VerificationStatus>,
    selfie_key: string | null,
    reason: string | null,
    reason_code: Generated<RejectionCode | null>,
    submitted_at: Generated<Date>,
    decided_at: Date | null,
    revoked_at: Date | null
  }
  verification_photos: { verification_id: string, photo_id: string, is_main: boolean }
  badges: { account_id: string, badge: string, earned_at: Generated<Date> }
  badge_checks: { account_id: string, due_at: Date }
  badge_progress: { account_id: string, badge: string, progress: number }
  activities: {
    id: Generated<string>,
    host_id: string,
    title: string,
    sport: string,
    date: string,
    start_time: string,
    end_time: string,
    timezone: string,
    starts_at: Date,
    ends_at: Date,
    tzdata: string,
    location_name: string | null,
    venue: Json<ActivityVenue> | null,
    note: string | null,
    city: string | null,
    latitude: number | null,
    longitude: number | null,
    cell: GeneratedAlways<number>,
    visibility: typeof activityVisibilities[number],
    capacity: number,
    going_count: Generated<number>,
    status: Generated<ActivityStatus>,
    version: Generated<number>,
    created_at: Generated<Date>
  }
  activity_participants: {
    activity_id: string,
    account_id: string,
    state: ParticipantState,
    version: number,
    was_going: Generated<boolean>,
    by_account: Generated<boolean>,
    checked_in_at: Date | null,
    attended_at: Date | null,
    created_at: Generated<Date>
  }
  activity_timers: { activity_id: string, kind: TimerKind, due_at: Date }
  meetings: {
    id: Generated<string>,
    activity_id: string,
    account_id: string,
    minutes: number,
    status: Generated<'ARMED' | 'SAFE' | 'ALARMED'>,
    ask_at: Date,
    alarm_at: Date,
    due_at: Date | null,
    contact_told_at: Date | null,
    contact_failed_at: Date | null,
    created_at: Generated<Date>
  }
  buddies: { id: Generated<string>, low_id: string, high_id: string, sport: string, created_at: Generated<Date> }
  buddy_requests: {
    id: Generated<string>,
    from_id: string,
    to_id: string,
    by_profile: Generated<boolean>,
    sport: string,
    status: Generated<'PENDING' | 'DECLINED' | 'ACCEPTED'>,
    created_at: Generated<Date>
  }
  buddy_refusals: { from_id: string, to_id: string, refused_at: Generated<Date> }
  people: { account_id: string, name: string, image: string | null, changed_at: Date }
  audit_log: {
    id: Generated<string>,
    operator_id: string,
    action: string,
    subject_id: string,
    account_id: string,
    note: string | null,
    created_at: Generated<Date>
  }
}

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
