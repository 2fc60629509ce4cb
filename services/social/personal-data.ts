import { sql } from 'kysely'
import { caseTables, isAwaitingCopy, markCasesOf } from '@tandem/case-kit'
import {
  databaseTables,
  either,
  inColumns,
  kitTables,
  notPersonal,
  personal,
  type PersonalData
} from '@tandem/account-kit'
import { operatorTables } from '@tandem/operator-kit'
import {
  eraseComments,
  eraseFollows,
  eraseLikes,
  erasePosts,
  eraseReactions,
  eraseReports,
  eraseStories,
  eraseViews,
  eraseVotes,
  withoutPartOf
} from './erasure/actions.ts'
import { isAboutStoryOf, isInCaseOf, isInKeptCaseOf, isOnPostOf, ofComments } from './erasure/rows.ts'
import type { Tables } from './tables.ts'

const derived = { not: 'It follows from other tables of the copy.' }
const ofOthers = { not: 'It shows what other people did.' }

/** What this service holds of people, in the order in which it is erased. */
export const personalData: PersonalData<Tables> = {
  reports: personal({
    rowsOf: either(inColumns('reporter_id'), isInCaseOf),
    before: markCasesOf,
    erase: eraseReports,
    keeps: {
      rows: (accountId) =>
        sql<boolean>`(reporter_id is distinct from ${accountId}::uuid and ${isInKeptCaseOf(accountId)})`,
      why: 'Reports about the person are evidence, also against a new account of theirs.',
      until: '180 days after the last decision'
    },
    exported: { columns: ['reason', 'details', 'evidence', 'created_at'], rows: inColumns('reporter_id') }
  }),
  content_decisions: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'Identity exports the decisions.' }
  }),
  posting_restrictions: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'Identity exports the decisions.' }
  }),
  ...caseTables(withoutPartOf),
  story_reactions: personal({
    rowsOf: either(inColumns('account_id'), isAboutStoryOf),
    erase: eraseReactions,
    exported: { columns: ['story_id', 'emoji', 'created_at'], rows: inColumns('account_id') }
  }),
  story_views: personal({
    rowsOf: either(inColumns('account_id'), isAboutStoryOf),
    erase: eraseViews,
    exported: { columns: ['story_id', 'viewed_at'], rows: inColumns('account_id') }
  }),
  stories: personal({
    rowsOf: inColumns('author_id'),
    erase: eraseStories,
    exported: ['id', 'media_url', 'media_type', 'caption', 'text_color', 'bg_color', 'font_style', 'created_at']
  }),
  likes: personal({
    rowsOf: either(inColumns('account_id'), isOnPostOf),
    erase: eraseLikes,
    exported: { columns: ['post_id', 'created_at'], rows: inColumns('account_id') }
  }),
  poll_votes: personal({
    rowsOf: either(inColumns('account_id'), isOnPostOf),
    erase: eraseVotes,
    exported: { columns: ['post_id', 'option_id', 'created_at'], rows: inColumns('account_id') }
  }),
  mentions: personal({
    rowsOf: (accountId) =>
      sql<boolean>`(account_id = ${accountId}::uuid or ${isOnPostOf(accountId)}
        or comment_id = any(array(select id from comments where ${ofComments(accountId)})))`,
    exported: ofOthers
  }),
  post_readers: personal({
    rowsOf: either(inColumns('account_id'), isOnPostOf),
    exported: { columns: ['post_id'], rows: inColumns('account_id') }
  }),
  comments: personal({
    rowsOf: (accountId) => ofComments(accountId),
    erase: eraseComments,
    exported: {
      columns: ['id', 'post_id', 'parent_id', 'content', 'created_at'],
      rows: inColumns('author_id')
    }
  }),
  post_hashtags: personal({ rowsOf: isOnPostOf, exported: derived }),
  poll_options: personal({ rowsOf: isOnPostOf, exported: ['post_id', 'position', 'text'] }),
  polls: personal({ rowsOf: isOnPostOf, exported: ['post_id', 'question', 'ends_at'] }),
  posts: personal({
    rowsOf: inColumns('author_id'),
    erase: erasePosts,
    exported: [
      'id',
      'type',
      'visibility',
      'content',
      'media_urls',
      'media_type',
      'activity_id',
      'workout_id',
      'achievement_id',
      'location_name',
      'latitude',
      'longitude',
      'workout',
      'achievement',
      'activity',
      'created_at',
      'deleted_at'
    ]
  }),
  follows: personal({
    rowsOf: inColumns('follower_id', 'followed_id'),
    erase: eraseFollows,
    exported: { columns: ['followed_id', 'created_at'], rows: inColumns('follower_id') }
  }),
  follow_counts: personal({ rowsOf: inColumns('account_id'), exported: derived }),
  blocks: personal({ rowsOf: inColumns('account_id', 'other_id'), exported: { not: 'FitMatch exports the blocks.' } }),
  matches: personal({
    rowsOf: inColumns('account_id', 'other_id'),
    exported: { not: 'FitMatch exports the matches.' }
  }),
  media: personal({
    rowsOf: inColumns('account_id'),
    files: sql`case when deleted_at is not null then '{}' when poster_width is null then array[key]
      else array[key, replace(key, '.mp4', '.webp')] end`,
    keeps: {
      rows: () => isAwaitingCopy(sql.ref('media.key')),
      why: 'Reported images and videos are copied as evidence first.',
      until: 'the first sweep, after an hour'
    },
    exported: ['key', 'mime_type', 'width', 'height', 'duration_seconds', 'bytes', 'created_at']
  }),
  media_uploads: personal({
    rowsOf: inColumns('account_id'),
    // Its parts are removed by its id.
    files: sql`array[id::text]`,
    exported: ['mime_type', 'bytes', 'created_at']
  }),
  people: personal({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It is a copy; profile exports the original.' }
  }),
  canceled_activities: notPersonal('It lists ids of activities, without any person.'),
  hashtag_counts: notPersonal('It counts tags over all posts, and is computed again and again.'),
  trending_rankings: notPersonal('It lists ids of posts, and is computed again every few seconds.'),
  ...databaseTables,
  ...operatorTables,
  ...kitTables
}
