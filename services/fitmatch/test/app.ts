import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import { handleRpc } from '@tandem/bus-kit'
import { Unavailable } from '@tandem/process-kit'
import { deliver, fakeRpc, recordedEvents } from '@tandem/bus-kit/testing'
import {
  AddressVerified,
  Connection,
  MatchFacts,
  Membership,
  OfferedOptions,
  People,
  SubscriptionChanged,
  TrainingProgress,
  TrustedContactStatus
} from '@tandem/contracts'
import type { EphemeralMessage } from '@tandem/contracts/realtime'
import { testDatabase } from '@tandem/database-kit/testing'
import type { Teardown } from '@tandem/test-kit'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { createForm, createImage } from '@tandem/media-kit/testing'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
import { createHooks } from '@tandem/http-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createRpcHandlers, createApp, createHandlers } from '../app.ts'
import type { Deps } from '../deps.ts'
import { createFitMatchErasure } from '../erasure.ts'
import { createPeopleLookup } from '../people/lookup.ts'
import type { SwipeType, Tables } from '../tables.ts'

export { createApp }

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Facts = NonNullable<Type.Static<typeof MatchFacts.response>>

/** What the fake neighbour services respond. */
export interface FakeServices {
  facts: Map<string, Facts>
  progress: Type.Static<typeof TrainingProgress.response>
  membership: Type.Static<typeof Membership.response>
  /** The interest options that profile offers. */
  interests: string[]
  /** The sports that profile offers. */
  sports: string[]
  /** The time of activities, unless it is the current time. */
  now?: Date
  /** The answer of notification about trusted contacts. */
  contactStatus: Type.Static<typeof TrustedContactStatus.response>
  /** Accounts without a verified email address. */
  unverified: Set<string>
  /** What social responds. It is unavailable if a test does not set this. */
  connection?: (request: Type.Static<typeof Connection.request>) => Type.Static<typeof Connection.response>
  areUnavailable: boolean
}

/** The facts of a complete main profile. */
export const createFacts = (name: string, overrides: Partial<Facts> = {}): Facts => ({
  name,
  bio: 'Runs',
  city: 'Jakarta',
  latitude: -6.2088,
  longitude: 106.8456,
  timezone: 'Asia/Jakarta',
  photos: [`https://cdn.example/onboarding/${name}/1.webp`, `https://cdn.example/onboarding/${name}/2.webp`],
  gender: 'FEMALE',
  birthDate: '1995-05-05',
  height: 170.4,
  weight: 61.5,
  fitnessGoal: 'BUILD_MUSCLE',
  experience: 'INTERMEDIATE',
  motivations: [],
  favoriteSports: ['badminton', 'running'],
  activityStyle: [],
  preferredAvailability: ['morning', 'evening'],
  ...overrides
})

/** The app with its own database and fake neighbour services. */
export async function testApp (
  t: Teardown,
  { minAge = readLimits().minimumAge, onlyOwnMedia = false, hooks = createHooks(undefined, silentLog) } = {}
) {
  const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-fitmatch-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))

  const services: FakeServices = {
    facts: new Map(),
    progress: { weekStreak: 0, personalRecords: 0 },
    membership: null,
    interests: ['gym_buddy', 'running_partner', 'sports_team', 'friendship', 'dating'],
    sports: ['running', 'badminton'],
    contactStatus: 'CONFIRMED',
    unverified: new Set(),
    areUnavailable: false
  }
  const callRpc = fakeRpc([
    handleRpc(MatchFacts, async ({ accountId }) => services.facts.get(accountId) ?? null),
    handleRpc(People, async ({ accountIds }) =>
      accountIds.flatMap((accountId) => {
        const name = services.facts.get(accountId)?.name
        return name === undefined
          ? []
          : [{
            accountId,
            name,
            username: name.toLowerCase(),
            image: null,
            bio: null,
            locale: 'en',
            timezone: 'Asia/Jakarta'
          }]
      })),
    handleRpc(TrainingProgress, async () => services.progress),
    handleRpc(Membership, async () => services.membership),
    handleRpc(OfferedOptions, async ({ type }) => type === 'sport' ? services.sports : services.interests),
    handleRpc(TrustedContactStatus, async () => services.contactStatus),
    handleRpc(AddressVerified, async ({ accountId }) => !services.unverified.has(accountId)),
    handleRpc(Connection, async (request) => {
      if (!services.connection) throw new Unavailable()
      return services.connection(request)
    })
  ], () => services.areUnavailable)
  const cdnUrl = 'https://cdn.example/own'
  const media = createMedia({
    storage: diskStorage(path.join(folder, 'media')),
    cdnUrl,
    ownUrlsOnly: onlyOwnMedia,
    signingKey: mediaSigningKey
  })
  const selfies = diskStorage(path.join(folder, 'selfies'))
  const erasure = createFitMatchErasure({ db, callRpc, media, selfies })
  const ephemeral: EphemeralMessage[] = []
  const deps: Deps = {
    db,
    callRpc,
    hooks,
    findPeople: createPeopleLookup({ db, callRpc, media }),
    media,
    selfies,
    minAge,
    now: () => services.now ?? new Date(),
    fourEyes: new Set(),
    areAdminRoutesOff: false,
    erasure,
    sendEphemeral: (message) => ephemeral.push(message)
  }
  const app = await createApp(deps, { log: silentLog, keys: testKeys })
  t.teardown(() => app.close())

  /** Sends a request as an account and returns status, headers and body. */
  async function send (
    accountId: string,
    method: Method,
    url: string,
    payload?: object,
    { role = 'USER', headers = {} as Record<string, string> } = {}
  ) {
    const response = await app.inject({
      method,
      url,
      headers: { ...bearer(accountId, { role, sessionId: accountId }), ...headers },
      ...(payload && { payload })
    })
    return { status: response.statusCode, headers: response.headers, ...response.json() }
  }
  const post = (accountId: string, url: string, payload: object = {}) => send(accountId, 'POST', url, payload)
  const upload = (accountId: string, url: string, field: string, file: Buffer, type = 'image/png', headers = {}) => {
    const form = createForm(file, { field, type })
    return send(accountId, 'POST', url, form.payload, { headers: { ...form.headers, ...headers } })
  }

  function person (name: string, facts: Partial<Facts> = {}) {
    const accountId = randomUUID()
    services.facts.set(accountId, createFacts(name, facts))
    return accountId
  }

  /** Creates an account with a matching profile. */
  async function member (name: string, { fields = {}, ...facts }: Partial<Facts> & { fields?: object } = {}) {
    const id = person(name, facts)
    const { status, data } = await post(id, '/fitmatch/profile', fields)
    if (status !== 201) throw new Error(`creating the profile failed: ${status}`)
    return { id, profileId: data.id as string }
  }
  type Member = Awaited<ReturnType<typeof member>>

  const swipe = (one: Member, other: Member, swipeType: SwipeType = 'LIKE') =>
    post(one.id, '/fitmatch/swipe', { targetProfileId: other.profileId, swipeType })

  return {
    app,
    db,
    url,
    deps,
    folder,
    services,
    cdnUrl,
    handlers: createHandlers(deps),
    rpcHandlers: createRpcHandlers(deps),
    /** The ephemeral messages sent so far. */
    ephemeral,
    send,
    get: (accountId: string, url: string) => send(accountId, 'GET', url),
    post,
    /** Like `post`, with an idempotency key. */
    postOnce: (accountId: string, key: string, url: string, payload: object = {}) =>
      send(accountId, 'POST', url, payload, { headers: { 'idempotency-key': key } }),
    put: (accountId: string, url: string, payload: object) => send(accountId, 'PUT', url, payload),
    del: (accountId: string, url: string, payload?: object) => send(accountId, 'DELETE', url, payload),
    operator: (method: Method, url: string, payload?: object) =>
      send('0198c000-0000-7000-8000-00000000ad01', method, url, payload, { role: 'ADMIN' }),
    upload,
    person,
    member,
    /** Creates a member whose two photos are in our media storage, so that a selfie can be compared with them. */
    memberWithPhotos: async (name: string) => {
      const photos = await Promise.all(
        [1, 2].map(async () => await deps.media.store('public', createImage(), async () => {}))
      )
      return await member(name, { photos: photos.map(({ key }) => deps.media.urlOf(key)) })
    },
    swipe,
    /** Matches two people. @returns the match id */
    createMatch: async (one: Member, other: Member) => {
      await swipe(one, other)
      const { data } = await swipe(other, one)
      return data.match.matchId as string
    },
    subscribe: async (accountId: string, status = 'ACTIVE', days = 30) =>
      await deliver(createHandlers(deps), SubscriptionChanged.type, {
        accountId,
        planId: 'pro',
        status,
        currentPeriodStart: new Date().toISOString(),
        currentPeriodEnd: new Date(Date.now() + days * 86_400_000).toISOString()
      }),
    /** The data of the events of this type published so far. */
    publishedEvents: async ({ type }: { type: string }) =>
      (await recordedEvents(db)).filter((event) => event.type === type).map((event) =>
        event.data as Record<string, unknown>
      )
  }
}

export type TestApp = Awaited<ReturnType<typeof testApp>>
export type Member = Awaited<ReturnType<TestApp['member']>>

/** Runs `work` `times` times concurrently. */
export const inParallel = async <Result>(times: number, work: (turn: number) => Promise<Result>) =>
  await Promise.all(Array.from({ length: times }, (_, turn) => work(turn)))
