import type { ContentReport, Report, Verification } from '@tandem/sdk'

export const rejections: Record<NonNullable<Verification['reasonCode']>, string> = {
  FACE_NOT_VISIBLE: 'Your face was not visible. Take the selfie in bright light, without sunglasses.',
  DIFFERENT_PERSON: 'The selfie did not look like your main photo. Choose one that shows you as you look now.',
  PHOTO_OF_A_PHOTO: 'It was a photo of a photo. Take a new selfie.',
  SEVERAL_PEOPLE: 'It showed several people. Take a selfie of you alone.',
  MAIN_PHOTO_CHANGED: 'Your main photo changed. Verify the new one.',
  OTHER: 'It could not be accepted.'
}

export const statuses: Record<Verification['status'], string> = {
  NONE: 'A selfie shows others that your photos are of you. Only our team sees it.',
  PENDING: 'We compare your selfie with your photos. You get a notification.',
  APPROVED: 'Your photos are verified.',
  REJECTED: 'Your selfie was not accepted.'
}

/** Why somebody reports a person of FitMatch. */
export const personReasons: Record<Report['reason'], string> = {
  FAKE_PROFILE: 'Not a real person',
  HARASSMENT: 'Insults or harassment',
  INAPPROPRIATE_CONTENT: 'Inappropriate photos or texts',
  SPAM: 'Advertising',
  UNDERAGE: 'Younger than 18',
  OFFLINE_BEHAVIOR: 'Something at a meeting',
  OTHER: 'Something else'
}

/** Why somebody reports a post or a story. */
export const contentReasons: Record<ContentReport['reason'], string> = {
  SPAM: 'Advertising',
  HARASSMENT: 'Insults or harassment',
  HATE: 'Hate',
  SEXUAL: 'Sexual content',
  VIOLENCE: 'Violence',
  SELF_HARM: 'Self-harm',
  CHILD_SAFETY: 'Danger to a child',
  IMPERSONATION: 'Pretends to be somebody else',
  ILLEGAL: 'Something illegal',
  OTHER: 'Something else'
}

export const reportStates: Record<Report['state'], string> = {
  OPEN: 'We are looking at it',
  ACTION_TAKEN: 'We have acted on it',
  NO_VIOLATION: 'No rule was broken'
}
