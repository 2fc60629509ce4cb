interface Tag {
  name: string
  description: string
  /** The paths of its operations, with everything below them. The longest match decides. */
  paths: string[]
}

/** The sections of the documentation, in its order. */
export const tags: Tag[] = [
  {
    name: 'Sign-in',
    description: 'Register, verify an email address, sign in with a password, a mailed code or a provider.',
    paths: ['/auth']
  },
  {
    name: 'Account',
    description: 'The signed-in account: its user, its password, its tokens and its devices.',
    paths: [
      '/account',
      '/auth/me',
      '/auth/refresh',
      '/auth/logout',
      '/auth/sessions',
      '/auth/set-initial-password',
      '/auth/change-password'
    ]
  },
  {
    name: 'Subscription',
    description: 'What can be bought in the stores, what the account has, and what the stores call.',
    paths: ['/subscription', '/webhooks']
  },
  {
    name: 'Other systems',
    description: 'What systems of the company send, such as a booking system. They have keys in place of accounts.',
    paths: ['/producers']
  },
  {
    name: 'Onboarding',
    description: 'The questions after the first sign-in, their options, and the places to choose from.',
    paths: ['/onboarding', '/locations']
  },
  { name: 'Profile', description: 'What the person shows of themselves, and their settings.', paths: ['/profile'] },
  { name: 'Feed', description: 'Posts with likes, comments, polls and hashtags.', paths: ['/feed', '/hashtags'] },
  { name: 'Stories', description: 'Pictures and clips that expire after 24 hours.', paths: ['/stories'] },
  { name: 'People', description: 'Find other users, see their profiles, and follow them.', paths: ['/users'] },
  { name: 'Media', description: 'Upload the images of posts and stories.', paths: ['/media'] },
  {
    name: 'FitMatch profile',
    description: 'The profile for finding people to train with: photos, venues, settings and badges.',
    paths: ['/fitmatch', '/venues']
  },
  {
    name: 'FitMatch',
    description: 'Discover people, swipe, and see matches.',
    paths: [
      '/fitmatch/discover',
      '/fitmatch/profile/{profileId}',
      '/fitmatch/swipe',
      '/fitmatch/likes',
      '/fitmatch/matches'
    ]
  },
  { name: 'Chat', description: 'Messages between two people who matched.', paths: ['/fitmatch/chat'] },
  { name: 'Sport buddies', description: 'Ask people to be sport buddies, and answer them.', paths: ['/buddies'] },
  {
    name: 'Activities',
    description: 'Plans to train together: invite people, answer, ask for a place, and check in.',
    paths: ['/activities']
  },
  {
    name: 'Safety',
    description: 'Block people, report people and content, and verify photos with a selfie.',
    paths: ['/reports', '/blocks', '/fitmatch/block', '/fitmatch/report', '/fitmatch/verification']
  },
  {
    name: 'Dashboard',
    description: 'The home screen, scores, statistics, personal records and achievements.',
    paths: ['/dashboard', '/records', '/achievements']
  },
  {
    name: 'Training',
    description:
      'Log workouts, meals, water, sleep and weight; track fasts; set goals and training programs; look up exercises.',
    paths: ['/logs', '/fasting', '/goals', '/programs', '/exercises']
  },
  {
    name: 'Notifications',
    description: 'The inbox, push tokens and preferences.',
    paths: ['/notifications']
  },
  {
    name: 'Realtime',
    description: 'One connection that brings messages, matches, notifications, presence and typing as they happen.',
    paths: ['/realtime']
  },
  {
    name: 'Operators',
    description: 'For accounts with the role ADMIN: review reports and selfies, and edit the options of onboarding.',
    paths: ['/fitmatch/admin', '/onboarding/admin']
  },
  { name: 'Server', description: 'Versions and limits, for the first request of an app.', paths: ['/meta'] }
]

/** The section of the operations at `path`. */
export function tagOf (path: string): string | undefined {
  const matches = tags.flatMap(({ name, paths }) =>
    paths.filter((prefix) => path === prefix || path.startsWith(`${prefix}/`)).map((prefix) => ({ name, prefix }))
  )
  return matches.sort((one, other) => other.prefix.length - one.prefix.length)[0]?.name
}
