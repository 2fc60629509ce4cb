import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import { handleRpc } from '@tandem/bus-kit'
import { Unavailable } from '@tandem/process-kit'
import { fakeRpc, recordedEvents } from '@tandem/bus-kit/testing'
import { Contact, FitMatchOverview, Person } from '@tandem/contracts'
import type { EphemeralMessage } from '@tandem/contracts/realtime'
import { testDatabase } from '@tandem/database-kit/testing'
import type { Teardown } from '@tandem/test-kit'
import { createMediaUrls } from '@tandem/media-url-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createApp } from '../app.ts'
import type { Deps } from '../deps.ts'
import { createDashboardErasure } from '../erasure.ts'
import type { Tables } from '../tables.ts'
import type { StatsCache } from '../stats/cache.ts'

type PersonAnswer = Type.Static<typeof Person.response>
type ContactAnswer = Type.Static<typeof Contact.response>
type OverviewAnswer = Type.Static<typeof FitMatchOverview.response>

/** Fakes of the other services: the response of each, or 'unavailable'. */
export interface Fakes {
  person: PersonAnswer | 'unavailable'
  contact: ContactAnswer | 'unavailable'
  fitmatch: OverviewAnswer | 'unavailable'
  /** The duration of each call. */
  delayMs?: number
}

/** A cache whose Redis is unavailable. */
export const unavailableCache: StatsCache = {
  get: async () => undefined,
  set: async (_accountId, value) => value,
  ready: async () => {
    throw new Error('unavailable')
  },
  close () {}
}

interface PersonOverrides {
  name?: string
  image?: string | null
  completion?: number
  weight?: number | null
  weighedAt?: string | null
  birthDate?: string | null
  profile?: Partial<NonNullable<PersonAnswer>['profile']>
  changedAt?: string
}

export function examplePerson (
  timezone: string,
  {
    name = 'Ana',
    image = null,
    completion = 40,
    weight = null,
    weighedAt = null,
    birthDate = null,
    changedAt,
    profile = {}
  }: PersonOverrides = {}
): NonNullable<PersonAnswer> {
  return {
    name,
    image,
    completion,
    weighedAt,
    enteredWeight: weight,
    enteredAt: weighedAt,
    ...changedAt !== undefined && { changedAt },
    profile: {
      gender: null,
      birthDate,
      height: null,
      heightUnit: 'cm',
      weight,
      weightUnit: 'kg',
      fitnessGoal: null,
      onboardingCompleted: false,
      onboardingStep: 0,
      experience: 'BEGINNER',
      timezone,
      username: 'ana',
      avatarUrl: image,
      ...profile
    }
  }
}

/** An app that does not log and accepts the tokens of `bearer`. */
export const createTestApp = async (deps: Deps) => await createApp(deps, { log: silentLog, keys: testKeys })

/**
 * An app with its own database schema, shared by all tests of a file. `newUser()` creates a person without logs, sets
 * the clock to `now` and their time zone to `zone`, and resets the fakes of the other services, which `setFakes` can
 * change.
 */
export async function testApp (t: Teardown, { cache = unavailableCache }: { cache?: StatsCache } = {}) {
  const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))
  const clock = { now: new Date() }
  let fakes: Fakes
  const respond = async <Answer>(read: () => Answer | 'unavailable') => {
    await new Promise((resolve) => setTimeout(resolve, fakes.delayMs ?? 0))
    const answer = read()
    if (answer === 'unavailable') throw new Unavailable()
    return answer as Exclude<Answer, 'unavailable'>
  }
  const callRpc = fakeRpc([
    handleRpc(Person, async () => await respond(() => fakes.person)),
    handleRpc(Contact, async () => await respond(() => fakes.contact)),
    handleRpc(FitMatchOverview, async () => await respond(() => fakes.fitmatch))
  ])
  const erasure = createDashboardErasure({ db, callRpc })
  const ephemeral: EphemeralMessage[] = []
  const deps: Deps = {
    db,
    callRpc,
    cache,
    mediaUrls: createMediaUrls('https://cdn.example.com'),
    minAge: readLimits().minimumAge,
    now: () => clock.now,
    // Tests call the worker themselves.
    imports: { enqueue: async () => {} },
    erasure,
    sendEphemeral: (message) => ephemeral.push(message)
  }
  const app = await createTestApp(deps)
  t.teardown(() => app.close())

  function newUser ({ now = '2026-11-20T05:00:00Z', zone = 'Asia/Jakarta' } = {}) {
    const account = randomUUID()
    clock.now = new Date(now)
    fakes = {
      person: examplePerson(zone),
      contact: { email: 'ana@example.com', emailVerified: true, name: 'Ana', locale: 'id' },
      fitmatch: { hasProfile: false, status: null, discoverTutorialSeen: false, matches: [] }
    }
    const send = async (method: Method, path: string, payload?: object, headers: Record<string, string> = {}) =>
      await app.inject({ method, url: path, headers: { ...bearer(account), ...headers }, ...(payload && { payload }) })
    return {
      account,
      send,
      /** Sends a GET request and returns the data of the response. */
      async read (path: string) {
        const response = await send('GET', path)
        if (response.statusCode !== 200) throw new Error(`${path}: ${response.body}`)
        return response.json().data
      },
      /** Writes logs; returns the results. */
      async log (...items: object[]) {
        const response = await send('POST', '/logs/batch', { items })
        if (response.statusCode !== 200) throw new Error(response.body)
        return response.json().data.results as { clientId: string, id: string, status: string, error?: string }[]
      },
      /** The published events of this person, abbreviated. */
      async publishedEvents () {
        const events = await recordedEvents(db)
        return events.filter(({ subject }) => subject === account).map(({ type, data }) => {
          const { exercise, weightKg, reps, level, achievement, records } = data as Record<string, unknown>
          const [, noun, verb] = type.split('.')
          return [
            verb === 'lost' ? `${noun} lost` : noun,
            exercise ?? level ?? achievement ??
              (records as { exerciseKey: string }[] | undefined)?.map((each) => each.exerciseKey),
            ...(exercise === undefined ? [] : [weightKg, reps])
          ]
        })
      }
    }
  }
  return {
    app,
    db,
    url,
    deps,
    /** The ephemeral messages sent so far. */
    ephemeral,
    clock,
    newUser,
    at: (moment: string) => {
      clock.now = new Date(moment)
    },
    setFakes: (change: Partial<Fakes>) => {
      fakes = { ...fakes, ...change }
    }
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

interface AnyLog {
  type: string
  at: string | Date
  data: { minutes?: number | undefined, quality?: number | undefined }
}

/** The logs as they count: sleeps that overlap are one, as long as they are together. */
export function asCounted<Log extends AnyLog> (logs: Log[]): Log[] {
  const sleeps = logs.filter(({ type }) => type === 'SLEEP').map((log) => {
    const end = new Date(log.at).getTime()
    return { log, start: end - (log.data.minutes ?? 0) * 60_000, end }
  })
  const nights: { start: number, end: number, last: Log, longest: Log }[] = []
  for (const { log, start, end } of sleeps.toSorted((one, other) => one.start - other.start)) {
    const night = nights.at(-1)
    if (!night || start >= night.end) {
      nights.push({ start, end, last: log, longest: log })
      continue
    }
    if ((log.data.minutes ?? 0) > (night.longest.data.minutes ?? 0)) night.longest = log
    if (end > night.end) Object.assign(night, { end, last: log })
  }
  return [
    ...logs.filter(({ type }) => type !== 'SLEEP'),
    ...nights.map(({ start, end, last, longest }) => ({
      ...last,
      data: { ...longest.data, minutes: (end - start) / 60_000 }
    }))
  ].toSorted((one, other) => logs.findIndex((log) => log.at === one.at) - logs.findIndex((log) => log.at === other.at))
}

let count = 0
const logItem = (type: string, at: string, data: object, more: object = {}) => ({
  clientId: `c${++count}`,
  type,
  at,
  data,
  ...more
})

export const workout = (at: string, data: object = {}, more?: object) =>
  logItem('WORKOUT', at, { durationMinutes: 30, ...data }, more)
export const food = (at: string, data: object = {}, more?: object) =>
  logItem('FOOD', at, { name: 'Nasi', calories: 500, ...data }, more)
export const water = (at: string, ml = 500, more?: object) => logItem('WATER', at, { ml }, more)
export const sleep = (at: string, data: object = {}, more?: object) =>
  logItem('SLEEP', at, { minutes: 480, quality: 5, ...data }, more)
export const weight = (at: string, kg = 70, more?: object) => logItem('WEIGHT', at, { kg }, more)
export const lift = (at: string, exercise: string, weightKg: number, more?: object) =>
  workout(at, { exercises: [{ name: exercise, sets: [{ reps: 5, weightKg }] }] }, more)

type Source = { platform: string, kind?: string, device?: string }
let ids = 0

/** An item of a source, with an id of its own. */
export const measured = (
  type: string,
  source: Source,
  [startAt, endAt]: [string, string],
  data: object,
  more: object = {}
) => ({
  type,
  source,
  externalId: `e${++ids}`,
  startAt,
  endAt,
  data,
  ...more
})
export const watch: Source = { platform: 'HEALTHKIT', kind: 'WATCH', device: 'Apple Watch' }
export const phone: Source = { platform: 'HEALTH_CONNECT', kind: 'PHONE' }
export const byHand: Source = { platform: 'MANUAL' }
