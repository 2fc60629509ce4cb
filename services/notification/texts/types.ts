/** The documented categories of notifications, which preferences can mute. */
export const notificationTypes = [
  'SOCIAL_FEED',
  'STORY_REACTION',
  'CHAT',
  'FITMATCH',
  'SPORT_BUDDY',
  'BOOKING',
  'GAMIFICATION',
  'FASTING',
  'ADMIN',
  'ACCOUNT'
] as const
export type NotificationType = typeof notificationTypes[number]
