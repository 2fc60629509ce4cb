import createError from '@fastify/error'

export const CaseNotFound = createError('NOT_FOUND', 'There is no such case', 404)
export const CaseChanged = createError('CASE_CHANGED', 'This case was changed or decided meanwhile. Load it again', 409)
export const DecisionNotFound = createError('NOT_FOUND', 'There is no such decision', 404)
export const AppealNotFound = createError('NOT_FOUND', 'There is no such open appeal', 404)
export const AppealExists = createError('APPEAL_EXISTS', 'You have already appealed this decision', 409)
export const AppealClosed = createError('APPEAL_CLOSED', 'The time to appeal this decision is over', 410)
export const AccountBanned = createError(
  'ACCOUNT_BANNED',
  'This account was banned. The email about it says why, and how to appeal.',
  403
)
export const InvalidInvitation = createError('INVALID_INVITATION', 'This link is invalid or has expired', 400)
export const InvalidPasskey = createError('INVALID_PASSKEY', 'This passkey was not accepted', 401)
export const StaffSessionEnded = createError('SESSION_ENDED', 'Sign in again', 401)
export const StaffExists = createError('STAFF_EXISTS', 'There is already an operator with this address', 409)
export const StaffNotFound = createError('NOT_FOUND', 'There is no such operator', 404)
export const LastAdmin = createError('LAST_ADMIN', 'This is the last administrator. Name another one first', 409)
export const InvalidCredentials = createError('INVALID_CREDENTIALS', 'The email or the password is incorrect', 401)
export const ProviderAAccount = createError(
  'PROVIDER_A_ACCOUNT',
  'This account signs in with provider A and has no password',
  401
)
export const EmailNotVerified = createError('EMAIL_NOT_VERIFIED', 'Please verify your email address first', 403)
export const EmailExists = createError('EMAIL_EXISTS', 'An account with this email already exists', 409)
export const UserNotFound = createError('USER_NOT_FOUND', 'There is no such user', 404)
export const InvalidCode = createError('INVALID_CODE', 'The code is invalid or has expired. Request a new one.', 400)
export const ProofRequired = createError(
  'PROOF_REQUIRED',
  'Please prove again who you are; a proof is valid for ten minutes and can be used once',
  403
)
export const ProofTooWeak = createError(
  'PROOF_TOO_WEAK',
  'To delete the account at once, prove who you are with a mailed code',
  403
)
export const EmailChangedRecently = createError(
  'EMAIL_CHANGED_RECENTLY',
  'The address of this account has changed. This is possible seven days after the change',
  409
)
export const ProviderNotLinked = createError('NOT_FOUND', 'This provider is not linked to your account', 404)
export const LastSignInMethod = createError(
  'LAST_SIGN_IN_METHOD',
  'You sign in with nothing but this provider. Set a password first',
  409
)
export const EmailFailed = createError('EMAIL_FAILED', 'The email could not be sent. Please try again later.', 500)
export const InvalidProviderAToken = createError(
  'INVALID_PROVIDER_A_TOKEN',
  'The token of provider A is invalid or has expired',
  401
)
export const ProviderAEmailNotVerified = createError(
  'PROVIDER_A_EMAIL_NOT_VERIFIED',
  'Provider A has not verified this email address',
  401
)
export const InvalidProviderBToken = createError(
  'INVALID_PROVIDER_B_TOKEN',
  'The token of provider B is invalid or has expired',
  401
)
export const ProviderBEmailRequired = createError(
  'PROVIDER_B_EMAIL_REQUIRED',
  'Please allow provider B to share an email address',
  400
)
export const AccountNotVerified = createError(
  'ACCOUNT_NOT_VERIFIED',
  'An account with this email exists but is not verified yet. Verify its email address first.',
  401
)
export const InvalidRefreshToken = createError(
  'INVALID_REFRESH_TOKEN',
  'The refresh token is invalid or has expired',
  401
)
export const RefreshFailed = createError('REFRESH_FAILED', 'Please sign in again', 401)
export const SessionNotFound = createError('NOT_FOUND', 'There is no such session', 404)
export const PasswordAlreadySet = createError('PASSWORD_ALREADY_SET', 'This account already has a password', 409)
export const CommonPassword = createError(
  'VALIDATION_ERROR',
  'This password is too common and easy to guess. Please choose another one.',
  400
)
export const InvalidCurrentPassword = createError('INVALID_CURRENT_PASSWORD', 'The current password is incorrect', 400)
export const PasswordsDiffer = createError('VALIDATION_ERROR', 'confirmPassword must be the same as password', 400)
export const InvalidResetToken = createError(
  'INVALID_TOKEN',
  'This link is invalid, expired or already used. Request a new one.',
  400
)
export const DeletionPending = createError('DELETION_PENDING', 'The deletion of this account is already under way', 409)
/** The response has these fields beside the code. */
export class AccountDeletionPending
  extends createError('ACCOUNT_DELETION_PENDING', 'This account will be deleted. You can still cancel that.', 403)
{
  readonly responseFields: { eraseAt: string, restoreToken: string }

  constructor (responseFields: { eraseAt: string, restoreToken: string }) {
    super()
    this.responseFields = responseFields
  }
}
export const DeletionBegun = createError(
  'DELETION_BEGUN',
  'The deletion has begun and cannot be canceled any more',
  410
)
export const ErasureNotFound = createError('NOT_FOUND', 'There is no such deletion in this state', 404)
export const ExportRunning = createError('EXPORT_RUNNING', 'The copy of your data is already being made', 409)
export const ExportLimitExceeded = createError(
  'LIMIT_EXCEEDED',
  'You can ask for a copy of your data once a day. Please try again tomorrow.',
  429
)
export const ExportNotFound = createError('NOT_FOUND', 'There is no copy of your data', 404)
export const ExportExpired = createError('EXPIRED', 'This link has expired. Please ask for a new copy in the app.', 410)
export const RangeNotSatisfiable = createError('RANGE_NOT_SATISFIABLE', 'The file is not that long', 416)
export const InvalidPurchase = createError(
  'INVALID_PURCHASE',
  'The store does not confirm this purchase. Restore it in the app, or ask the store.',
  400
)
export const PurchaseInUse = createError(
  'PURCHASE_IN_USE',
  'Another account uses this purchase. Restore it in the app to move it here.',
  409
)
export const PurchaseLimitExceeded = createError(
  'LIMIT_EXCEEDED',
  'This is not possible that often. Please try again later.',
  429
)
export const TooBusy = createError('SERVICE_UNAVAILABLE', 'Too many sign-ins at the moment. Please try again.', 503)
