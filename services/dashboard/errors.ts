import createError from '@fastify/error'

export const LogNotFound = createError('NOT_FOUND', 'Log not found', 404)
export const ProgramNotFound = createError('NOT_FOUND', 'Program not found', 404)
export const TooManyPrograms = createError(
  'LIMIT_EXCEEDED',
  'You have reached the maximum number of programs. Delete one first.',
  400
)
export const ExerciseNotFound = createError('NOT_FOUND', 'Exercise not found', 404)
export const TooManyExercises = createError(
  'LIMIT_EXCEEDED',
  'You have reached the maximum number of exercises of your own. Delete one first.',
  400
)
export const TemplateNotFound = createError('NOT_FOUND', 'Program template not found', 404)
export const ProgramDayNotFound = createError('NOT_FOUND', 'Program day not found', 404)
export const FastNotFound = createError('NOT_FOUND', 'Fast not found', 404)
export const FastRunning = createError('FAST_RUNNING', 'A fast is already running. End it first.', 409)
export const FastOverlaps = createError('FAST_OVERLAPS', 'You have another fast in this time', 409)
export const FastEnded = createError('FAST_ENDED', 'This fast has already ended', 409)
export const AgeRestricted = createError<'AGE_RESTRICTED', 403, [number]>(
  'AGE_RESTRICTED',
  'You must be at least %d years old to track fasts',
  403
)
export const SuggestionForAdults = createError(
  'AGE_RESTRICTED',
  'Suggestions are for adults: the formula does not hold for younger people',
  403
)
export const AgeUnknown = createError('AGE_RESTRICTED', 'Add your birth date to your profile first', 403)
export const ImportNotFound = createError('NOT_FOUND', 'Import not found', 404)
export const ImportRunning = createError(
  'IMPORT_RUNNING',
  'Another import is not finished yet. Wait until it is.',
  409
)
export const UndoExpired = createError('UNDO_EXPIRED', 'An import can be undone for seven days', 410)
export const NotMultipart = createError('UNSUPPORTED_MEDIA_TYPE', 'Send the file as multipart/form-data', 415)
export const ImportFileMissing = createError(
  'VALIDATION_ERROR',
  'file is required: send a file in this form field',
  400
)
export const ImportFileTooLarge = createError('PAYLOAD_TOO_LARGE', 'The file must not be larger than 25 MB', 413)
export const ImportFormMalformed = createError(
  'VALIDATION_ERROR',
  'The form is malformed or incomplete; send it again',
  400
)
