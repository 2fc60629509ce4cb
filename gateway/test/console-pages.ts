import { randomUUID } from 'node:crypto'
import { serviceNames } from '../routes.ts'
import { givenCase, staff, testConsole } from './console.ts'

/** HTML that somebody stored in a text, which every page must show as text. */
export const stored = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>'
export const at = new Date().toISOString()
const endpointId = randomUUID()
export const person = {
  accountId: randomUUID(),
  name: stored,
  email: 'b•••@example.com',
  emailVerified: false,
  memberSince: new Date().toISOString(),
  isDeletionPending: true,
  status: 'RESTRICTED',
  restrictions: [{ scope: 'POSTING', until: new Date().toISOString() }],
  strikes: 2,
  sessions: 1,
  providers: [{ provider: 'PROVIDER_A', linkedAt: new Date().toISOString() }],
  moderation: { social: { reportsMade: 2, reportsUpheld: 1 }, fitmatch: null }
}
export const decision = {
  id: randomUUID(),
  caseService: 'social',
  caseId: randomUUID(),
  actions: [{ type: 'RESTRICT', scope: 'POSTING', until: new Date().toISOString() }],
  outcome: 'ACTION_TAKEN',
  reason: 'SPAM',
  statement: stored,
  note: stored,
  isAutomated: false,
  staffId: null,
  madeAt: new Date().toISOString(),
  awaits: ['fitmatch']
}
export const opened = {
  ...givenCase({ personName: stored, excerpt: stored }),
  evidence: [{
    content: { content: stored, author: { name: stored, username: 'ben' } },
    createdAt: person.memberSince
  }],
  files: [{ number: 1, source: 'private/a.webp', sha256: 'ab' }],
  reports: [{ reason: 'SPAM', details: stored, evidence: [stored], createdAt: person.memberSince }]
}
export const proposal = {
  id: randomUUID(),
  kind: 'BAN',
  subject: stored,
  accountId: randomUUID(),
  reason: stored,
  payload: { decision: { case: null, actions: [{ type: 'BAN' }], statement: stored } },
  proposedBy: randomUUID(),
  createdAt: at,
  expiresAt: at
}

const everything: Record<string, object> = {
  'social GET /operator/cases': { cases: [opened], nextCursor: null },
  'fitmatch GET /operator/cases': { cases: [], nextCursor: null },
  'social GET /operator/cases/:id': { case: opened },
  'social POST /operator/cases/:id/claim': {},
  'identity GET /operator/decisions': { decisions: [decision] },
  'identity POST /operator/decisions': { id: randomUUID() },
  'identity POST /operator/people/search': { accountId: person.accountId },
  'identity GET /operator/people/:id': { person },
  'identity GET /operator/cases/social/:id/decisions': { decisions: [decision] },
  'identity GET /operator/cases/fitmatch/:id/decisions': { decisions: [decision] },
  'profile GET /operator/people/:id': {
    person: { name: stored, username: 'ben', image: stored, age: 30, city: stored }
  },
  'identity GET /operator/mails': {
    mails: [{ id: randomUUID(), kind: 'decision', status: 'sent', attempts: 2, createdAt: at }]
  },
  'identity GET /operator/people/:id/subscription': {
    usesSandbox: true,
    subscription: { planId: stored, status: 'ACTIVE', currentPeriodEnd: at, entitlements: [stored] },
    purchases: [{
      store: 'APPLE',
      environment: 'SANDBOX',
      productId: stored,
      planId: stored,
      saidState: 'GRACE',
      state: 'HOLD',
      willRenew: true,
      isTrial: true,
      isFamilyShared: true,
      isReplaced: true,
      isMoved: true,
      periodEnd: at,
      countsUntil: at,
      answeredAt: null,
      asksAt: at,
      isAcknowledged: false,
      moves: 1,
      isChosen: true
    }],
    grants: [{
      planId: stored,
      reason: 'GIFT',
      givenBy: stored,
      startsAt: at,
      endsAt: at,
      endedAt: null,
      isChosen: false
    }],
    plans: ['premium']
  },
  'notification GET /operator/deliveries': {
    deliveries: [{
      id: randomUUID(),
      kind: 'SOCIAL_FEED',
      platform: 'IOS',
      deviceName: stored,
      status: 'sent',
      reason: null,
      attempts: 1,
      createdAt: at,
      finishedAt: at
    }]
  },
  'fitmatch GET /operator/verifications': {
    verifications: [{
      id: randomUUID(),
      accountId: randomUUID(),
      displayName: stored,
      submittedAt: at,
      hasSelfie: true,
      photos: [{ isMain: true }]
    }],
    nextCursor: null
  },
  'identity GET /operator/appeals': {
    appeals: [{
      id: randomUUID(),
      decisionId: randomUUID(),
      accountId: randomUUID(),
      text: stored,
      dueAt: at,
      createdAt: at,
      actions: decision.actions,
      reason: 'SPAM',
      statement: stored,
      excerpt: stored,
      decidedBy: staff.id
    }]
  },
  'identity GET /operator/issues': { issues: [{ at, email: stored, description: stored }] },
  'identity GET /operator/erasures': {
    erasures: [{
      id: randomUUID(),
      accountId: randomUUID(),
      status: 'HELD',
      cause: 'OWNER',
      eraseAt: at,
      holdReason: stored
    }]
  },
  'notification GET /operator/broadcasts': {
    broadcasts: [{
      id: randomUUID(),
      title: { en: stored, id: stored },
      recipients: 1,
      createdAt: at,
      finishedAt: null
    }]
  },
  'notification GET /operator/producers': {
    producers: [{
      id: randomUUID(),
      name: 'booking',
      eventTypes: ['booking.confirmed', stored],
      eventsPerSecond: 50,
      droppedCount: 1,
      createdAt: at,
      revokedAt: null,
      lastUsedAt: at,
      keys: [{ hint: 'x9Zq', createdAt: at, lastUsedAt: at, isRevoked: false }, {
        hint: 'aB3_',
        createdAt: at,
        lastUsedAt: null,
        isRevoked: false
      }]
    }, {
      id: randomUUID(),
      name: 'shop',
      eventTypes: ['admin.announcement'],
      eventsPerSecond: 5,
      droppedCount: 0,
      createdAt: at,
      revokedAt: at,
      lastUsedAt: null,
      keys: [{ hint: 'k7Lm', createdAt: at, lastUsedAt: null, isRevoked: true }]
    }]
  },
  'notification GET /operator/webhooks': {
    endpoints: [{
      id: endpointId,
      url: 'https://crm.example.com/hooks/tandem?team=crm',
      eventTypes: ['account.registered', 'account.deleted', stored],
      pending: 2,
      createdAt: at,
      lastSuccessAt: at,
      disabledAt: null,
      disabledReason: null
    }, {
      id: randomUUID(),
      url: 'https://shop.example.com/',
      eventTypes: ['subscription.changed'],
      pending: 0,
      createdAt: at,
      lastSuccessAt: null,
      disabledAt: at,
      disabledReason: stored
    }],
    deliveries: (['pending', 'sent', 'failed'] as const).map((status) => ({
      id: randomUUID(),
      endpointId,
      messageId: randomUUID(),
      type: 'account.registered',
      status,
      attempts: 2,
      responseStatus: null,
      error: status === 'sent' ? null : stored,
      dueAt: at,
      queuedAt: at,
      finishedAt: status === 'pending' ? null : at
    }))
  },
  'profile GET /operator/options': {
    options: [{ optionId: 'running', labels: { en: stored, id: stored }, icon: stored, sortOrder: 1, isActive: true }]
  },
  'profile POST /operator/options': {},
  'profile PUT /operator/options': {},
  'identity GET /operator/staff': {
    staff: [{ ...staff, disabledAt: null, passkeys: 1, lastSeenAt: at }, {
      id: randomUUID(),
      email: stored,
      role: 'SUPPORT',
      disabledAt: null,
      passkeys: 0,
      lastSeenAt: null
    }]
  },
  'identity GET /operator/proposals': { proposals: [proposal, { ...proposal, proposedBy: staff.id }] },
  'identity GET /operator/exports': {
    exports: [{
      id: randomUUID(),
      accountId: randomUUID(),
      status: 'RUNNING',
      progress: 50,
      bytes: null,
      requestedAt: at
    }]
  }
}

/** What each service answers to operators, by method and path. */
const ofEachService: Record<string, object> = {
  'GET /operator/health': {
    status: 'ready',
    degraded: true,
    down: [stored],
    failedMessages: 1,
    deadLetters: 1
  },
  'GET /operator/dead-letters': {
    deadLetters: [{ key: 'a b/c', type: 'x.v1', attempts: 3, error: stored, firstFailedAt: at, deadSince: at }]
  },
  'GET /operator/calls': {
    operations: [
      { operation: 'getHome', calls: 1_200, errors: 3, lastDay: '2026-11-27', versions: 3, sunset: null },
      { operation: 'listOldThings', calls: 12, errors: 0, lastDay: '2026-11-20', versions: 1, sunset: '2027-06-01' }
    ]
  },
  'GET /operator/calls/getHome': {
    versions: [
      { platform: 'ios', appVersion: '2.4.0', calls: 900, errors: 1, lastDay: '2026-11-27' },
      { platform: 'unknown', appVersion: stored, calls: 300, errors: 2, lastDay: '2026-11-26' }
    ]
  },
  'GET /operator/audit': {
    entries: [{
      number: 7,
      staffId: staff.id,
      role: 'ADMIN',
      action: 'GET /operator/cases',
      subject: stored,
      reason: stored,
      requestId: 'r-1',
      createdAt: at
    }],
    nextCursor: '7'
  }
}

/** Every page that an administrator can open. */
export const pages = [
  '/queue',
  `/cases/social/${opened.id}`,
  '/people',
  `/people/${person.accountId}?reason=case%207`,
  `/people/${person.accountId}/messages?reason=case%207`,
  `/people/${person.accountId}/subscription?reason=case%207`,
  '/verifications',
  '/appeals',
  '/issues',
  '/erasures',
  '/broadcasts',
  '/proposals',
  '/dead-letters',
  '/system',
  '/staff',
  '/webhooks',
  '/options?type=sport',
  '/audit?service=social',
  '/producers',
  '/calls',
  '/calls/social/getHome'
]

/** A console whose services answer everything, with HTML in each text. */
export async function testPages (t: Parameters<typeof testConsole>[0]) {
  const world = await testConsole(t)
  for (const [route, answer] of Object.entries(everything)) world.answers.set(route, answer)
  for (const name of ['social', 'fitmatch', 'notification']) {
    world.answers.set(`${name} GET /operator/proposals`, { proposals: [] })
  }
  for (const name of serviceNames) {
    for (const [route, answer] of Object.entries(ofEachService)) world.answers.set(`${name} ${route}`, answer)
  }
  return world
}
