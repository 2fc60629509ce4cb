import { count } from './count.ts'

/** Cases, decisions, verifications and appeals. Keys in capitals and of statuses are codes of the services. */
export const moderation = {
  targets: {
    POST: 'Post',
    COMMENT: 'Comment',
    STORY: 'Story',
    USER: 'Person',
    PROFILE: 'FitMatch profile'
  } as Record<string, string>,
  reasons: {
    SPAM: 'Spam',
    HARASSMENT: 'Harassment',
    HATE: 'Hate',
    SEXUAL: 'Sexual content',
    VIOLENCE: 'Violence',
    SELF_HARM: 'Self-harm',
    CHILD_SAFETY: 'Safety of children',
    IMPERSONATION: 'Impersonation',
    ILLEGAL: 'Illegal',
    UNDERAGE: 'Too young',
    REPORTS: 'Many reports',
    FAKE_PROFILE: 'Fake profile',
    INAPPROPRIATE_CONTENT: 'Inappropriate content',
    OFFLINE_BEHAVIOR: 'Behavior at a meeting',
    OTHER: 'Something else'
  } as Record<string, string>,
  visibilities: { PUBLIC: 'Everybody', FOLLOWERS: 'Followers', PRIVATE: 'The author' } as Record<string, string>,
  priorities: { 3: 'Safety', 2: 'Harm', 1: 'Other' } as Record<string, string>,
  outcomes: { ACTION_TAKEN: 'Action taken', NO_VIOLATION: 'No violation' } as Record<string, string>,
  accountStatuses: { GOOD: 'No restrictions', WARNED: 'Warned', RESTRICTED: 'Restricted', BANNED: 'Banned' } as Record<
    string,
    string
  >,
  actions: {
    DISMISS: 'No violation',
    HIDE_CONTENT: 'Hide what was reported',
    RESTORE_CONTENT: 'Show it again',
    REMOVE_PHOTO: 'Remove a photo',
    WARN: 'Warn',
    RESTRICT: 'Restrict',
    BAN: 'Ban the account',
    LIFT: 'Lift a restriction'
  } as Record<string, string>,
  scopes: { POSTING: 'Posting', FITMATCH: 'FitMatch', ALL: 'Everything' } as Record<string, string>,
  statuses: {
    pending: 'Waiting',
    sending: 'Being sent',
    sent: 'Sent',
    muted: 'Muted',
    held: 'Held',
    pruned: 'Device gone',
    failed: 'Failed',
    running: 'Being made',
    ready: 'Ready',
    expired: 'Expired'
  } as Record<string, string>,
  queue: {
    next: 'Take the next case',
    empty: 'Nothing is waiting. Well done.',
    unknown: 'Not available at the moment.',
    overdue: 'Overdue since',
    due: 'Due',
    reports: (number: number) => count(number, 'report', 'reports'),
    held: 'Held',
    claimedByYou: 'Yours',
    claimedByOther: 'Somebody works on it',
    mark: 'Mark',
    dismissMarked: 'Dismiss the marked',
    dismissConfirm: 'Dismiss these cases as no violation?',
    dismissed: (number: string, changed: string) =>
      `${count(number, 'case', 'cases')} dismissed.${changed === '0' ? '' : ` ${changed} had changed and stay open.`}`,
    hint: 'j and k move, x marks, Enter opens, ? shows all keys'
  },
  picture: { name: (number: number) => `Picture ${number}`, clear: 'Show clearly' },
  evidence: {
    title: 'What was reported',
    name: 'Name',
    username: 'Username',
    visibility: 'Visible to',
    written: 'Written',
    before: 'The comments before it',
    below: 'Below this post',
    elsewhere: 'Pictures on other servers, which are never loaded here:',
    chat: (messages: number) => `The last ${count(messages, 'message', 'messages')} between the two`,
    reportedPerson: 'Reported person',
    reporter: 'Reporter',
    picture: '(a picture)',
    frozen: 'Kept as it was reported',
    earlier: 'As it was reported',
    activity: 'It happened at this activity',
    time: 'Time',
    place: 'Place',
    activityNote: 'Note',
    host: 'Host',
    atActivity: (state: string, checkedIn: boolean) => `${state}${checkedIn ? ', checked in' : ''}`,
    pictures: 'Pictures',
    notCopied: 'Being copied to private storage',
    restricted: 'Only administrators can open these pictures. Do not copy, send or delete anything.'
  },
  decision: {
    title: 'Decision',
    verdict: 'Does this break the rules?',
    dismiss: 'No violation',
    act: 'Violation',
    measures: 'What happens',
    scope: 'Of what',
    days: 'For how long',
    dayCount: (days: number) => count(days, 'day', 'days'),
    reason: 'Rule',
    statement: 'Statement to the person',
    statementHint:
      'What happened, and which rule it breaks. They read your words in the app and in a mail, with how to appeal.',
    note: 'Note for operators',
    noteHint: 'Only operators see it',
    whichPhoto: 'Which photo',
    decide: 'Decide',
    decideNext: 'Decide and take the next',
    withoutCase: 'Decide without a case',
    claim: 'Claim this case',
    takeOver: 'Take it over',
    claimedByOther: 'Another operator works on this case.',
    until: 'ends',
    decided: 'Decided',
    openCase: 'The case',
    automated: 'Decided by a rule, not by a person',
    byYou: 'Decided by you',
    byOther: 'Decided by another operator',
    awaits: (services: string) => `Being carried out: ${services}`
  },
  hold: {
    hold: 'Hold this case',
    release: 'End the hold',
    text: 'A held case and its pictures are never deleted, for example while the police asks for them.'
  },
  proposals: {
    text: 'What takes two operators. Somebody else than the one who proposed it confirms it, within 72 hours.',
    none: 'Nothing waits for a confirmation.',
    kinds: {
      BAN: 'Ban',
      ERASE: 'Deletion of an account',
      HOLD: 'Hold',
      BROADCAST: 'Broadcast',
      STAFF: 'Operators'
    } as Record<string, string>,
    staff: {
      INVITE: 'Invite',
      INVITE_AGAIN: 'Replace the lost passkey of',
      SET_ROLE: 'Change the role of',
      REMOVE: 'Remove'
    } as Record<string, string>,
    yours: 'Proposed by you',
    expires: 'expires',
    reason: 'Proposal',
    confirm: 'Confirm',
    confirmQuestion: 'Carry this out now?',
    withdraw: 'Withdraw'
  },
  verifications: {
    none: 'No verification is waiting.',
    skip: 'Skip this one',
    noProfile: 'The profile was deleted',
    selfie: 'Selfie',
    noSelfie: 'The selfie was deleted.',
    photos: 'Photos of the profile',
    main: 'Main photo',
    approve: 'Approve',
    reject: 'Reject',
    reason: 'Why it is rejected, for the person',
    reasons: [
      'The face cannot be seen well.',
      'The person on the photos is somebody else.',
      'The selfie is a photo of a photo.',
      'Several people are on the main photo.'
    ]
  },
  appeals: {
    none: 'No appeal is waiting.',
    decision: 'The decision',
    appeal: 'The appeal',
    byYou: 'You decided this: somebody else answers, if there is anybody',
    answer: 'Answer',
    answerHint: 'The person reads it.',
    uphold: 'The decision stands',
    reverse: 'Reverse the decision',
    reverseConfirm: 'Undo everything that this decision did?',
    byReporter: 'From somebody who reported it',
    instead: 'If they are right',
    grant: 'Decide this after all',
    grantConfirm: 'Decide this, and tell everybody who reported it?'
  }
}
