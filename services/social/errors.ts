import createError from '@fastify/error'

export const PostNotFound = createError('NOT_FOUND', 'Post not found', 404)
export const PostForbidden = createError('FORBIDDEN', 'You do not have access to this post', 403)
export const PostGone = createError('GONE', 'This post was deleted', 410)
export const NotYourPost = createError('FORBIDDEN', 'Only the author of the post can do this', 403)
export const PostEmpty = createError(
  'VALIDATION_ERROR',
  'content is required, unless the post shows something else',
  400
)
export const UnknownWorkout = createError('VALIDATION_ERROR', 'workoutId must be a workout of yours', 400)
export const UnknownAchievement = createError('VALIDATION_ERROR', 'achievementId must be an achievement of yours', 400)
export const UnknownActivity = createError(
  'VALIDATION_ERROR',
  'activityId must be an activity that you take part in',
  400
)
export const AlreadyLiked = createError('ALREADY_LIKED', 'You already like this post', 400)
export const NotLiked = createError('NOT_LIKED', 'You do not like this post', 400)
export const CommentNotFound = createError('NOT_FOUND', 'Comment not found', 404)
export const NotYourComment = createError('FORBIDDEN', 'Only the author of the comment or of the post can do this', 403)
export const PollIncomplete = createError(
  'VALIDATION_ERROR',
  'pollQuestion and pollOptions are required: a poll has a question and 2 to 10 options',
  400
)
export const PollEndInPast = createError('VALIDATION_ERROR', 'pollEndsAt must be in the future', 400)
export const PollEndTooLate = createError('VALIDATION_ERROR', 'pollEndsAt must be within a year', 400)
export const PollOptionsEqual = createError('VALIDATION_ERROR', 'pollOptions must differ from each other', 400)
export const PollNotFound = createError('NOT_FOUND', 'This post has no poll', 404)
export const PollOptionNotFound = createError('NOT_FOUND', 'Poll option not found', 404)
export const AlreadyVoted = createError('ALREADY_VOTED', 'You have already voted in this poll', 400)
export const NotVoted = createError('NOT_VOTED', 'You have not voted in this poll', 400)
export const PollClosed = createError('POLL_CLOSED', 'The poll is closed', 410)
export const PersonNotFound = createError('NOT_FOUND', 'User not found', 404)
export const AlreadyFollowing = createError('ALREADY_FOLLOWING', 'You already follow this user', 400)
export const NotFollowing = createError('NOT_FOLLOWING', 'You do not follow this user', 400)
export const CannotFollowSelf = createError('CANNOT_FOLLOW_SELF', 'You cannot follow yourself', 400)
export const StoryNotFound = createError('NOT_FOUND', 'Story not found', 404)
export const StoryExpired = createError('EXPIRED', 'This story expired after 24 hours', 410)
export const NotYourStory = createError('FORBIDDEN', 'Only the author of the story can do this', 403)
export const StoryLimitExceeded = createError(
  'LIMIT_EXCEEDED',
  "You have reached today's limit of 10 stories. Try again tomorrow.",
  429
)
export const NotReacted = createError('NOT_REACTED', 'You have not reacted to this story', 400)
export const NotEmoji = createError('VALIDATION_ERROR', 'emoji must be one to four emoji', 400)
export const MediaGone = createError('VALIDATION_ERROR', 'An image or video has been deleted. Upload it again.', 400)
export const MediaNotAllowed = createError('VALIDATION_ERROR', 'This media cannot be used. Upload it first.', 400)
export const VideoInImage = createError(
  'VALIDATION_ERROR',
  'An image was expected, and this is a video. Use the type VIDEO for it',
  400
)
export const ImageInVideo = createError(
  'VALIDATION_ERROR',
  'A video was expected, and this is an image. Use the type IMAGE for it',
  400
)
export const StoryDurationDiffers = createError(
  'VALIDATION_ERROR',
  'duration must be that of the video: %s seconds. Leave it out to use that',
  400
)
export const StoryVideoTooLong = createError(
  'VALIDATION_ERROR',
  'The video of a story has at most 60 seconds. Trim it, or publish it as a post',
  400
)
export const VideoQuotaExceeded = createError(
  'LIMIT_EXCEEDED',
  "You have reached today's limit of 500 MB of videos. Try again tomorrow.",
  429
)

export const UploadNotFound = createError('NOT_FOUND', 'There is no such upload, or it has expired. Begin again.', 404)
export const PosterUnknown = createError(
  'VALIDATION_ERROR',
  'poster must be the key of an image that you have uploaded',
  400
)
export const UploadBehind = createError('UPLOAD_OFFSET', 'Go on at byte %s, where the upload has arrived', 409)
export const UploadTooLong = createError('VALIDATION_ERROR', 'The parts are longer than the upload', 400)
export const UploadPartsTooSmall = createError(
  'VALIDATION_ERROR',
  'The upload has too many parts. Begin again, with parts of 1 to 5 MB',
  400
)

export const PostingRestricted = createError(
  'POSTING_RESTRICTED',
  'You cannot post, comment or react at the moment. See the standing of your account.',
  403
)
export const TooManyReports = createError(
  'LIMIT_EXCEEDED',
  "You have reached today's limit of 20 reports. Try again tomorrow.",
  429
)

/** Why a caller cannot see a post: `visibility/posts.ts` throws one of these. */
export const postErrors = [PostNotFound, PostForbidden, PostGone]
/** Why a caller cannot see a story: `visibility/stories.ts` throws one of these. */
export const storyErrors = [StoryNotFound, StoryExpired]
