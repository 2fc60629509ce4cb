import createError from '@fastify/error'

export const ProfileNotFound = createError('PROFILE_NOT_FOUND', 'FitMatch profile not found', 404)
export const ProfileMissing = createError('PROFILE_NOT_FOUND', 'You have no FitMatch profile yet', 404)
export const ProfileExists = createError('PROFILE_EXISTS', 'You already have a FitMatch profile', 409)
export const ProfileSuspended = createError('PROFILE_SUSPENDED', 'Your FitMatch profile is suspended', 403)
export const AgeRestricted = createError<'AGE_RESTRICTED', 403, [number]>(
  'AGE_RESTRICTED',
  'You must be at least %d years old to use FitMatch',
  403
)
export const AgeUnknown = createError('AGE_RESTRICTED', 'Add your birth date to your FitMatch profile first', 403)
export const InsufficientPhotos = createError(
  'INSUFFICIENT_PHOTOS',
  'Discover requires an active profile with at least two photos',
  400
)
export const TooManyPositionChanges = createError(
  'LIMIT_EXCEEDED',
  'You have changed your location too often today. Try again tomorrow',
  429
)
export const TooManyPhotos = createError('LIMIT_EXCEEDED', 'A profile can have at most 6 photos. Delete one first', 400)
export const TooManyVenues = createError('LIMIT_EXCEEDED', 'A profile can have at most 5 venues. Delete one first', 400)
export const TooManySwipes = createError(
  'LIMIT_EXCEEDED',
  "You have used all of today's swipes. Try again tomorrow",
  429
)
export const TooManyReports = createError('LIMIT_EXCEEDED', "You have reached today's report limit", 429)
export const PhotoNotFound = createError('NOT_FOUND', 'Photo not found', 404)
export const VenueNotFound = createError('NOT_FOUND', 'Venue not found', 404)
export const MatchNotFound = createError('NOT_FOUND', 'Match not found', 404)
export const BlockNotFound = createError('NOT_FOUND', 'You have not blocked this profile', 404)
export const PersonNotFound = createError('NOT_FOUND', 'There is no such user', 404)
export const PersonNotBlocked = createError('NOT_FOUND', 'You have not blocked this user', 404)
export const ReportNotFound = createError('NOT_FOUND', 'Report not found', 404)
export const VerificationNotFound = createError('NOT_FOUND', 'Verification not found', 404)
export const VerificationPending = createError('VERIFICATION_PENDING', 'Your selfie is already being reviewed', 409)
export const MainPhotoNotUploaded = createError(
  'VALIDATION_ERROR',
  'Your main photo must be one that you uploaded. Add one, or choose another main photo',
  400
)
export const AlreadyVerified = createError('ALREADY_VERIFIED', 'Your photos are already verified', 409)
export const AlreadyDecided = createError('ALREADY_DECIDED', 'This verification has already been decided', 409)

export const ActivityNotFound = createError('NOT_FOUND', 'Activity not found', 404)
export const InviteeNotFound = createError('NOT_FOUND', 'At least one of these people was not found', 404)
export const ParticipantNotFound = createError('NOT_FOUND', 'This person does not take part', 404)
export const CannotInvite = createError(
  'CANNOT_INVITE',
  'At least one of these people cannot be invited. Nobody was invited',
  403
)
export const TooManyActivities = createError(
  'LIMIT_EXCEEDED',
  'You can plan 10 activities a day, and 30 at a time. Try again tomorrow, or cancel one',
  429
)
export const TooManyInvitations = createError(
  'LIMIT_EXCEEDED',
  "You have used today's 30 invitations. Try again tomorrow",
  429
)
export const TooManyJoinRequests = createError(
  'LIMIT_EXCEEDED',
  'You have asked to join 20 activities today. Try again tomorrow',
  429
)
export const ActivityChanged = createError(
  'ACTIVITY_CHANGED',
  'The activity has changed. Load it again, and answer for its current version',
  409
)
export const ActivityFull = createError('ACTIVITY_FULL', 'All places of this activity are taken', 409)
export const ActivityOver = createError('ACTIVITY_OVER', 'This activity is over or was canceled', 409)
export const ActivityNotOver = createError(
  'ACTIVITY_NOT_OVER',
  'Only a finished or canceled activity can be repeated',
  409
)
export const TooLateToChange = createError(
  'TOO_LATE',
  'The time and the place are final from two hours before the start. Cancel the activity instead',
  409
)
export const NotYet = createError('NOT_YET', 'You can check in from 30 minutes before the start', 409)
export const CannotRequestBuddy = createError(
  'CANNOT_INVITE',
  'You can ask people you follow, people who follow you, and people you have trained with',
  403
)
export const AlreadyBuddies = createError('ALREADY_BUDDIES', 'You are sport buddies already', 409)
export const TooManyBuddyRequests = createError(
  'LIMIT_EXCEEDED',
  "You have sent today's 20 sport buddy requests. Try again tomorrow",
  429
)
export const NoTrustedContact = createError(
  'NO_TRUSTED_CONTACT',
  'Set a trusted contact first, and wait until they have agreed',
  409
)
export const TooManyMeetings = createError(
  'LIMIT_EXCEEDED',
  'You have let your trusted contact know of 10 activities today. Try again tomorrow',
  429
)
export const MeetingNotFound = createError('NOT_FOUND', 'Your trusted contact does not expect you to report back', 404)
export const BuddyRequestNotFound = createError('NOT_FOUND', 'Sport buddy request not found', 404)
export const BuddyNotFound = createError('NOT_FOUND', 'This person is not your sport buddy', 404)

/** Why a caller cannot take part: `readParticipant` throws one of these. */
export const participantErrors = [ProfileMissing, ProfileSuspended]
/** Why a caller cannot meet people: `readAdult` throws one of these. */
export const adultErrors = [...participantErrors, AgeRestricted, AgeUnknown]

/**
 * Whether a transaction that threw `error` has certainly rolled back: one of our own errors did it. After any other
 * error, for example if Postgres did not respond, it may have committed, and the files that it refers to are needed.
 */
export const hasRolledBack = (error: unknown) => error instanceof Error && 'statusCode' in error
