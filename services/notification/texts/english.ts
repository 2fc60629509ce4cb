import type { Kind } from '../inbox/kinds.ts'

/** Every notice in one language, as ICU messages; `someone` stands for whoever has no name. */
export type Texts = Record<Kind, { title: string, body: string }> & { someone: string }

// {name}: who did it. {quoted}: whether {excerpt} is there, which is so only for what everybody may read.
const quote = '{quoted, select, yes {: “{excerpt}”} other {}}'

export const english: Texts = {
  someone: 'Someone',
  postMentioned: { title: 'New mention', body: `{name} mentioned you in a post${quote}` },
  commentMentioned: { title: 'New mention', body: `{name} mentioned you in a comment${quote}` },
  postLiked: {
    title: '{others, plural, =0 {New like} other {New likes}}',
    body: `{others, plural, =0 {{name} likes} one {{name} and # other like} other {{name} and # others like}} your post${quote}`
  },
  postCommented: { title: 'New comment', body: `{name} commented on your post${quote}` },
  commentReplied: { title: 'New reply', body: `{name} replied to your comment${quote}` },
  followed: { title: 'New follower', body: '{name} follows you now' },
  storyReacted: { title: 'Reaction to your story', body: '{name} reacted to your story: {emoji}' },
  messageReceived: { title: '{name}', body: '{hasImage, select, true {{name} sent you a photo} other {{name} sent you a message}}' },
  likeReceived: {
    title: 'Somebody is interested in you',
    body: '{swipeType, select, WORKOUT_BUDDY {{name} would like to work out with you} other {{name} likes you}}'
  },
  matchMade: {
    title: 'It’s a match!',
    body: '{matchType, select, WORKOUT_BUDDY {You and {name} can work out together. Say hello!} other {You and {name} like each other. Say hello!}}'
  },
  verificationDecided: {
    title: '{approved, select, true {Your photos are verified} other {Your photos were not verified}}',
    body: '{approved, select, true {Your FitMatch profile shows it from now on.} other {{reason, select, none {Please try again with another selfie.} other {{reason}}}}}'
  },
  reportResolved: {
    title: 'Your report was reviewed',
    body: '{action, select, SUSPEND {Thank you. The profile you reported was taken out of FitMatch.} DISMISS {Thank you. We found nothing against our rules this time.} other {Thank you. The case is closed.}}'
  },
  badgeEarned: {
    title: 'New badge',
    body: 'You earned {badge, select, PHOTO_VERIFIED {the badge for verified photos} CONSISTENT {the badge for steady training} PR_ACHIEVER {the badge for personal records} VETERAN {the badge for a year of membership} EARLY_ADOPTER {the badge of the first members} other {a new badge}}.'
  },
  levelReached: { title: 'Level {level, number}!', body: 'You reached level {level, number}. Keep going!' },
  recordSet: { title: 'New personal record', body: '{exercise}: {weightKg, number} kg, {reps, plural, one {# rep} other {# reps}}' },
  achievementEarned: {
    title: 'Achievement unlocked',
    body: `{achievement, select,
      FIRST_WORKOUT {Your first workout is done. Well begun!}
      TEN_WORKOUTS {Ten workouts are done. You mean it!}
      HUNDRED_WORKOUTS {A hundred workouts are done. Remarkable!}
      STREAK_7 {You logged something on 7 days in a row.}
      STREAK_30 {You logged something on 30 days in a row.}
      STREAK_100 {You logged something on 100 days in a row. Remarkable!}
      WEEK_STREAK_4 {You worked out in 4 weeks in a row.}
      FIRST_PR {You set your first personal record.}
      TEN_PRS {You set ten personal records.}
      LEVEL_10 {You reached level 10.}
      other {You unlocked a new achievement.}}`
  },
  buddyRequested: { title: 'New sport buddy request', body: '{name} would like to do a sport with you: {sport}' },
  buddyAccepted: { title: 'You have a sport buddy', body: '{name} accepted your request: {sport}' },
  reservationConfirmed: { title: 'Booking confirmed', body: '{title}, {startsAt}' },
  reservationReminded: { title: 'Do not forget your booking', body: '{title}, {startsAt}' },
  fastingFinished: { title: 'Your fast is over', body: 'You fasted for {hours, plural, one {# hour} other {# hours}}. Well done!' },
  broadcast: { title: '{title_en}', body: '{body_en}' },
  suspended: { title: 'Your FitMatch profile was suspended', body: 'It is not shown to others until our team has reviewed it.' },
  restored: { title: 'Your FitMatch profile is back', body: 'Our team has reviewed it, and others can see it again.' },
  passwordChanged: {
    title: 'Your password was changed',
    body: '{how, select, INITIAL {Your account has a password now.} CLEARED {The password of your account was removed. You can set a new one.} other {If that was not you, choose “Forgot password” at once.}}'
  },
  newSignIn: {
    title: 'New sign-in',
    body: 'Your account was signed in to on {device, select, none {a new device} other {{device}}}. If that was not you, sign it out and change your password.'
  },
  pushTest: { title: 'It works', body: 'Pushes of Tandem reach this device.' }
}
