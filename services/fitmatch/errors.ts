import createError from '@fastify/error'
import { RateLimited } from '@tandem/service-kit'

export const ProfileNotFound = createError('PROFILE_NOT_FOUND', 'There is no such FitMatch profile', 404)
export const ProfileMissing = createError('PROFILE_NOT_FOUND', 'You have no FitMatch profile yet', 404)
export const ProfileExists = createError('PROFILE_EXISTS', 'You have a FitMatch profile already', 409)
export const ProfileSuspended = createError('PROFILE_SUSPENDED', 'Your FitMatch profile is suspended', 403)
export const AgeRestricted = createError<'AGE_RESTRICTED', 403, [number]>('AGE_RESTRICTED', 'FitMatch is for people of %d years and older', 403)
export const AgeUnknown = createError('AGE_RESTRICTED', 'Please add your birth date to your FitMatch profile first', 403)
export const InsufficientPhotos = createError('INSUFFICIENT_PHOTOS', 'Discover needs an active profile with at least two photos', 400)
export const TooManyPositionChanges = createError('LIMIT_EXCEEDED', 'You have moved too often today', 429)
export const TooManyPhotos = createError('LIMIT_EXCEEDED', 'A profile has at most 6 photos', 400)
export const TooManyVenues = createError('LIMIT_EXCEEDED', 'A profile has at most 5 venues', 400)
export const TooManySwipes = createError('LIMIT_EXCEEDED', 'You have used all swipes of today', 429)
export const TooManyReports = createError('LIMIT_EXCEEDED', 'You have sent all reports that are possible in a day', 429)
export const PhotoNotFound = createError('NOT_FOUND', 'There is no such photo', 404)
export const VenueNotFound = createError('NOT_FOUND', 'There is no such venue', 404)
export const MatchNotFound = createError('NOT_FOUND', 'There is no such match', 404)
export const BlockNotFound = createError('NOT_FOUND', 'You have not blocked this profile', 404)
export const ReportNotFound = createError('NOT_FOUND', 'There is no such report', 404)
export const VerificationNotFound = createError('NOT_FOUND', 'There is no such verification', 404)
export const VerificationPending = createError('VERIFICATION_PENDING', 'Your photo is being looked at already', 409)
export const AlreadyVerified = createError('ALREADY_VERIFIED', 'Your photo is verified already', 409)
export const AlreadyDecided = createError('ALREADY_DECIDED', 'This verification is decided already', 409)

export class TooManyMessages extends RateLimited {
  /** In how many seconds the next one may be sent. */
  readonly retryAfterSeconds: number

  constructor (retryAfterSeconds: number) {
    super()
    this.retryAfterSeconds = retryAfterSeconds
  }
}
