import { isFeatureOn, type Feature } from '@tandem/brand-kit'
import type { NotificationType } from './types.ts'

/** Every kind of notification, with its category. Its texts are `pushes.<kind>.title` and `.body`. */
export const kinds = {
  postMentioned: 'SOCIAL_FEED',
  commentMentioned: 'SOCIAL_FEED',
  postLiked: 'SOCIAL_FEED',
  postCommented: 'SOCIAL_FEED',
  commentReplied: 'SOCIAL_FEED',
  followed: 'SOCIAL_FEED',
  storyReacted: 'STORY_REACTION',
  messageReceived: 'CHAT',
  likeReceived: 'FITMATCH',
  matchMade: 'FITMATCH',
  verificationDecided: 'FITMATCH',
  reportResolved: 'FITMATCH',
  decisionMade: 'ACCOUNT',
  subscriptionNoticed: 'ACCOUNT',
  badgeEarned: 'GAMIFICATION',
  levelReached: 'GAMIFICATION',
  recordSet: 'GAMIFICATION',
  referralCounted: 'GAMIFICATION',
  referralRewarded: 'GAMIFICATION',
  achievementEarned: 'GAMIFICATION',
  buddyRequested: 'SPORT_BUDDY',
  buddyAccepted: 'SPORT_BUDDY',
  activityInvited: 'SPORT_BUDDY',
  activityAsked: 'SPORT_BUDDY',
  activityPlaceFree: 'SPORT_BUDDY',
  activityConfirmed: 'BOOKING',
  activityChanged: 'BOOKING',
  activityMoved: 'BOOKING',
  activityCanceled: 'BOOKING',
  activityReminded: 'BOOKING',
  reservationConfirmed: 'BOOKING',
  reservationReminded: 'BOOKING',
  fastingFinished: 'FASTING',
  fastGoalReached: 'FASTING',
  broadcast: 'ADMIN',
  bookingTold: 'BOOKING',
  announcement: 'ADMIN',
  suspended: 'ACCOUNT',
  restored: 'ACCOUNT',
  passwordChanged: 'ACCOUNT',
  providerLinked: 'ACCOUNT',
  newSignIn: 'ACCOUNT',
  trustedContactChanged: 'ACCOUNT',
  meetingAsked: 'ACCOUNT',
  meetingOverdue: 'ACCOUNT',
  meetingAlarmFailed: 'ACCOUNT',
  meetingNotShared: 'ACCOUNT',
  meetingDisarmed: 'ACCOUNT',
  inboxChanged: 'ACCOUNT',
  pushTest: 'ACCOUNT'
} as const satisfies Record<string, NotificationType>
export type Kind = keyof typeof kinds

/** The category of a kind. */
export const typeOf = (kind: Kind) => kinds[kind]

/**
 * Actions of FitMatch profiles: their notifications show the profile's display name and never the account's name or
 * picture.
 */
const DISPLAY_NAME_KINDS: Kind[] = [
  'messageReceived',
  'likeReceived',
  'matchMade',
  'activityInvited',
  'activityAsked',
  'activityConfirmed',
  'activityChanged'
]
export const usesDisplayName = (kind: Kind) => DISPLAY_NAME_KINDS.includes(kind)

/** Kinds that a person asked for themselves: muting their category does not mute them. */
const ALWAYS_PUSHED_KINDS: Kind[] = [
  'pushTest',
  'meetingAsked',
  'meetingOverdue',
  'meetingAlarmFailed',
  'meetingNotShared',
  'meetingDisarmed'
]
export const isAlwaysPushed = (kind: Kind) => ALWAYS_PUSHED_KINDS.includes(kind)

/** Kinds whose texts the company writes: they can have links. */
const COMPANY_KINDS: Kind[] = ['broadcast', 'bookingTold', 'announcement']
export const isWrittenByCompany = (kind: Kind) => COMPANY_KINDS.includes(kind)

const featureOf: Partial<Record<Kind, Feature>> = {
  storyReacted: 'stories',
  messageReceived: 'fitmatch',
  likeReceived: 'fitmatch',
  matchMade: 'fitmatch',
  verificationDecided: 'fitmatch',
  badgeEarned: 'fitmatch',
  buddyRequested: 'fitmatch',
  buddyAccepted: 'fitmatch',
  activityInvited: 'activities',
  activityAsked: 'activities',
  activityPlaceFree: 'activities',
  activityConfirmed: 'activities',
  activityChanged: 'activities',
  activityMoved: 'activities',
  activityCanceled: 'activities',
  activityReminded: 'activities',
  meetingAsked: 'activities',
  meetingOverdue: 'activities',
  meetingAlarmFailed: 'activities',
  meetingNotShared: 'activities',
  meetingDisarmed: 'activities',
  fastingFinished: 'fasting',
  fastGoalReached: 'fasting'
}

/** Whether people are notified of a kind: not of a feature that is off. */
export const isOffered = (kind: Kind) => isFeatureOn(featureOf[kind])
