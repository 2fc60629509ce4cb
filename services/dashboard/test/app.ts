import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type Type from 'typebox'
import type { CallRpc } from '@tandem/bus-kit'
import { recordedEvents } from '@tandem/bus-kit/testing'
import { Contact, FitMatchOverview, Person } from '@tandem/contracts'
import { testDatabase, type Teardown } from '@tandem/database-kit/testing'
import { ServiceUnavailable } from '@tandem/service-kit'
import { bearer, silentLog, testKeys } from '@tandem/service-kit/testing'
import { createApp } from '../app.ts'
import type { Deps } from '../deps.ts'
import type { Tables } from '../tables.ts'
import type { StatsCache } from '../stats/cache.ts'

type PersonAnswer = Type.Static<typeof Person.response>
type ContactAnswer = Type.Static<typeof Contact.response>
type OverviewAnswer = Type.Static<typeof FitMatchOverview.response>

/** The other services as a test wants them: what each answers, or 'away'. */
export interface Others {
  person: PersonAnswer | 'away'
  contact: ContactAnswer | 'away'
  fitmatch: OverviewAnswer | 'away'
  /** How long each of them takes, in milliseconds. */
  slow?: number
}

/** A Redis that is away. */
export const noCache: StatsCache = {
  find: async () => undefined,
  keep: async () => {},
  forget: async () => {},
  ready: async () => { throw new Error('away') },
  close () {}
}

interface Told { name?: string, image?: string | null, completion?: number, weight?: number | null, weighedAt?: string | null }

export function somePerson (timezone: string, { name = 'Ana', image = null, completion = 40, weight = null, weighedAt = null }: Told = {}): NonNullable<PersonAnswer> {
  return {
    name,
    image,
    completion,
    weighedAt,
    profile: {
      gender: null, birthDate: null, height: null, heightUnit: 'cm', weight, weightUnit: 'kg', fitnessGoal: null,
      onboardingCompleted: false, onboardingStep: 0, experience: 'BEGINNER', timezone, username: 'ana', avatarUrl: image
    }
  }
}

/** An app that says nothing and takes the tokens of `bearer`. */
export const appOver = async (deps: Deps) => await createApp(deps, { log: silentLog, keys: testKeys, loadShedding: false })

/**
 * An app over a database of its own, for all tests of a file. `someone()` is a new person before an empty screen: the clock stands at
 * `now`, he lives in `zone`, and his neighbours answer until `others` is told else.
 */
export async function testApp (t: Teardown, { cache = noCache }: { cache?: StatsCache } = {}) {
  const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))
  const clock = { now: new Date() }
  let others: Others
  const callRpc = (async ({ type }: { type: string }) => {
    await new Promise((resolve) => setTimeout(resolve, others.slow ?? 0))
    const answer = new Map<string, unknown>([[Person.type, others.person], [Contact.type, others.contact], [FitMatchOverview.type, others.fitmatch]]).get(type)
    if (answer === 'away') throw new ServiceUnavailable()
    return answer
  }) as CallRpc
  const deps: Deps = { db, callRpc, cache, now: () => clock.now }
  const app = await appOver(deps)
  t.teardown(() => app.close())

  function someone ({ now = '2026-11-20T05:00:00Z', zone = 'Asia/Jakarta' } = {}) {
    const account = randomUUID()
    clock.now = new Date(now)
    others = {
      person: somePerson(zone),
      contact: { email: 'ana@example.com', emailVerified: true, name: 'Ana', locale: 'id' },
      fitmatch: { hasProfile: false, status: null, discoverTutorialSeen: false, matches: [] }
    }
    const send = async (method: Method, path: string, payload?: object, headers: Record<string, string> = {}) =>
      await app.inject({ method, url: path, headers: { ...bearer(account), ...headers }, ...(payload && { payload }) })
    return {
      account,
      send,
      /** Reads the data of an answer. */
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
      /** What was said of this person so far, in short. */
      async publishedEvents () {
        const events = await recordedEvents(db)
        return events.filter(({ subject }) => subject === account).map(({ type, data }) => {
          const { exercise, weightKg, reps, level, achievement } = data as Record<string, unknown>
          return [type.split('.')[1], exercise ?? level ?? achievement, ...(exercise === undefined ? [] : [weightKg, reps])]
        })
      }
    }
  }
  return { app, db, url, deps, clock, someone, at: (moment: string) => { clock.now = new Date(moment) }, others: (change: Partial<Others>) => { others = { ...others, ...change } } }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

let count = 0
const someLog = (type: string, at: string, data: object, more: object = {}) => ({ clientId: `c${++count}`, type, at, data, ...more })

export const workout = (at: string, data: object = {}, more?: object) => someLog('WORKOUT', at, { durationMinutes: 30, ...data }, more)
export const food = (at: string, data: object = {}, more?: object) => someLog('FOOD', at, { name: 'Nasi', calories: 500, ...data }, more)
export const water = (at: string, ml = 500, more?: object) => someLog('WATER', at, { ml }, more)
export const sleep = (at: string, data: object = {}, more?: object) => someLog('SLEEP', at, { minutes: 480, quality: 5, ...data }, more)
export const weight = (at: string, kg = 70, more?: object) => someLog('WEIGHT', at, { kg }, more)
export const lift = (at: string, exercise: string, weightKg: number, more?: object) =>
  workout(at, { exercises: [{ name: exercise, sets: [{ reps: 5, weightKg }] }] }, more)
