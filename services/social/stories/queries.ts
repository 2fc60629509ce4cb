import { sql } from 'kysely'
import type { Page } from '@tandem/http-kit'
import { StoryExpired, StoryNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { reactionCount, viewCount } from '../visibility/counts.ts'
import { asUuid, canSeePerson } from '../visibility/people.ts'
import { isActive, canSeeStoriesOf, canSeeStory } from '../visibility/stories.ts'

const MAX_RINGS = 500

interface RingRow {
  userId: string
  name: string | null
  username: string | null
  image: string | null
  storyCount: number
  hasUnviewed: boolean
  latestStoryAt: Date
  isOwn: boolean
}

/**
 * One ring per author with stories for `viewer`: their own first, then rings with unviewed stories, then the newest.
 */
export async function listRings (db: Db, viewer: string): Promise<RingRow[]> {
  const { rows } = await selectRings(viewer).execute(db)
  return rows
}

export function selectRings (viewer: string) {
  const me = asUuid(viewer)
  // The viewer's own stories never count as unviewed.
  const isUnviewed = sql`stories.author_id <> ${me}
    and not exists (select from story_views where story_id = stories.id and account_id = ${me} offset 0)`
  return sql<RingRow>`
    with circle as (
      select ${me} as account_id
      union select followed_id from follows where follower_id = ${me}
      union select other_id from matches where account_id = ${me} and not ended
    ), rings as (
      select stories.author_id, count(*) as story_count, bool_or(${isUnviewed}) as has_unviewed,
        max(stories.created_at) as latest_story_at
      from circle join stories on stories.author_id = circle.account_id
      where ${isActive} and ${canSeeStory(viewer)}
      group by stories.author_id
    )
    select author_id as "userId", name, username, image, story_count as "storyCount", has_unviewed as "hasUnviewed",
      latest_story_at as "latestStoryAt", author_id = ${me} as "isOwn"
    from rings left join people on people.account_id = author_id
    order by author_id = ${me} desc, has_unviewed desc, latest_story_at desc, author_id
    limit ${sql.lit(MAX_RINGS)}`
}

const selectStories = (db: Db, viewer: string) =>
  db.selectFrom('stories')
    .leftJoin('people', 'people.account_id', 'stories.author_id')
    .where(canSeeStory(viewer))
    .select([
      'stories.id',
      'stories.author_id as userId',
      'people.name',
      'people.username',
      'people.image',
      'stories.media_url as mediaUrl',
      'stories.media_type as mediaType',
      'stories.caption',
      'stories.text_color as textColor',
      'stories.bg_color as bgColor',
      'stories.font_style as fontStyle',
      'stories.duration',
      'stories.expires_at as expiresAt',
      'stories.created_at as createdAt',
      viewCount(viewer).as('viewCount'),
      reactionCount(viewer).as('reactionCount'),
      sql<boolean>`exists (select from story_views where story_id = stories.id
        and account_id = ${asUuid(viewer)} offset 0)`.as('isViewed'),
      sql<string | null>`(select emoji from story_reactions where story_id = stories.id
        and account_id = ${asUuid(viewer)})`.as('myReaction'),
      sql<boolean>`stories.hidden_at is not null`.as('isHidden'),
      isActive.as('isActive')
    ])

/** A story as selected, with its author, who can still be missing from the local copy. */
export type StoryRow = Awaited<ReturnType<ReturnType<typeof selectStories>['executeTakeFirstOrThrow']>>

/** A person's active stories, oldest first. @throws StoryNotFound if `viewer` cannot see them */
export async function listStories (db: Db, authorId: string, viewer: string) {
  const { canSee } = await db.selectNoFrom(canSeeStoriesOf(authorId, viewer).as('canSee')).executeTakeFirstOrThrow()
  if (!canSee) throw new StoryNotFound()
  return await selectStories(db, viewer).where('stories.author_id', '=', authorId).where(isActive).orderBy('stories.id')
    .execute()
}

/** @throws StoryNotFound; StoryExpired only if `viewer` could see the story */
export async function readStory (db: Db, id: string, viewer: string) {
  const story = await selectStories(db, viewer).where('stories.id', '=', id).executeTakeFirst()
  if (!story) throw new StoryNotFound()
  if (!story.isActive) throw new StoryExpired()
  return story
}

/** The people who viewed a story, latest first, each with their reaction. */
export async function listViewers (db: Db, storyId: string, viewer: string, { cursor, limit }: Page) {
  return await db.selectFrom('story_views')
    .leftJoin('people', 'people.account_id', 'story_views.account_id')
    .leftJoin('story_reactions', (join) =>
      join
        .onRef('story_reactions.story_id', '=', 'story_views.story_id')
        .onRef('story_reactions.account_id', '=', 'story_views.account_id'))
    .where('story_views.story_id', '=', storyId)
    .where(canSeePerson(viewer, sql.ref('story_views.account_id')))
    .$if(cursor !== undefined, (query) => query.where('story_views.id', '<', cursor!))
    .select([
      'story_views.id as cursorId',
      'story_views.account_id as userId',
      'people.name',
      'people.username',
      'people.image',
      'story_views.viewed_at as viewedAt',
      'story_reactions.emoji as reaction'
    ])
    .orderBy('story_views.id', 'desc')
    .limit(limit + 1)
    .execute()
}
