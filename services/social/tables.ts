import type Type from 'typebox'
import type { ErrorParams } from '@tandem/process-kit'
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType, Kysely, Transaction } from 'kysely'
import type { ErasureTables } from '@tandem/account-kit'
import type { OperatorTables } from '@tandem/operator-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { CaseTables } from '@tandem/case-kit'
import type { AchievementSnapshot, ActivitySnapshot, RpcDefinition, WorkoutSnapshot } from '@tandem/contracts'
import type { DailyQuotaTables, IdempotencyTables } from '@tandem/database-kit'

/** What the service that owns it said when the post was created. */
type SnapshotOf<Rpc extends RpcDefinition> = ColumnType<
  Type.Static<Rpc['response']>,
  string | null | undefined,
  null
>

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
  people: {
    account_id: string,
    name: string,
    username: string,
    /** A media key, or the URL of another host. */
    image: string | null,
    /** Null: the picture is on another server, or has no thumbnails. */
    image_width: Generated<number | null>,
    image_height: Generated<number | null>,
    image_blurhash: Generated<string | null>,
    bio: string | null,
    locale: string,
    timezone: string,
    search_name: string,
    /** A trigger sets it: whether `hidden_people` hides the person. */
    hidden: Generated<boolean>,
    changed_at: Date
  }
  follow_counts: { account_id: string, followers_count: Generated<number>, following_count: Generated<number> }
  follows: {
    id: Generated<string>,
    follower_id: string,
    followed_id: string,
    created_at: Generated<Date>,
    /** Marks of hidden people, here and in other tables: see visibility/hidden-rows.ts. */
    follower_hidden: Generated<boolean>,
    followed_hidden: Generated<boolean>
  }
  blocks: {
    account_id: string,
    other_id: string,
    blocker_id: string,
    is_lifted: boolean,
    changed_at: Date,
    sequence: Generated<number>
  }
  matches: { match_id: string, account_id: string, other_id: string, ended: boolean }
  posts: {
    id: Generated<string>,
    author_id: string,
    type: PostType,
    visibility: Visibility,
    content: string,
    /** Storage keys, or URLs of other hosts. The same holds for stories.media_url. */
    media_urls: string[],
    media_type: string | null,
    activity_id: string | null,
    workout_id: string | null,
    achievement_id: string | null,
    location_name: string | null,
    latitude: number | null,
    longitude: number | null,
    /** What the post shows. */
    workout: SnapshotOf<typeof WorkoutSnapshot>,
    achievement: SnapshotOf<typeof AchievementSnapshot>,
    activity: SnapshotOf<typeof ActivitySnapshot>,
    likes_count: Generated<number>,
    comments_count: Generated<number>,
    views_count: Generated<number>,
    created_at: Generated<Date>,
    edited_at: Generated<Date | null>,
    deleted_at: Date | null,
    cleared_at: Generated<Date | null>,
    hidden_at: Generated<Date | null>,
    author_hidden: Generated<boolean>
  }
  canceled_activities: { activity_id: string, starts_at: Date }
  post_readers: { post_id: string, account_id: string }
  likes: {
    id: Generated<string>,
    post_id: string,
    account_id: string,
    created_at: Generated<Date>,
    account_hidden: Generated<boolean>
  }
  comments: {
    id: Generated<string>,
    post_id: string,
    parent_id: string | null,
    /** Null once the comment is deleted: then it stays as the place of its replies. */
    author_id: string | null,
    content: string,
    replies_count: Generated<number>,
    created_at: Generated<Date>,
    deleted_at: Generated<Date | null>,
    hidden_at: Generated<Date | null>,
    author_hidden: Generated<boolean>
  }
  post_hashtags: { tag: string, post_id: string }
  mentions: {
    post_id: string,
    comment_id: string | null,
    account_id: string,
    in_text: Generated<boolean>,
    /** As written in the text, in lower case. Null if the mention is older than this column. */
    username: string | null
  }
  polls: { post_id: string, question: string, ends_at: Date | null, total_votes: Generated<number> }
  poll_options: {
    id: Generated<string>,
    post_id: string,
    position: number,
    text: string,
    votes_count: Generated<number>
  }
  poll_votes: {
    post_id: string,
    account_id: string,
    option_id: string,
    created_at: Generated<Date>,
    account_hidden: Generated<boolean>
  }
  stories: {
    id: Generated<string>,
    author_id: string,
    media_url: string,
    media_type: StoryMediaType,
    caption: string | null,
    text_color: string | null,
    bg_color: string | null,
    font_style: string | null,
    duration: number | null,
    view_count: Generated<number>,
    reaction_count: Generated<number>,
    created_at: Generated<Date>,
    expires_at: Generated<Date>,
    cleared_at: Date | null,
    hidden_at: Generated<Date | null>
  }
  story_views: {
    id: Generated<string>,
    story_id: string,
    account_id: string,
    viewed_at: Generated<Date>,
    account_hidden: Generated<boolean>
  }
  story_reactions: {
    story_id: string,
    account_id: string,
    emoji: string,
    created_at: Generated<Date>,
    account_hidden: Generated<boolean>
  }
  media: {
    key: string,
    account_id: string,
    mime_type: string,
    width: number,
    height: number,
    bytes: number,
    /** Null: the image has no thumbnails. */
    blurhash: string | null,
    /** Only of a video. */
    duration_seconds: number | null,
    /** The size of the poster of a video; null: it has none. */
    poster_width: number | null,
    poster_height: number | null,
    /** While its file is being stored; after this time its process was killed. */
    storing_until: Date | null,
    created_at: Generated<Date>,
    unused_since: Generated<Date | null>,
    delete_requested_at: Date | null,
    deleted_at: Date | null
  }
  media_uploads: {
    id: Generated<string>,
    account_id: string,
    mime_type: string,
    bytes: number,
    poster_key: string | null,
    received_bytes: Generated<number>,
    parts: Generated<string[]>,
    processing_until: Date | null,
    media_key: string | null,
    problem: JSONColumnType<{ textKey: string, statusCode: number, params: ErrorParams }> | null,
    created_at: Generated<Date>,
    expires_at: Generated<Date>
  }
  reports: {
    id: Generated<string>,
    case_id: string,
    reporter_id: string | null,
    reason: ReportReason,
    details: string | null,
    evidence: string[],
    created_at: Generated<Date>
  }
  content_decisions: { target_type: string, target_id: string, account_id: string, sequence: number }
  posting_restrictions: { account_id: string, restricted_until: Date | null, sequence: number }
  trending_rankings: {
    number: GeneratedAlways<number>,
    post_ids: string[],
    duration_ms: number,
    confirmed_at: Generated<Date>
  }
  hashtag_counts: {
    is_only: Generated<boolean>,
    tags: JSONColumnType<{ tag: string, postsCount: number }[]>,
    uses: number,
    after: string,
    duration_ms: number,
    counted_at: Date
  }
}

export const postTypes = ['TEXT', 'IMAGE', 'VIDEO', 'POLL', 'WORKOUT', 'ACHIEVEMENT', 'ACTIVITY'] as const
export type PostType = typeof postTypes[number]
export const visibilities = ['PUBLIC', 'FOLLOWERS', 'PRIVATE'] as const
export type Visibility = typeof visibilities[number]
export const storyMediaTypes = ['IMAGE', 'VIDEO'] as const
export type StoryMediaType = typeof storyMediaTypes[number]

export const targetTypes = ['POST', 'COMMENT', 'STORY', 'USER'] as const
export type TargetType = typeof targetTypes[number]
export const reportReasons = [
  'SPAM',
  'HARASSMENT',
  'HATE',
  'SEXUAL',
  'VIOLENCE',
  'SELF_HARM',
  'CHILD_SAFETY',
  'IMPERSONATION',
  'ILLEGAL',
  'OTHER'
] as const
export type ReportReason = typeof reportReasons[number]

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
