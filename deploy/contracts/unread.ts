/** Names by the reason why they are listed. */
type Reasons = Record<string, string[]>

/** Fields of request bodies that come back under another name, and that name. */
export const renamedFields: Record<string, string> = {
  'dashboard items': 'dashboard results',
  'fitmatch base64': 'fitmatch imageUrl',
  'fitmatch file': 'fitmatch url',
  'fitmatch mimeType': 'fitmatch imageUrl',
  'fitmatch minutes': 'fitmatch alarmAt',
  'identity familyName': 'identity name',
  'identity fullName': 'identity name',
  'identity givenName': 'identity name',
  'profile completed': 'profile isCompleted',
  'profile file': 'profile url',
  'profile latitude': 'fitmatch latitude',
  'profile longitude': 'fitmatch longitude',
  'profile subStep': 'profile currentSubStep',
  'social file': 'social url',
  'social pollEndsAt': 'social endsAt',
  'social pollOptions': 'social options',
  'social pollQuestion': 'social question',
  'social poster': 'social posterUrl'
}

/** Fields of request bodies that no response has, under whatever name. */
export const unansweredFields: Reasons = {
  'It proves who is asking, and is never shown.': [
    'identity authorizationCode',
    'identity confirmPassword',
    'identity currentPassword',
    'identity exceptCurrentRefreshToken',
    'identity idToken',
    'identity identityToken',
    'identity password',
    'identity restoreToken',
    'identity token',
    'notification token'
  ],
  'It says what the request does; there is nothing to read.': [
    'fitmatch accept',
    'fitmatch confirmation',
    'identity action',
    'identity allDevices',
    'identity immediately',
    'identity purpose',
    'identity transfer',
    'notification accept',
    'notification confirm',
    'social alsoBlock'
  ],
  'A store says it, or the app that bought there; what the store answers to it comes back.': [
    'identity aliases',
    'identity event',
    'identity purchaseToken',
    'identity signedPayload',
    'identity signedTransaction',
    'identity transferred_from',
    'identity transferred_to'
  ],
  'Another system says it. People read it in their notifications and on the home screen.': [
    'notification accountToken',
    'notification en',
    'notification endsAt',
    'notification locationName',
    'notification remindAt',
    'notification source',
    'notification specversion',
    'notification startsAt',
    'notification text',
    'notification time'
  ],
  'It is what an import reads; what came of it is in its report, and in the logs.': [
    'dashboard columns',
    'dashboard file'
  ],
  'Operators read it, with commands and in cases, and nobody else.': ['identity description']
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
export const unwrittenColumns: Reasons = {
  'The statement that writes measurements has the names of its columns in a list.': [
    'dashboard daily_measurements.active_energy',
    'dashboard daily_measurements.distance_meters'
  ]
}

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
    'dashboard profile_facts.changed_at',
    'dashboard profile_weights.changed_at'
  ]
}
