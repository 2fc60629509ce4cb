import { defineError } from '@tandem/process-kit'
export const ProfileNotFound = defineError('PROFILE_NOT_FOUND.profileNotFound', 404)
export const ProfileMissing = defineError('PROFILE_NOT_FOUND.profileMissing', 404)
export const ProfileExists = defineError('PROFILE_EXISTS', 409)
export const ProfileSuspended = defineError('PROFILE_SUSPENDED', 403)
export const AgeRestricted = defineError<{ minAge: number }>('AGE_RESTRICTED.fitmatchAgeRestricted', 403)
export const AgeUnknown = defineError('AGE_RESTRICTED.fitmatchAgeUnknown', 403)
export const InsufficientPhotos = defineError('INSUFFICIENT_PHOTOS', 400)
export const TooManyPositionChanges = defineError('LIMIT_EXCEEDED.tooManyPositionChanges', 429)
export const TooManyPhotos = defineError<{ max: number }>('LIMIT_EXCEEDED.tooManyPhotos', 400)
export const TooManyVenues = defineError<{ max: number }>('LIMIT_EXCEEDED.tooManyVenues', 400)
export const TooManySwipes = defineError('LIMIT_EXCEEDED.tooManySwipes', 429)
export const TooManyReports = defineError('LIMIT_EXCEEDED.tooManyReports', 429)
export const PhotoNotFound = defineError('NOT_FOUND.photo', 404)
export const VenueNotFound = defineError('NOT_FOUND.venue', 404)
export const MatchNotFound = defineError('NOT_FOUND.match', 404)
export const BlockNotFound = defineError('NOT_FOUND.block', 404)
export const PersonNotFound = defineError('NOT_FOUND.person', 404)
export const PersonNotBlocked = defineError('NOT_FOUND.personNotBlocked', 404)
export const ReportNotFound = defineError('NOT_FOUND.report', 404)
export const VerificationNotFound = defineError('NOT_FOUND.verification', 404)
export const VerificationPending = defineError('VERIFICATION_PENDING', 409)
export const MainPhotoNotUploaded = defineError('VALIDATION_ERROR.mainPhotoNotUploaded', 400)
export const AlreadyVerified = defineError('ALREADY_VERIFIED', 409)
export const AlreadyDecided = defineError('ALREADY_DECIDED', 409)

export const ActivityNotFound = defineError('NOT_FOUND.activity', 404)
export const InviteeNotFound = defineError('NOT_FOUND.invitee', 404)
export const ParticipantNotFound = defineError('NOT_FOUND.participant', 404)
export const CannotInvite = defineError('CANNOT_INVITE.cannotInvite', 403)
export const TooManyActivities = defineError('LIMIT_EXCEEDED.tooManyActivities', 429)
export const TooManyMoves = defineError('LIMIT_EXCEEDED.tooManyMoves', 429)
export const TooManyInvitations = defineError('LIMIT_EXCEEDED.tooManyInvitations', 429)
export const TooManyJoinRequests = defineError('LIMIT_EXCEEDED.tooManyJoinRequests', 429)
export const ActivityChanged = defineError('ACTIVITY_CHANGED', 409)
export const ActivityFull = defineError('ACTIVITY_FULL', 409)
export const ActivityOver = defineError('ACTIVITY_OVER', 409)
export const ActivityNotOver = defineError('ACTIVITY_NOT_OVER', 409)
export const TooLateToChange = defineError('TOO_LATE', 409)
export const NotYet = defineError('NOT_YET', 409)
export const CannotRequestBuddy = defineError('CANNOT_INVITE.cannotRequestBuddy', 403)
export const AlreadyBuddies = defineError('ALREADY_BUDDIES', 409)
export const TooManyBuddyRequests = defineError('LIMIT_EXCEEDED.tooManyBuddyRequests', 429)
export const NoTrustedContact = defineError('NO_TRUSTED_CONTACT', 409)
export const TooManyMeetings = defineError('LIMIT_EXCEEDED.tooManyMeetings', 429)
export const MeetingNotFound = defineError('NOT_FOUND.meeting', 404)
export const BuddyRequestNotFound = defineError('NOT_FOUND.buddyRequest', 404)
export const BuddyNotFound = defineError('NOT_FOUND.buddy', 404)

/** Why a caller cannot take part: `readParticipant` throws one of these. */
export const participantErrors = [ProfileMissing, ProfileSuspended]
/** Why a caller cannot meet people: `readAdult` throws one of these. */
export const adultErrors = [...participantErrors, AgeRestricted, AgeUnknown]

/**
 * Whether a transaction that threw `error` has certainly rolled back: one of our own errors did it. After any other
 * error, for example if Postgres did not respond, it may have committed, and the files that it refers to are needed.
 */
export const hasRolledBack = (error: unknown) => error instanceof Error && 'statusCode' in error
