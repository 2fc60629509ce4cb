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

/** Why a caller cannot take part: `readParticipant` throws one of these. */
export const participantErrors = [ProfileMissing, ProfileSuspended]

/**
 * Whether a transaction that threw `error` has certainly rolled back: one of our own errors did it. After any other
 * error, for example if Postgres did not respond, it may have committed, and the files that it refers to are needed.
 */
export const hasRolledBack = (error: unknown) => error instanceof Error && 'statusCode' in error
