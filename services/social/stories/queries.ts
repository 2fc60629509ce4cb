import { sql } from 'kysely'
import type { Page } from '@tandem/service-kit'
import { idOf, notBlocked } from '../connections/predicates.ts'
import { StoryExpired, StoryNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { isActive, sharesStories, visibleStory } from './visibility.ts'

const MOST_RINGS = 500

interface RingRow {
  userId: string
  name: string | null
  image: string | null
  storyCount: number
  hasUnviewed: boolean
  latestStoryAt: Date
  isOwn: boolean
}

/** Whose stories there are for `viewer`: his own first, then those with something new, then the newest. */
export async function listRings (db: Db, viewer: string): Promise<RingRow[]> {
  const me = idOf(viewer)
  const { rows } = await sql<RingRow>`
    with circle as (
      select ${me} as account_id
      union select followed_id from follows where follower_id = ${me}
      union select other_id from matches where account_id = ${me} and not ended
    ), rings as (
      select stories.author_id,
        count(*) as story_count,
        -- His own are new to nobody.
        bool_or(stories.author_id <> ${me} and not exists (select from story_views where story_id = stories.id and account_id = ${me} offset 0)) as has_unviewed,
        max(stories.created_at) as latest_story_at
      from circle join stories on stories.author_id = circle.account_id
      where ${isActive} and ${visibleStory(viewer)}
      group by stories.author_id
    )
    select author_id as "userId", name, image, story_count as "storyCount", has_unviewed as "hasUnviewed",
      latest_story_at as "latestStoryAt", author_id = ${me} as "isOwn"
    from rings left join people on people.account_id = author_id
    order by author_id = ${me} desc, has_unviewed desc, latest_story_at desc, author_id
    limit ${sql.lit(MOST_RINGS)}`.execute(db)
  return rows
}

const selectStories = (db: Db, viewer: string) => db.selectFrom('stories')
  .leftJoin('people', 'people.account_id', 'stories.author_id')
  .where(visibleStory(viewer))
  .select([
    'stories.id', 'stories.author_id as userId', 'people.name', 'people.image', 'stories.media_url as mediaUrl', 'stories.media_type as mediaType',
    'stories.caption', 'stories.text_color as textColor', 'stories.bg_color as bgColor', 'stories.font_style as fontStyle', 'stories.duration',
    'stories.expires_at as expiresAt', 'stories.created_at as createdAt', 'stories.view_count as viewCount', 'stories.reaction_count as reactionCount',
    sql<boolean>`exists (select from story_views where story_id = stories.id and account_id = ${idOf(viewer)} offset 0)`.as('isViewed'),
    sql<string | null>`(select emoji from story_reactions where story_id = stories.id and account_id = ${idOf(viewer)})`.as('myReaction'),
    isActive.$castTo<boolean>().as('isActive')
  ])

/** Somebody's active stories in the order they were made. @throws StoryNotFound when `viewer` may not see them */
export async function listStories (db: Db, authorId: string, viewer: string) {
  const { rows } = await sql<{ shares: boolean }>`select ${sharesStories(authorId, viewer)} as shares`.execute(db)
  if (!rows[0]?.shares) throw new StoryNotFound()
  return await selectStories(db, viewer).where('stories.author_id', '=', authorId).where(isActive).orderBy('stories.id').execute()
}

/** @throws StoryNotFound, StoryExpired only for who could have seen it */
export async function findStory (db: Db, id: string, viewer: string) {
  const story = await selectStories(db, viewer).where('stories.id', '=', id).executeTakeFirst()
  if (!story) throw new StoryNotFound()
  if (!story.isActive) throw new StoryExpired()
  return story
}

/** Who has viewed a story, the latest first, each with his reaction. */
export async function listViewers (db: Db, storyId: string, viewer: string, { cursor, limit }: Page) {
  return await db.selectFrom('story_views')
    .leftJoin('people', 'people.account_id', 'story_views.account_id')
    .leftJoin('story_reactions', (join) => join
      .onRef('story_reactions.story_id', '=', 'story_views.story_id')
      .onRef('story_reactions.account_id', '=', 'story_views.account_id'))
    .where('story_views.story_id', '=', storyId)
    .where(notBlocked(viewer, sql.ref('story_views.account_id')))
    .$if(cursor !== undefined, (query) => query.where('story_views.id', '<', cursor!))
    .select([
      'story_views.id as cursorId', 'story_views.account_id as userId', 'people.name', 'people.image',
      'story_views.viewed_at as viewedAt', 'story_reactions.emoji as reaction'
    ])
    .orderBy('story_views.id', 'desc')
    .limit(limit + 1)
    .execute()
}
