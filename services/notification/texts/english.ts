import type { NotificationType } from './types.ts'

// {name}: the actor. {quoted}: whether there is an {excerpt}; only public posts have one.
const quote = '{quoted, select, yes {: “{excerpt}”} other {}}'

/** Every kind of notification: the category that preferences can mute, and the English text as ICU messages. */
export const english = {
  postMentioned: { type: 'SOCIAL_FEED', title: 'New mention', body: `{name} mentioned you in a post${quote}` },
  commentMentioned: { type: 'SOCIAL_FEED', title: 'New mention', body: `{name} mentioned you in a comment${quote}` },
  postLiked: {
    type: 'SOCIAL_FEED',
    title: '{others, plural, =0 {New like} other {New likes}}',
    body: `{others, plural,
      =0 {{name} likes}
      one {{name} and # other like}
      other {{name} and # others like}} your post${quote}`
  },
  postCommented: { type: 'SOCIAL_FEED', title: 'New comment', body: `{name} commented on your post${quote}` },
  commentReplied: { type: 'SOCIAL_FEED', title: 'New reply', body: `{name} replied to your comment${quote}` },
  followed: { type: 'SOCIAL_FEED', title: 'New follower', body: '{name} started following you' },
  storyReacted: {
    type: 'STORY_REACTION',
    title: 'Reaction to your story',
    body: '{name} reacted to your story: {emoji}'
  },
  messageReceived: {
    type: 'CHAT',
    title: '{name}',
    body: '{hasImage, select, true {{name} sent you a photo} other {{name} sent you a message}}'
  },
  likeReceived: {
    type: 'FITMATCH',
    title: 'Someone is interested in you',
    body: '{swipeType, select, WORKOUT_BUDDY {{name} would like to work out with you} other {{name} likes you}}'
  },
  matchMade: {
    type: 'FITMATCH',
    title: 'It’s a match!',
    body: `{matchType, select,
      WORKOUT_BUDDY {You and {name} can work out together. Say hello!}
      other {You and {name} like each other. Say hello!}}`
  },
  verificationDecided: {
    type: 'FITMATCH',
    title: '{approved, select, true {Your photos are verified} other {Your photos were not verified}}',
    body: `{approved, select,
      true {Your FitMatch profile now shows it.}
      other {{reason, select, none {Please try again with another selfie.} other {{reason}}}}}`
  },
  reportResolved: {
    type: 'FITMATCH',
    title: 'Your report was reviewed',
    body: `{action, select,
      SUSPEND {Thank you. The profile you reported was removed from FitMatch.}
      DISMISS {Thank you. We found no violation of our rules.}
      NO_VIOLATION {Thank you. We found no violation of our rules.}
      ACTION_TAKEN {Thank you. We found a violation of our rules and acted on it.}
      other {Thank you. The case is closed.}}`
  },
  decisionMade: {
    type: 'ACCOUNT',
    title: 'A decision about your account',
    body: `{action, select,
      HIDE_CONTENT {Something you posted was hidden.}
      RESTORE_CONTENT {Something you posted is visible again.}
      REMOVE_PHOTO {A photo was removed from your FitMatch profile.}
      WARN {You received a warning.}
      RESTRICT {{scope, select,
        POSTING {You cannot post for a while.}
        FITMATCH {Your FitMatch profile is hidden.}
        other {Your account is restricted.}}}
      BAN {Your account is banned.}
      LIFT {A restriction of your account has ended.}
      other {We made a decision about your account.}} Open the standing of your account to read why, and to appeal.`
  },
  subscriptionNoticed: {
    type: 'ACCOUNT',
    title: 'Your subscription',
    body: `{kind, select,
      BEGUN {Your subscription has begun. Enjoy everything that it unlocks!}
      PAYMENT_FAILED {The store could not bill your subscription. Check there how you pay.}
      ENDED {Your subscription has ended. You can subscribe again at any time.}
      REFUNDED {Your subscription was refunded and has ended.}
      MOVED {Your subscription was moved to another account. Restore it if it was not you.}
      RECEIVED {A subscription was moved to your account.}
      BILLED_TWICE {Two subscriptions are billed for your account. Cancel one of them in its store.}
      other {Something has changed about your subscription.}}`
  },
  badgeEarned: {
    type: 'GAMIFICATION',
    title: 'New badge',
    body: `You earned {badge, select,
      PHOTO_VERIFIED {the badge for verified photos}
      CONSISTENT {the badge for steady training}
      PR_ACHIEVER {the badge for personal records}
      VETERAN {the badge for one year of membership}
      EARLY_ADOPTER {the early adopter badge}
      other {a new badge}}.`
  },
  levelReached: {
    type: 'GAMIFICATION',
    title: 'Level {level, number}!',
    body: 'You reached level {level, number}. Keep going!'
  },
  recordSet: {
    type: 'GAMIFICATION',
    title: 'New personal record',
    body: '{exercise}: {weightKg, plural, =0 {} other {# kg, }}{reps, plural, one {# rep} other {# reps}}'
  },
  referralCounted: {
    type: 'GAMIFICATION',
    title: '{name} has joined',
    body: `{days, plural,
      =0 {{name} registered with your code.}
      one {{name} registered with your code. You have one more day of premium.}
      other {{name} registered with your code. You have # more days of premium.}}`
  },
  referralRewarded: {
    type: 'GAMIFICATION',
    title: 'Welcome',
    body: `{days, plural,
      one {You have one day of premium, because {name} invited you.}
      other {You have # days of premium, because {name} invited you.}}`
  },
  achievementEarned: {
    type: 'GAMIFICATION',
    title: 'Achievement unlocked',
    body: `{achievement, select,
      FIRST_WORKOUT {You completed your first workout. Great start!}
      TEN_WORKOUTS {You completed ten workouts. Keep it up!}
      FIFTY_WORKOUTS {You completed fifty workouts. Keep it up!}
      HUNDRED_WORKOUTS {You completed a hundred workouts. Impressive!}
      FIVE_HUNDRED_WORKOUTS {You completed five hundred workouts. Impressive!}
      STREAK_7 {You logged activity 7 days in a row.}
      STREAK_30 {You logged activity 30 days in a row.}
      STREAK_100 {You logged activity 100 days in a row. Impressive!}
      STREAK_365 {You logged activity every day for a year. Impressive!}
      WEEK_STREAK_4 {You worked out 4 weeks in a row.}
      FIRST_PR {You set your first personal record.}
      TEN_PRS {You set ten personal records.}
      LEVEL_5 {You reached level 5.}
      LEVEL_10 {You reached level 10.}
      LEVEL_25 {You reached level 25.}
      FIRST_PROGRAM {You completed every day of a program.}
      FIVE_ACTIVITIES {You took part in five activities with others.}
      other {You unlocked a new achievement.}}`
  },
  buddyRequested: {
    type: 'SPORT_BUDDY',
    title: 'New sport buddy request',
    body: '{name} wants to do a sport with you: {sport}'
  },
  buddyAccepted: {
    type: 'SPORT_BUDDY',
    title: 'You have a sport buddy',
    body: '{name} accepted your request: {sport}'
  },
  activityInvited: { type: 'SPORT_BUDDY', title: 'Train together?', body: '{name} invites you: {sport}, {startsAt}' },
  activityAsked: {
    type: 'SPORT_BUDDY',
    title: 'Someone would like to join',
    body: '{name} asks for a place: {sport}, {startsAt}'
  },
  activityPlaceFree: {
    type: 'SPORT_BUDDY',
    title: 'A place is free again',
    body: '{sport}, {startsAt}{waitingCount, plural, =0 {} one {. # person is waiting} other {. # people are waiting}}'
  },
  activityConfirmed: {
    type: 'BOOKING',
    title: 'Plan confirmed',
    body: 'You and {name} train together: {sport}, {startsAt}'
  },
  activityChanged: {
    type: 'BOOKING',
    title: 'Plan changed',
    body: '{name} changed a plan: {sport}, {startsAt}. Please answer again.'
  },
  activityMoved: {
    type: 'BOOKING',
    title: 'Clock change',
    body: 'The rules for the local time changed. Your plan stays at the same time on the clock: {sport}, {startsAt}'
  },
  activityCanceled: {
    type: 'BOOKING',
    title: '{reason, select, CANCELED {Plan canceled} other {You no longer have a place}}',
    body: '{sport}, {startsAt}'
  },
  activityReminded: {
    type: 'BOOKING',
    title: `{left, select,
      HOURS {Starts in {hoursLeft, plural, one {# hour} other {# hours}}}
      MINUTES {Starts in {minutesLeft, plural, one {# minute} other {# minutes}}}
      other {Training reminder}}`,
    body: '{sport}, {startsAt}'
  },
  reservationConfirmed: { type: 'BOOKING', title: 'Booking confirmed', body: '{title}, {startsAt}' },
  reservationReminded: { type: 'BOOKING', title: 'Booking reminder', body: '{title}, {startsAt}' },
  fastingFinished: {
    type: 'FASTING',
    title: 'Your fast is over',
    body: 'You fasted for {hours, plural, one {# hour} other {# hours}}. Well done!'
  },
  fastGoalReached: {
    type: 'FASTING',
    title: 'Fasting goal reached',
    body: 'Your fast has reached {hours, plural, one {# hour} other {# hours}}. It runs until you end it.'
  },
  bookingTold: { type: 'BOOKING', title: '{title_en}', body: '{body_en}' },
  announcement: { type: 'ADMIN', title: '{title_en}', body: '{body_en}' },
  broadcast: { type: 'ADMIN', title: '{title_en}', body: '{body_en}' },
  suspended: {
    type: 'ACCOUNT',
    title: 'Your FitMatch profile was suspended',
    body: 'Other people cannot see it until our team has reviewed it.'
  },
  restored: {
    type: 'ACCOUNT',
    title: 'Your FitMatch profile is back',
    body: 'Our team has reviewed it, and other people can see it again.'
  },
  passwordChanged: {
    type: 'ACCOUNT',
    title: 'Your password was changed',
    body: `{how, select,
      INITIAL {Your account now has a password.}
      CLEARED {The password of your account was removed. You can set a new one.}
      other {If this was not you, choose “Forgot password” immediately.}}`
  },
  providerLinked: {
    type: 'ACCOUNT',
    title: 'A new way to sign in',
    body: 'You can now sign in with {provider, select, PROVIDER_A {provider A} other {provider B}}. ' +
      'If this was not you, remove it and change your password.'
  },
  newSignIn: {
    type: 'ACCOUNT',
    title: 'New sign-in',
    body: 'Your account was used to sign in on {device, select, none {a new device} other {{device}}}. ' +
      'If this was not you, sign out that device and change your password.'
  },
  trustedContactChanged: {
    type: 'ACCOUNT',
    title: `{change, select,
      CONFIRMED {Your trusted contact has agreed}
      DECLINED {Your trusted contact has declined}
      REMOVED {Your trusted contact was removed}
      ENDED {You have no trusted contact any more}
      other {Your trusted contact was changed}}`,
    body: `{change, select,
      CONFIRMED {You can let them know before you meet somebody for the first time.}
      DECLINED {They get no emails about you. You can choose another person.}
      REMOVED {If this was not you, change your password.}
      ENDED {They can no longer be your contact. Choose another person before you meet somebody for the first time.}
      other {They were asked to agree. If this was not you, change your password.}}`
  },
  meetingAsked: {
    type: 'ACCOUNT',
    title: 'Are you safe?',
    body: 'Report back in the app. Otherwise your trusted contact gets an email. Tandem is no emergency service.'
  },
  meetingOverdue: {
    type: 'ACCOUNT',
    title: 'Your trusted contact was notified',
    body: 'You have not reported back after your activity. Once you do, they get the all-clear. ' +
      'Tandem is no emergency service.'
  },
  meetingAlarmFailed: {
    type: 'ACCOUNT',
    title: 'Your trusted contact was not notified',
    body: 'You have not reported back, and we could not email your trusted contact. Nobody has been notified. ' +
      'Tandem is no emergency service.'
  },
  meetingNotShared: {
    type: 'ACCOUNT',
    title: 'Your trusted contact does not know of your activity',
    body: 'Our email to them could not be delivered. Tell somebody yourself, or choose another contact.'
  },
  meetingDisarmed: {
    type: 'ACCOUNT',
    title: 'Your safety check has ended',
    body: `{reason, select,
      ACCOUNT_HIDDEN {Your account was closed or paused meanwhile. We let your trusted contact know that you cannot report back.}
      CONTACT_ENDED {You have no trusted contact who has agreed. Nobody is notified if you do not report back.}
      other {You no longer have a place in the activity. Nobody is notified if you do not report back.}}`
  },
  inboxChanged: {
    type: 'ACCOUNT',
    title: 'Inbox updated',
    body: 'A silent push: notifications were read on another device, or are no longer so.'
  },
  pushTest: { type: 'ACCOUNT', title: 'It works', body: 'Tandem can send notifications to this device.' }
} as const satisfies Record<string, { type: NotificationType, title: string, body: string }>
