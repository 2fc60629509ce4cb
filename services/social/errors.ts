import { defineError } from '@tandem/process-kit'
export const PostNotFound = defineError('NOT_FOUND.post', 404)
export const PostForbidden = defineError('FORBIDDEN.postForbidden', 403)
export const PostGone = defineError('GONE', 410)
export const NotYourPost = defineError('FORBIDDEN.notYourPost', 403)
export const PostEmpty = defineError('VALIDATION_ERROR.postEmpty', 400, { fields: ['content'] })
export const UnknownWorkout = defineError('VALIDATION_ERROR.unknownWorkout', 400, { fields: ['workoutId'] })
export const UnknownAchievement = defineError('VALIDATION_ERROR.unknownAchievement', 400, { fields: ['achievementId'] })
export const UnknownActivity = defineError('VALIDATION_ERROR.unknownActivity', 400, { fields: ['activityId'] })
export const AlreadyLiked = defineError('ALREADY_LIKED', 400)
export const NotLiked = defineError('NOT_LIKED', 400)
export const CommentNotFound = defineError('NOT_FOUND.comment', 404)
export const NotYourComment = defineError('FORBIDDEN.notYourComment', 403)
export const PollIncomplete = defineError('VALIDATION_ERROR.pollIncomplete', 400, {
  fields: ['pollQuestion', 'pollOptions']
})
export const PollEndInPast = defineError('VALIDATION_ERROR.pollEndInPast', 400, { fields: ['pollEndsAt'] })
export const PollEndTooLate = defineError('VALIDATION_ERROR.pollEndTooLate', 400, { fields: ['pollEndsAt'] })
export const PollOptionsEqual = defineError('VALIDATION_ERROR.pollOptionsEqual', 400, { fields: ['pollOptions'] })
export const PollNotFound = defineError('NOT_FOUND.poll', 404)
export const PollOptionNotFound = defineError('NOT_FOUND.pollOption', 404)
export const AlreadyVoted = defineError('ALREADY_VOTED', 400)
export const NotVoted = defineError('NOT_VOTED', 400)
export const PollClosed = defineError('POLL_CLOSED', 410)
export const PersonNotFound = defineError('NOT_FOUND.socialPerson', 404)
export const AlreadyFollowing = defineError('ALREADY_FOLLOWING', 400)
export const NotFollowing = defineError('NOT_FOLLOWING', 400)
export const CannotFollowSelf = defineError('CANNOT_FOLLOW_SELF', 400)
export const StoryNotFound = defineError('NOT_FOUND.story', 404)
export const StoryExpired = defineError('EXPIRED.storyExpired', 410)
export const NotYourStory = defineError('FORBIDDEN.notYourStory', 403)
export const StoryLimitExceeded = defineError<{ limit: number }>('LIMIT_EXCEEDED.storyLimitExceeded', 429)
export const NotReacted = defineError('NOT_REACTED', 400)
export const NotEmoji = defineError('VALIDATION_ERROR.notEmoji', 400, { fields: ['emoji'] })
export const MediaGone = defineError('VALIDATION_ERROR.mediaGone', 400)
export const MediaNotAllowed = defineError('VALIDATION_ERROR.mediaNotAllowed', 400)
export const VideoInImage = defineError('VALIDATION_ERROR.videoInImage', 400)
export const ImageInVideo = defineError('VALIDATION_ERROR.imageInVideo', 400)
export const StoryDurationDiffers = defineError<{ seconds: number }>('VALIDATION_ERROR.storyDurationDiffers', 400, {
  fields: ['duration']
})
export const StoryVideoTooLong = defineError<{ seconds: number }>('VALIDATION_ERROR.storyVideoTooLong', 400)
export const VideoQuotaExceeded = defineError('LIMIT_EXCEEDED.videoQuotaExceeded', 429)

export const UploadNotFound = defineError('NOT_FOUND.upload', 404)
export const PosterUnknown = defineError('VALIDATION_ERROR.posterUnknown', 400, { fields: ['poster'] })
export const NotAPart = defineError<{ type: string }>('UNSUPPORTED_MEDIA_TYPE.typeOfPartIsType', 415)
export const UploadBehind = defineError<{ bytes: number }>('UPLOAD_OFFSET', 409)
export const UploadTooLong = defineError('VALIDATION_ERROR.uploadTooLong', 400)
export const UploadPartsTooSmall = defineError('VALIDATION_ERROR.uploadPartsTooSmall', 400)

export const PostingRestricted = defineError('POSTING_RESTRICTED', 403)
export const TooManyReports = defineError('LIMIT_EXCEEDED.socialTooManyReports', 429)

/** Why a caller cannot see a post: `visibility/posts.ts` throws one of these. */
export const postErrors = [PostNotFound, PostForbidden, PostGone]
/** Why a caller cannot see a story: `visibility/stories.ts` throws one of these. */
export const storyErrors = [StoryNotFound, StoryExpired]
