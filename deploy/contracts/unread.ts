/** Names by the reason why they are listed. */
type Reasons = Record<string, string[]>

/** Fields of request bodies that no response has. */
export const unansweredFields: Reasons = {
  'It proves who is asking.': [
    'identity authorizationCode',
    'identity confirmPassword',
    'identity currentPassword',
    'identity idToken',
    'identity identityToken',
    'identity password',
    'identity purpose',
    'identity restoreToken',
    'identity token',
    'notification token'
  ],
  'It says what the request does, and which of the things that were listed it is about.': [
    'fitmatch accept',
    'fitmatch blockedProfileId',
    'fitmatch confirmation',
    'fitmatch targetProfileId',
    'identity action',
    'identity allDevices',
    'identity exceptCurrentRefreshToken',
    'identity immediately',
    'identity reportId',
    'identity sessionId',
    'identity transfer',
    'notification accept',
    'notification confirm',
    'notification ids',
    'social alsoBlock'
  ],
  'It comes back under another name: as `currentStep`, `poll`, `workout`, `participants` and the like.': [
    'dashboard items',
    'dashboard programId',
    'fitmatch base64',
    'fitmatch file',
    'fitmatch mainPhotoId',
    'fitmatch mimeType',
    'fitmatch minutes',
    'fitmatch photoIds',
    'fitmatch profileIds',
    'fitmatch userIds',
    'fitmatch venueId',
    'fitmatch venueIds',
    'identity familyName',
    'identity fullName',
    'identity givenName',
    'profile completed',
    'profile file',
    'profile subStep',
    'social achievementId',
    'social activityId',
    'social file',
    'social optionId',
    'social pollEndsAt',
    'social pollOptions',
    'social pollQuestion',
    'social poster',
    'social workoutId'
  ],
  'A store says it, or the app that bought there; what the store answers to it comes back.': [
    'identity aliases',
    'identity app_user_id',
    'identity event',
    'identity messageId',
    'identity purchaseToken',
    'identity signedPayload',
    'identity signedTransaction',
    'identity transferred_from',
    'identity transferred_to'
  ],
  'It recognizes a repeat, or two accounts on one device.': ['fitmatch clientMessageId', 'identity deviceId'],
  'Operators read it, and nobody else.': ['identity description', 'social evidence'],
  'FitMatch finds people nearby by it.': ['profile latitude', 'profile longitude'],
  'It is the language of mails.': ['notification locale']
}

/** Events that the code of no service names where it publishes. */
export const unpublishedEvents: Reasons = {
  'Systems outside of this repository publish it.': [
    'admin.broadcast.sent.v1',
    'booking.reservation.confirmed.v1',
    'booking.reservation.reminded.v1',
    'buddy.request.accepted.v1',
    'buddy.request.created.v1',
    'fasting.timer.finished.v1'
  ]
}

/** Events that no service consumes. */
export const unconsumedEvents: Reasons = {}

/** Columns that the code of their service does not write. */
export const unwrittenColumns: Reasons = {}

/** Columns that the code of their service does not read. */
export const unreadColumns: Reasons = {
  'It says who did something, or when, to those who investigate.': [
    'fitmatch audit_log.operator_id',
    'fitmatch audit_log.subject_id',
    'fitmatch profiles.updated_at',
    'identity decision_applications.applied_at',
    'notification trusted_contact_refusals.refused_at',
    'notification trusted_contacts.decided_at',
    'profile option_changes.admin_id',
    'profile option_changes.changed_at'
  ],
  '`upsertVersioned` compares it by its name.': [
    'dashboard people.changed_at',
    'dashboard profile_facts.changed_at'
  ],
  'A constraint of the table limits it.': ['fitmatch profiles.venue_count']
}
