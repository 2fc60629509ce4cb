import { count } from './count.ts'

/** Broadcasts, dead letters, the system, options, operators and the audit. */
export const operations = {
  broadcasts: {
    sent: 'Broadcasts so far',
    none: 'No broadcast was sent yet.',
    write: 'Write a broadcast',
    title: 'Title',
    body: 'Text',
    everybody: 'Everybody receives it, each in their language.',
    test: 'Send it to me first',
    send: 'Send to everybody',
    confirm: 'Send this to everybody?',
    recipients: (number: number) => count(number, 'recipient so far', 'recipients so far'),
    finished: 'Finished',
    running: 'Being sent',
    stop: 'Stop'
  },
  deadLetters: {
    text: 'Messages between services that could not be handled, and are not tried again by themselves.',
    none: 'There are no dead letters.',
    attempts: (number: number) => count(number, 'attempt', 'attempts'),
    since: 'since',
    replay: 'Handle it again',
    delete: 'Delete',
    deleteConfirm: 'Delete this message for good? What it says is lost.'
  },
  system: {
    down: 'Does not respond',
    degraded: 'Degraded',
    ready: 'Ready',
    missing: 'Failing checks',
    failed: 'Failed messages',
    dead: 'Dead letters'
  },
  options: {
    text:
      'What people choose from while they join. A retired option stays with those who chose it, and is offered to nobody else.',
    type: 'List',
    types: {
      motivation: 'Motivations',
      activity_style: 'Styles of activity',
      sport_category: 'Kinds of sports',
      sport: 'Sports',
      availability: 'Times of the week',
      fitmatch_interest: 'Interests in FitMatch'
    } as Record<string, string>,
    show: 'Show',
    add: 'Add an option',
    id: 'Id',
    idHint: 'Small letters, digits and underscores. It never changes.',
    english: 'In English',
    indonesian: 'In Indonesian',
    icon: 'Emoji, or the address of an image',
    order: 'Place in the list',
    retired: 'Retired',
    save: 'Save',
    retire: 'Retire',
    restore: 'Offer it again'
  },
  producers: {
    text: 'Systems of the company that send events, such as a booking system. Each has keys of its own.',
    none: 'No system sends events yet.',
    add: 'Add a producer',
    name: 'Name',
    nameHint: 'Small letters, digits and hyphens, such as booking-jakarta.',
    types: 'What it can send',
    typeNames: {
      'booking.confirmed': 'Confirmed bookings',
      'booking.reminder': 'Reminders of bookings',
      'booking.cancelled': 'Cancelled bookings',
      'admin.announcement': 'Announcements in the words of the producer'
    } as Record<string, string>,
    rate: 'Events per second',
    perSecond: (number: number) => `up to ${number} a second`,
    dropped: (number: number) => count(number, 'event for nobody', 'events for nobody'),
    lastUsed: 'Last used',
    neverUsed: 'Never used',
    active: 'Active',
    revoked: 'Revoked',
    keys: 'Keys',
    added: 'added',
    rotate: 'New key',
    revokeOld: 'End the old key',
    revokeOldConfirm: 'End all keys but the newest one? A system that still sends an old one is refused at once.',
    revoke: 'Revoke',
    revokeConfirm: 'Revoke this producer? It is refused from its next request on, and that cannot be undone.',
    newKey: (name: string) => `The key of ${name}`,
    once: 'Copy it now: it is not shown again. The system sends it with each request:',
    stillValid: 'The key before stays valid until you end it.',
    back: 'I have copied it'
  },
  calls: {
    text:
      'Calls of the last 90 days by operation, with those that failed. Versions are what apps say about themselves.',
    none: 'Nothing was called yet.',
    calls: 'Calls',
    errors: 'Errors',
    versions: 'Versions',
    lastDay: 'Last called',
    sunset: (day: string) => `ends on ${day}`,
    names: { unknown: 'not told', other: 'others' } as Record<string, string>
  },
  webhooks: {
    text: 'Systems of other teams that receive what happens. Each webhook is signed with the secret of its endpoint.',
    none: 'Nothing is sent to other systems yet.',
    recent: 'The latest deliveries',
    add: 'Add an endpoint',
    url: 'Address',
    urlHint: 'A public https address. It is checked at every connection.',
    what: 'What it receives',
    types: {
      'account.registered': 'New accounts',
      'account.verified': 'Verified accounts',
      'account.deleted': 'Deleted accounts',
      'subscription.changed': 'Changed subscriptions',
      'post.created': 'New public posts',
      'report.decided': 'Decided reports',
      'match.created': 'Number of matches in each hour'
    } as Record<string, string>,
    enabled: 'Active',
    disabled: 'Disabled',
    disabledSince: 'Disabled',
    pending: (number: number) => `${number} waiting`,
    lastSuccess: 'last accepted',
    noSuccess: 'nothing accepted yet',
    since: 'Since (UTC)',
    replay: 'Send again',
    enable: 'Enable',
    disable: 'Disable',
    disableConfirm: 'Disable this endpoint? What waits for it is not sent. You can send it again within 14 days.',
    attempts: (number: number) => count(number, 'attempt', 'attempts'),
    next: 'next attempt',
    states: { pending: 'Waits', sent: 'Accepted', failed: 'Failed' },
    secretOf: (host: string) => `The secret of ${host}`,
    once: 'Copy it now: it is not shown again. The other system verifies each webhook with it:',
    back: 'I have copied it'
  },
  staff: {
    invite: 'Invite an operator',
    email: 'Email address',
    role: 'Role',
    account: 'Id of their own account in the app, if they have one',
    accountHint: 'Nobody decides about themselves.',
    inviteHint:
      'They alone get the link, by mail, and all administrators hear of it. A new administrator takes two of you.',
    invited: 'Invited',
    removed: 'Removed',
    you: 'You',
    lastSeen: 'Last seen',
    neverSeen: 'Never signed in',
    change: 'Change the role',
    restore: 'Let them in again',
    reinvite: 'Lost passkey',
    reinviteConfirm: 'Mail this operator a new link? Their passkey works until they have created another one.',
    remove: 'Remove',
    removeConfirm: 'Remove this operator and end all their sessions?'
  },
  audit: {
    text: 'Everything that operators did and read, newest first. Nobody can change it unnoticed.',
    service: 'Service',
    none: 'Nothing was done yet.',
    you: '(you)'
  }
}
