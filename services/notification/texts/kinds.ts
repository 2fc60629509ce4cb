import { isFeatureOn, type Feature } from '@tandem/brand-kit'
import type { NotificationType } from './types.ts'

interface Facts {
  /** Its category. */
  type: NotificationType
  /** Nobody is notified of it while this feature is off. */
  feature?: Feature
  /** A FitMatch profile acts: it shows the profile's display name, and never the account's name or picture. */
  usesDisplayName?: true
  /** It is about the account itself, as all of ACCOUNT: also a person who is hidden gets it. */
  isAboutAccount?: true
  /** The person asked for it: muting its category does not mute it. */
  isAlwaysPushed?: true
  /** The company writes its texts: they can have links. */
  isWrittenByCompany?: true
}

/** Every kind of notification. Its texts are `pushes.<kind>.title` and `.body`. */
export const kinds = {
  postMentioned: { type: 'SOCIAL_FEED' },
  commentMentioned: { type: 'SOCIAL_FEED' },
  postLiked: { type: 'SOCIAL_FEED' },
  postCommented: { type: 'SOCIAL_FEED' },
  commentReplied: { type: 'SOCIAL_FEED' },
  followed: { type: 'SOCIAL_FEED' },
  storyReacted: { type: 'STORY_REACTION', feature: 'stories' },
  messageReceived: { type: 'CHAT', feature: 'fitmatch', usesDisplayName: true },
  likeReceived: { type: 'FITMATCH', feature: 'fitmatch', usesDisplayName: true },
  matchMade: { type: 'FITMATCH', feature: 'fitmatch', usesDisplayName: true },
  verificationDecided: { type: 'FITMATCH', feature: 'fitmatch' },
  reportResolved: { type: 'FITMATCH' },
  decisionMade: { type: 'ACCOUNT' },
  subscriptionNoticed: { type: 'ACCOUNT' },
  badgeEarned: { type: 'GAMIFICATION', feature: 'fitmatch' },
  levelReached: { type: 'GAMIFICATION' },
  recordSet: { type: 'GAMIFICATION' },
  referralCounted: { type: 'GAMIFICATION' },
  referralRewarded: { type: 'GAMIFICATION' },
  achievementEarned: { type: 'GAMIFICATION' },
  buddyRequested: { type: 'SPORT_BUDDY', feature: 'fitmatch' },
  buddyAccepted: { type: 'SPORT_BUDDY', feature: 'fitmatch' },
  activityInvited: { type: 'SPORT_BUDDY', feature: 'activities', usesDisplayName: true },
  activityAsked: { type: 'SPORT_BUDDY', feature: 'activities', usesDisplayName: true },
  activityPlaceFree: { type: 'SPORT_BUDDY', feature: 'activities' },
  activityConfirmed: { type: 'BOOKING', feature: 'activities', usesDisplayName: true },
  activityChanged: { type: 'BOOKING', feature: 'activities', usesDisplayName: true },
  activityMoved: { type: 'BOOKING', feature: 'activities' },
  activityCanceled: { type: 'BOOKING', feature: 'activities' },
  activityReminded: { type: 'BOOKING', feature: 'activities' },
  reservationConfirmed: { type: 'BOOKING', isAboutAccount: true },
  reservationReminded: { type: 'BOOKING', isAboutAccount: true },
  fastingFinished: { type: 'FASTING', feature: 'fasting' },
  fastGoalReached: { type: 'FASTING', feature: 'fasting' },
  broadcast: { type: 'ADMIN', isWrittenByCompany: true },
  bookingTold: { type: 'BOOKING', isAboutAccount: true, isWrittenByCompany: true },
  announcement: { type: 'ADMIN', isWrittenByCompany: true },
  suspended: { type: 'ACCOUNT' },
  restored: { type: 'ACCOUNT' },
  passwordChanged: { type: 'ACCOUNT' },
  providerLinked: { type: 'ACCOUNT' },
  newSignIn: { type: 'ACCOUNT' },
  trustedContactChanged: { type: 'ACCOUNT' },
  meetingAsked: { type: 'ACCOUNT', feature: 'activities', isAlwaysPushed: true },
  meetingOverdue: { type: 'ACCOUNT', feature: 'activities', isAlwaysPushed: true },
  meetingAlarmFailed: { type: 'ACCOUNT', feature: 'activities', isAlwaysPushed: true },
  meetingNotShared: { type: 'ACCOUNT', feature: 'activities', isAlwaysPushed: true },
  meetingDisarmed: { type: 'ACCOUNT', feature: 'activities', isAlwaysPushed: true },
  inboxChanged: { type: 'ACCOUNT' },
  pushTest: { type: 'ACCOUNT', isAlwaysPushed: true }
} as const satisfies Record<string, Facts>
export type Kind = keyof typeof kinds

const factsOf = (kind: Kind): Facts => kinds[kind]

export const typeOf = (kind: Kind) => factsOf(kind).type
export const usesDisplayName = (kind: Kind) => factsOf(kind).usesDisplayName === true
export const isAboutAccount = (kind: Kind) => typeOf(kind) === 'ACCOUNT' || factsOf(kind).isAboutAccount === true
export const isAlwaysPushed = (kind: Kind) => factsOf(kind).isAlwaysPushed === true
export const isWrittenByCompany = (kind: Kind) => factsOf(kind).isWrittenByCompany === true
export const isOffered = (kind: Kind) => isFeatureOn(factsOf(kind).feature)
