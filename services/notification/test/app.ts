import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import path from 'node:path'
import { sql } from 'kysely'
import { handleRpc } from '@tandem/bus-kit'
import { deliver, fakeRpc } from '@tandem/bus-kit/testing'
import type { Static } from 'typebox'
import {
  AccountsByToken,
  AddressOwner,
  ArmedMeetings,
  Contact,
  MeetingDetails,
  MeetingStatus,
  People,
  RealtimeDetails
} from '@tandem/contracts'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import { testDatabase } from '@tandem/database-kit/testing'
import { Unavailable } from '@tandem/process-kit'
import { createMediaUrls } from '@tandem/media-url-kit'
import type { Teardown } from '@tandem/test-kit'
import { fakeMailer } from '@tandem/mail-kit/testing'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createApp, createHandlers } from '../app.ts'
import type { Deps } from '../deps.ts'
import { createNotificationErasure } from '../erasure.ts'
import { upsertPeople, type PersonCopy } from '../people/copies.ts'
import { createPeopleLookup } from '../people/lookup.ts'
import { createNotifier } from '../notifications/notifier.ts'
import type { DeliveryJob, NotificationRequest } from '../notifications/plan.ts'
import { createPushSender } from '../push/sender.ts'
import type { Outcome, Provider, Push } from '../push/provider.ts'
import type { PushQueue } from '../notifications/push-queue.ts'
import type { Tables } from '../tables.ts'
import type { WebhookQueue } from '../webhooks/queue.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

type Details = Static<typeof RealtimeDetails.response>[number]
type DetailsItem = Static<typeof RealtimeDetails.request>['items'][number]

interface NeighbourContact {
  email: string
  name: string
  locale: string
  emailVerified?: boolean
  isBannedOrLeaving?: boolean
}

/** Fakes of the other services: what they return, and whether they are unavailable. */
interface Neighbours {
  people: Map<string, PersonCopy>
  contacts: Map<string, NeighbourContact>
  /** Accounts by the random names that other systems know. */
  accountTokens: Map<string, string>
  isUnavailable: boolean
  /** Whether the owners of addresses are unknown. */
  isIdentityUnavailable: boolean
  /** What fitmatch says about a match and a message; null if the account cannot see it. */
  details: (item: DetailsItem) => Details
  beforeDetails: () => Promise<void>
  /** What fitmatch says about a meeting; null if its activity is gone. */
  meeting: Static<typeof MeetingDetails.response>
  armedMeetings: number
  meetingStatus: Static<typeof MeetingStatus.response>
}

/** A push queue without workers. It keeps the jobs until a test calls `deliverAll`. */
function idlePushQueue (): PushQueue & { enqueued: DeliveryJob[] } {
  const enqueued: DeliveryJob[] = []
  return {
    enqueued,
    async enqueue (jobs) {
      enqueued.push(...jobs)
    },
    start () {},
    async close () {},
    async ping () {},
    async lowPriorityDepth () {
      return 0
    }
  }
}

/** A queue of webhooks without workers. */
function idleWebhookQueue (): WebhookQueue & { enqueued: string[] } {
  const enqueued: string[] = []
  return {
    enqueued,
    async enqueue (ids) {
      enqueued.push(...ids)
    },
    start () {},
    async close () {}
  }
}

/** A provider that accepts every push, or returns the outcome that a test sets. */
function recordingProvider (): Provider & { sent: Push[], outcomeOf: (push: Push) => Outcome } {
  const provider = {
    sent: [] as Push[],
    outcomeOf: (_push: Push): Outcome => ({ type: 'sent' }),
    async send (push: Push) {
      provider.sent.push(push)
      return provider.outcomeOf(push)
    },
    async close () {}
  }
  return provider
}

/** An app with a database of its own. */
export async function testApp (t: Teardown, { likeDigestMs = 60_000 } = {}) {
  const mediaUrls = createMediaUrls('https://cdn.example.com')
  const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))
  const neighbours: Neighbours = {
    people: new Map(),
    contacts: new Map(),
    accountTokens: new Map(),
    isUnavailable: false,
    isIdentityUnavailable: false,
    details: () => null,
    beforeDetails: async () => {},
    meeting: null,
    armedMeetings: 0,
    meetingStatus: 'ARMED'
  }
  const callRpc = fakeRpc([
    handleRpc(People, async ({ accountIds }) =>
      accountIds.flatMap((id) => {
        const person = neighbours.people.get(id)
        return person ? [{ username: `u-${id}`, bio: null, ...person }] : []
      })),
    handleRpc(RealtimeDetails, async ({ items }) => {
      await neighbours.beforeDetails()
      return items.map((item) => neighbours.details(item))
    }),
    handleRpc(MeetingDetails, async () => neighbours.meeting),
    handleRpc(MeetingStatus, async () => neighbours.meetingStatus),
    handleRpc(ArmedMeetings, async () => neighbours.armedMeetings),
    handleRpc(Contact, async ({ accountId }) => {
      const contact = neighbours.contacts.get(accountId)
      return contact ? { emailVerified: true, ...contact } : null
    }),
    handleRpc(AccountsByToken, async ({ accountTokens }) => {
      if (neighbours.isIdentityUnavailable) throw new Unavailable()
      return accountTokens.flatMap((accountToken) => {
        const accountId = neighbours.accountTokens.get(accountToken)
        return accountId ? [{ accountToken, accountId }] : []
      })
    }),
    handleRpc(AddressOwner, async ({ email }) => {
      if (neighbours.isIdentityUnavailable) throw new Unavailable()
      const owner = [...neighbours.contacts].find(([, contact]) =>
        contact.email === email && contact.emailVerified !== false
      )
      return owner ? { accountId: owner[0], isBannedOrLeaving: owner[1].isBannedOrLeaving ?? false } : null
    })
  ], () => neighbours.isUnavailable)
  const clock = { now: () => new Date() }
  const pushes = idlePushQueue()
  const signals: WakeUpSignal = []
  const provider = recordingProvider()
  const deps: Deps = {
    db,
    callRpc,
    findPeople: createPeopleLookup({ db, callRpc, mediaUrls }),
    mailer: fakeMailer(),
    mediaUrls,
    publicUrl: 'https://api.example',
    pushes,
    webhooks: idleWebhookQueue(),
    webhookPrivateHosts: new Set(),
    likeDigestMs,
    now: () => clock.now(),
    arrivals: new EventEmitter(),
    fourEyes: new Set(),
    erasure: createNotificationErasure({ db, callRpc }),
    wakeUp: (signal) => signals.push(...signal),
    log: silentLog
  }
  const app = await createApp(deps, { log: silentLog, keys: testKeys })
  t.teardown(() => app.close())
  const handlers = createHandlers(deps)

  /** Sends a request as an account; returns the status and the body. The session id defaults to the account id. */
  async function send (
    accountId: string,
    method: Method,
    url: string,
    payload?: object,
    { sessionId = accountId, headers = {} }: { sessionId?: string, headers?: Record<string, string> } = {}
  ) {
    const response = await app.inject({
      method,
      url,
      headers: { ...bearer(accountId, { sessionId }), ...headers },
      ...payload && { payload }
    })
    return { status: response.statusCode, ...response.json() }
  }

  const fixture = {
    app,
    db,
    url,
    deps,
    clock,
    neighbours,
    pushes,
    provider,
    /** The wake-up signals sent so far. */
    signals,
    send,
    /** Delivers an event to the service. */
    receive: async (type: string, data: object, options?: Parameters<typeof deliver>[3]) =>
      await deliver(handlers, type, data, options),
    /** Sends a request without authentication. */
    getAnonymously: async (method: Method, url: string, headers = {}) => {
      const response = await app.inject({ method, url, headers })
      return { status: response.statusCode, ...response.json() }
    },
    inbox: async (accountId: string, query = '') => (await send(accountId, 'GET', `/notifications${query}`)).data,
    log: async (accountId: string) =>
      (await send(accountId, 'GET', '/notifications/push/log?limit=50')).data.deliveries,
    /** Creates a person that the service knows; returns the account id. */
    person: async (name: string, overrides: Partial<PersonCopy> = {}) => {
      const person = somePerson(name, overrides)
      neighbours.people.set(person.accountId, person)
      await upsertPeople({ db, mediaUrls }, [person], new Date())
      return person.accountId
    },
    /** Registers a device for `accountId`; returns its token. */
    device: async (
      accountId: string,
      { token = `token-${randomUUID()}`, sessionId = accountId, ...others }: Record<string, string> = {}
    ) => {
      const { status } = await send(
        accountId,
        'POST',
        '/notifications/push',
        { token, platform: 'android', ...others },
        { sessionId }
      )
      if (status !== 200) throw new Error(`the registration failed with ${status}`)
      return token
    },
    /** Sends all enqueued pushes as the workers would, whether due or not. */
    deliverAll: async () => {
      await sql`update deliveries set due_at = now() where status in ('pending', 'held')`.execute(db)
      const send = createPushSender({ ...deps, provider, log: silentLog })
      for (const { id } of pushes.enqueued.splice(0)) await send(id)
    },
    /**
     * Resets queue, provider, clock and fakes, so that a file's tests can share the app. Each test creates people of
     * its own.
     */
    reset: () => {
      pushes.enqueued.length = 0
      signals.length = 0
      provider.sent.length = 0
      provider.outcomeOf = () => ({ type: 'sent' })
      neighbours.isUnavailable = false
      neighbours.isIdentityUnavailable = false
      neighbours.armedMeetings = 0
      neighbours.meetingStatus = 'ARMED'
      neighbours.details = () => null
      neighbours.beforeDetails = async () => {}
      clock.now = () => new Date()
      return fixture
    }
  }
  return fixture
}

/** Creates notifications for one request. */
export const notify = async (deps: Deps, request: NotificationRequest, occurredAt: Date) =>
  await createNotifier(deps)(request, { occurredAt })

export type TestApp = Awaited<ReturnType<typeof testApp>>

const somePerson = (name: string, overrides: Partial<PersonCopy> = {}): PersonCopy => ({
  accountId: randomUUID(),
  name,
  image: null,
  locale: 'en',
  timezone: 'Asia/Jakarta',
  ...overrides
})
