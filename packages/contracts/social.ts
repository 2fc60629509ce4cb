import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Id, Nullable } from './schemas.ts'

// A few words of what was written, and only if everybody may read it.
const excerpt = Nullable(Type.String({ maxLength: 140 }))

/** People were named in a post, or in a comment on it. All of them may read it; the author is none of them. */
export const PeopleMentioned = defineEvent('social.people.mentioned.v1', Type.Object({
  postId: Id,
  commentId: Nullable(Id),
  authorId: Id,
  mentioned: Type.Array(Id),
  excerpt
}))

export const PostLiked = defineEvent('social.post.liked.v1', Type.Object({ postId: Id, authorId: Id, likedBy: Id, excerpt }))

/** A like was taken back; who has not been told of it need not be. */
export const PostUnliked = defineEvent('social.post.unliked.v1', Type.Object({ postId: Id, authorId: Id, unlikedBy: Id }))

/** A post got a comment of its own, which is no reply to another. */
export const PostCommented = defineEvent('social.post.commented.v1', Type.Object({
  postId: Id,
  commentId: Id,
  authorId: Id,
  commentedBy: Id,
  excerpt
}))

export const CommentReplied = defineEvent('social.comment.replied.v1', Type.Object({
  postId: Id,
  commentId: Id,
  /** The comment that was replied to, and who wrote it. */
  parentId: Id,
  parentAuthorId: Id,
  repliedBy: Id,
  excerpt
}))

/** Nobody can read a post any more. */
export const PostDeleted = defineEvent('social.post.deleted.v1', Type.Object({ postId: Id, authorId: Id }))

/** Fewer people may read a post than before; its words, and those under it, are no longer for everybody. */
export const PostNarrowed = defineEvent('social.post.narrowed.v1', Type.Object({
  postId: Id,
  authorId: Id,
  visibility: Type.Enum(['FOLLOWERS', 'PRIVATE'])
}))

/** A comment is gone, and with it the replies to it. What many replies make too long for one event is said in several. */
export const CommentsDeleted = defineEvent('social.comments.deleted.v1', Type.Object({ postId: Id, commentIds: Type.Array(Id) }))

export const PersonFollowed = defineEvent('social.person.followed.v1', Type.Object({ followerId: Id, followedId: Id }))
export const PersonUnfollowed = defineEvent('social.person.unfollowed.v1', Type.Object({ followerId: Id, followedId: Id }))

export const StoryReacted = defineEvent('social.story.reacted.v1', Type.Object({
  storyId: Id,
  authorId: Id,
  reactedBy: Id,
  emoji: Type.String()
}))

/** How two people stand to each other, as far as this service has heard by now. */
export const Connection = defineRpc('social.connection.v1', {
  request: Type.Object({ accountId: Id, otherId: Id }),
  response: Type.Object({
    isMatched: Type.Boolean(),
    /** Whether `accountId` has blocked the other. */
    hasBlocked: Type.Boolean()
  })
})
