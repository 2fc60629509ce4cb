import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import {
  CaseDescription,
  Erased,
  Id,
  Nullable,
  erasureCheck,
  moderation,
  personalData,
  reportOfPerson
} from './schemas.ts'

// The first words of the text, only if it is public.
const excerpt = Nullable(Type.String({ maxLength: 140 }))

/** People were mentioned in a post, or in a comment on it. All of them can see it; the author is not among them. */
export const PeopleMentioned = defineEvent(
  'social.people.mentioned.v1',
  Type.Object({
    postId: Id,
    commentId: Nullable(Id),
    authorId: Id,
    mentioned: Type.Array(Id),
    excerpt
  })
)

export const PostLiked = defineEvent(
  'social.post.liked.v1',
  Type.Object({ postId: Id, authorId: Id, likedBy: Id, excerpt })
)

/** A like was removed. A notification about it that is not sent yet can be skipped. */
export const PostUnliked = defineEvent(
  'social.post.unliked.v1',
  Type.Object({ postId: Id, authorId: Id, unlikedBy: Id })
)

/** A post got a comment that is not a reply to another comment. */
export const PostCommented = defineEvent(
  'social.post.commented.v1',
  Type.Object({
    postId: Id,
    commentId: Id,
    authorId: Id,
    commentedBy: Id,
    excerpt
  })
)

export const CommentReplied = defineEvent(
  'social.comment.replied.v1',
  Type.Object({
    postId: Id,
    commentId: Id,
    /** The comment that was replied to, and its author. */
    parentId: Id,
    parentAuthorId: Id,
    repliedBy: Id,
    excerpt
  })
)

/** A post is no longer visible to anyone. */
export const PostDeleted = defineEvent('social.post.deleted.v1', Type.Object({ postId: Id, authorId: Id }))

/** The text of a post was changed. */
export const PostEdited = defineEvent(
  'social.post.edited.v1',
  Type.Object({ postId: Id, authorId: Id, excerpt })
)

/** Fewer people can see a post than before. Its text, and the comments on it, are no longer public. */
export const PostNarrowed = defineEvent(
  'social.post.narrowed.v1',
  Type.Object({
    postId: Id,
    authorId: Id,
    visibility: Type.Enum(['FOLLOWERS', 'PRIVATE'])
  })
)

/** Comments were deleted. Very many are split over several events. */
export const CommentsDeleted = defineEvent(
  'social.comments.deleted.v1',
  Type.Object({ postId: Id, commentIds: Type.Array(Id) })
)

export const PersonFollowed = defineEvent('social.person.followed.v1', Type.Object({ followerId: Id, followedId: Id }))
export const PersonUnfollowed = defineEvent(
  'social.person.unfollowed.v1',
  Type.Object({ followerId: Id, followedId: Id })
)

export const StoryReacted = defineEvent(
  'social.story.reacted.v1',
  Type.Object({
    storyId: Id,
    authorId: Id,
    reactedBy: Id,
    emoji: Type.String()
  })
)

/** A reaction to a story was removed. A notification about it that is unread can be removed. */
export const StoryUnreacted = defineEvent(
  'social.story.unreacted.v1',
  Type.Object({ storyId: Id, authorId: Id, unreactedBy: Id })
)

/** A person, or something of theirs, was reported. */
export const PersonReported = defineEvent(
  'social.person.reported.v1',
  Type.Object({
    reportId: Id,
    reporterId: Id,
    reportedId: Id,
    /** Whether the reporter also wants to block them. */
    alsoBlock: Type.Boolean()
  })
)

/** What came of a report. It says nothing about the decision. */
export const ContentReportResolved = defineEvent(
  'social.report.resolved.v1',
  Type.Object({ reportId: Id, reporterId: Id, outcome: Type.Enum(['ACTION_TAKEN', 'NO_VIOLATION']) })
)

/** The relation of two people, as far as the events have reached this service. */
export const Connection = defineRpc('social.connection.v1', {
  request: Type.Object({ accountId: Id, otherId: Id }),
  response: Type.Object({
    isMatched: Type.Boolean(),
    /** Whether `accountId` has blocked the other. */
    hasBlocked: Type.Boolean(),
    /** Whether the other follows `accountId`. */
    isFollower: Type.Optional(Type.Boolean()),
    /** Whether `accountId` follows the other. */
    isFollowing: Type.Optional(Type.Boolean())
  })
})

export const SocialAccountErased = defineEvent('social.account.erased.v1', Erased)
export const SocialPersonalData = defineRpc('social.personal-data.v1', personalData)
export const SocialErasureCheck = defineRpc('social.erasure-check.v1', erasureCheck)

/** The cases about a person, and what came of their reports, for operators. */
export const SocialModeration = defineRpc('social.moderation.v1', moderation)

/** What came of a person's own report; null if there is none of theirs. */
export const SocialReport = defineRpc('social.report.v1', reportOfPerson)

/** A case of this service; null if there is none. */
export const SocialCase = defineRpc('social.case.v1', {
  request: Type.Object({ caseId: Id }),
  response: Nullable(CaseDescription)
})

/** This service has carried out a decision. */
export const SocialDecisionApplied = defineEvent('social.decision.applied.v1', Type.Object({ decisionId: Id }))
