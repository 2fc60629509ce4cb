import { sql } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'

/**
 * The actor of a row of `notifications`, as others may see them: of a digest of likes the latest liker who is not hidden.
 * Null if there is none.
 */
export const visibleActor = sql<string | null>`
  case
    when notifications.actor_id is null or ${isNotHidden(sql`notifications.actor_id`)} then notifications.actor_id
    when notifications.kind = 'postLiked' then (
      select liked_by from post_likes
      where notification_id = notifications.id and liked and ${isNotHidden(sql`liked_by`)}
      order by changed_at desc, liked_by limit 1)
  end`
