import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import {
  CaseDescription,
  Erased,
  Id,
  Nullable,
  Outcome,
  erasureCheck,
  moderation,
  personalData,
  reportOfPerson
} from './schemas.ts'

// The first words of the text, only if it is public.
const excerpt = Nullable(Type.String({ maxLength: 140 }))

/**
 * People were mentioned in a post, or in a comment on it. All of them can see it; the author is not among them. A person
 * who is mentioned again, after an edit had removed the mention, is among them again.
 */
export const PeopleMentioned = defineEvent(
  'social.people.mentioned.v1',
  Type.Object({
    postId: Id,
    commentId: Nullable(Id),
    /** The top-level comment that the comment replies to. */
    parentId: Type.Optional(Nullable(Id)),
    /** Who wrote the text. */
    authorId: Id,
    postAuthorId: Type.Optional(Id),
    mentioned: Type.Array(Id),
    excerpt
  })
)

/** A post no longer mentions people: its text was edited, or they cannot see it any more. */
export const PeopleUnmentioned = defineEvent(
  'social.people.unmentioned.v1',
  Type.Object({ postId: Id, unmentioned: Type.Array(Id, { minItems: 1 }) })
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
    postAuthorId: Type.Optional(Id),
    repliedBy: Id,
    excerpt
  })
)

/** A new post that everybody can see. */
export const PostCreated = defineEvent('social.post.created.v1', Type.Object({ postId: Id, authorId: Id }))

/** A post is no longer visible to anyone. */
export const PostDeleted = defineEvent('social.post.deleted.v1', Type.Object({ postId: Id, authorId: Id }))

const sharedAchievement = Type.Object({ postId: Id, authorId: Id, achievementId: Id })

/** A new post shows an achievement of its author. */
export const AchievementShared = defineEvent('social.achievement.shared.v1', sharedAchievement)

/** The post that showed an achievement is no longer visible to anyone. */
export const AchievementUnshared = defineEvent('social.achievement.unshared.v1', sharedAchievement)

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

/** These people took part in a post and cannot see it any more, as its audience was narrowed. Very many are split over several events. */
export const PostClosed = defineEvent(
  'social.post.closed.v1',
  Type.Object({ postId: Id, accountIds: Type.Array(Id, { minItems: 1 }) })
)

/** The same of one person who does not follow the author of these posts any more. */
export const PostsClosed = defineEvent(
  'social.posts.closed.v1',
  Type.Object({ accountId: Id, postIds: Type.Array(Id, { minItems: 1 }) })
)

/** Operators have hidden a post, a comment or a story from everybody but its author. */
export const ContentHidden = defineEvent(
  'social.content.hidden.v1',
  Type.Object({ type: Type.Enum(['POST', 'COMMENT', 'STORY']), id: Id, authorId: Id })
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

/** A person's reaction to a story, in place of an earlier one of theirs. */
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
/** Its author deleted a story before it expired. */
export const StoryDeleted = defineEvent('social.story.deleted.v1', Type.Object({ storyId: Id, authorId: Id }))

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
  Type.Object({ reportId: Id, reporterId: Id, outcome: Outcome })
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
