export const noticeTypes = [
  'SOCIAL_FEED', 'STORY_REACTION', 'CHAT', 'FITMATCH', 'SPORT_BUDDY', 'BOOKING', 'GAMIFICATION', 'FASTING', 'ADMIN', 'ACCOUNT'
] as const
export type NoticeType = typeof noticeTypes[number]

/** Every notice there is, with the category that mutes it. Each has a text in every language. */
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
  badgeEarned: 'GAMIFICATION',
  levelReached: 'GAMIFICATION',
  recordSet: 'GAMIFICATION',
  achievementEarned: 'GAMIFICATION',
  buddyRequested: 'SPORT_BUDDY',
  buddyAccepted: 'SPORT_BUDDY',
  reservationConfirmed: 'BOOKING',
  reservationReminded: 'BOOKING',
  fastingFinished: 'FASTING',
  broadcast: 'ADMIN',
  suspended: 'ACCOUNT',
  restored: 'ACCOUNT',
  passwordChanged: 'ACCOUNT',
  newSignIn: 'ACCOUNT',
  pushTest: 'ACCOUNT'
} as const satisfies Record<string, NoticeType>
export type Kind = keyof typeof kinds

/** What people do under the name of their FitMatch profile. The account's name and picture are for those they show it to. */
const underDisplayName: Kind[] = ['messageReceived', 'likeReceived', 'matchMade']
export const isUnderDisplayName = (kind: Kind) => underDisplayName.includes(kind)
