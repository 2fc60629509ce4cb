/**
 * What notifications are about. A notification names all of its subjects when it is created, and is withdrawn or
 * rewritten by any of them.
 */
export const about = {
  post: (postId: string) => `post:${postId}`,
  /** Of notifications that quote the post itself, not a comment. */
  textOf: (postId: string) => `text:${postId}`,
  /** The mentions of people in the text of a post. */
  mentionsIn: (postId: string) => `mentions:${postId}`,
  comment: (commentId: string) => `comment:${commentId}`,
  story: (storyId: string) => `story:${storyId}`,
  follow: (followerId: string) => `follow:${followerId}`,
  match: (matchId: string) => `match:${matchId}`,
  /** The likes that a person gives in FitMatch, and those that they get. */
  likesOf: (likerId: string) => `likes-of:${likerId}`,
  likesFor: (accountId: string) => `likes-for:${accountId}`,
  /** Everything that a person does in FitMatch. */
  profileOf: (accountId: string) => `profile:${accountId}`,
  verificationOf: (accountId: string) => `verification:${accountId}`,
  suspensionOf: (accountId: string) => `suspension:${accountId}`,
  report: (reportId: string) => `report:${reportId}`,
  badge: (badge: string, accountId: string) => `badge:${badge}:${accountId}`,
  activity: (activityId: string) => `activity:${activityId}`,
  lostPlaceIn: (activityId: string) => `lost-place:${activityId}`,
  freePlaceIn: (activityId: string) => `free-place:${activityId}`,
  meeting: (meetingId: string) => `meeting:${meetingId}`,
  buddyRequest: (requestId: string) => `buddy-request:${requestId}`,
  buddies: (one: string, other: string) => `buddies:${[one, other].sort().join(':')}`,
  level: (level: number, accountId: string) => `level:${level}:${accountId}`,
  achievement: (achievementId: string) => `achievement:${achievementId}`,
  record: ({ logId, exerciseKey }: { logId: string, exerciseKey: string }) => `record:${logId}:${exerciseKey}`,
  /** A booking has the name that its producer gave it. */
  booking: (producerId: string, bookingId: string) => `booking:${producerId}:${bookingId}`,
  remindersOf: (producerId: string, bookingId: string) => `booking-reminders:${producerId}:${bookingId}`,
  fast: (fastId: string) => `fast:${fastId}`,
  /** Everything that a person did or has. No notification names it: a block locks both people. */
  person: (accountId: string) => `person:${accountId}`
}
