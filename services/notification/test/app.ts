import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Unavailable, type CallRpc } from '@tandem/bus-kit'
import { deliver } from '@tandem/bus-kit/testing'
import { Contact, People } from '@tandem/contracts'
import { testDatabase, type Teardown } from '@tandem/database-kit/testing'
import { fakeMailer } from '@tandem/mail-kit/testing'
import { bearer, silentLog, testKeys } from '@tandem/service-kit/testing'
import { createApp, createHandlers } from '../app.ts'
import type { Deps } from '../deps.ts'
import { upsertPeople, type PersonCopy } from '../people/copies.ts'
import { createPeopleLookup } from '../people/lookup.ts'
import { createDelivery } from '../push/actions.ts'
import type { Outcome, Provider, Push } from '../push/provider.ts'
import type { Pushes, Waiting } from '../push/pushes.ts'
import type { Tables } from '../tables.ts'

export { startMessaging } from '../app.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The neighbours as a test wants them: whom they know, and whether they are away. */
interface Neighbours { people: Map<string, PersonCopy>, contacts: Map<string, { email: string, name: string, locale: string }>, isUnavailable: boolean, asked: string[] }

/** Pushes that nobody works on: what was offered is kept, and sent when a test says so. */
function idlePushes (): Pushes & { offered: Waiting[] } {
  const offered: Waiting[] = []
  return {
    offered,
    async offer (deliveries) { offered.push(...deliveries) },
    start () {},
    async close () {},
    async ready () {},
    async lowDepth () { return 0 }
  }
}

/** A provider that takes everything, or answers what a test says. */
function recordingProvider (): Provider & { sent: Push[], answer: (push: Push) => Outcome } {
  const provider = {
    sent: [] as Push[],
    answer: (_push: Push): Outcome => ({ is: 'sent' }),
    async send (push: Push) {
      provider.sent.push(push)
      return provider.answer(push)
    },
    async close () {}
  }
  return provider
}

/** An app over a database of its own. */
export async function testApp (t: Teardown, { gatherLikesFor = 60_000 } = {}) {
  const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))
  const neighbours: Neighbours = { people: new Map(), contacts: new Map(), isUnavailable: false, asked: [] }
  const callRpc = (async (question: unknown, request: { accountId: string, accountIds: string[] }) => {
    if (neighbours.isUnavailable) throw new Unavailable()
    if (question === People) {
      neighbours.asked.push(...request.accountIds)
      return request.accountIds.flatMap((id) => neighbours.people.get(id) ?? [])
    }
    if (question === Contact) return neighbours.contacts.get(request.accountId) ?? null
    throw new Unavailable()
  }) as CallRpc
  const clock = { now: () => new Date() }
  const pushes = idlePushes()
  const provider = recordingProvider()
  const deps: Deps = { db, callRpc, findPeople: createPeopleLookup({ db, callRpc }), mailer: fakeMailer(), pushes, gatherLikesFor, now: () => clock.now() }
  const app = await createApp(deps, { log: silentLog, keys: testKeys, loadShedding: false })
  t.teardown(() => app.close())
  const handlers = createHandlers(deps)

  /** A request by an account, and what came of it. His session has his own id unless told. */
  async function send (accountId: string, method: Method, url: string, payload?: object, { sessionId = accountId, headers = {} }: { sessionId?: string, headers?: Record<string, string> } = {}) {
    const response = await app.inject({ method, url, headers: { ...bearer(accountId, { sessionId }), ...headers }, ...payload && { payload } })
    return { status: response.statusCode, ...response.json() }
  }

  const world = {
    app,
    db,
    url,
    deps,
    clock,
    neighbours,
    pushes,
    provider,
    handlers,
    send,
    /** Lets the service hear an event. */
    say: async (type: string, data: object, options?: Parameters<typeof deliver>[3]) => await deliver(handlers, type, data, options),
    /** A request by nobody. */
    getAnonymously: async (method: Method, url: string, headers = {}) => {
      const response = await app.inject({ method, url, headers })
      return { status: response.statusCode, ...response.json() }
    },
    inbox: async (accountId: string, query = '') => (await send(accountId, 'GET', `/notifications${query}`)).data,
    log: async (accountId: string) => (await send(accountId, 'GET', '/notifications/push/log?limit=50')).data.deliveries,
    /** Somebody with an account, whom the service has heard of. */
    person: async (name: string, others: Partial<PersonCopy> = {}) => {
      const person = somePerson(name, others)
      neighbours.people.set(person.accountId, person)
      await upsertPeople(db, [person], new Date())
      return person.accountId
    },
    /** A device that `accountId` has registered; returns its token. */
    device: async (accountId: string, { token = `token-${randomUUID()}`, sessionId = accountId, ...others }: Record<string, string> = {}) => {
      const { status } = await send(accountId, 'POST', '/notifications/push', { token, platform: 'android', ...others }, { sessionId })
      if (status !== 200) throw new Error(`no device: ${status}`)
      return token
    },
    /** Works on everything that was offered, as the workers would, whether due or not. */
    deliverAll: async () => {
      await sql`update deliveries set due_at = now() where status in ('pending', 'held')`.execute(db)
      const deliver = createDelivery({ ...deps, provider })
      for (const { id } of pushes.offered.splice(0)) await deliver(id)
    },
    /** The same app for the next test of a file, with nothing offered, sent or told else. Its people are others. */
    fresh: () => {
      pushes.offered.length = 0
      provider.sent.length = 0
      provider.answer = () => ({ is: 'sent' })
      neighbours.isUnavailable = false
      clock.now = () => new Date()
      return world
    }
  }
  return world
}

export type TestApp = Omit<Awaited<ReturnType<typeof testApp>>, 'fresh'>

export const somePerson = (name: string, others: Partial<PersonCopy> = {}): PersonCopy => ({
  accountId: randomUUID(), name, image: null, locale: 'en', timezone: 'Asia/Jakarta', ...others
})

/** Does `jobs` side by side, at most as many at once as leave a connection to others. */
export async function inLanes<Result> (jobs: (() => Promise<Result>)[], width = 4) {
  const results: Result[] = []
  await Promise.all(Array.from({ length: width }, async (_, lane) => {
    for (let number = lane; number < jobs.length; number += width) results[number] = await jobs[number]!()
  }))
  return results
}

export async function until (truth: () => boolean | Promise<boolean>, seconds = 10) {
  const end = Date.now() + seconds * 1_000
  while (!await truth()) {
    if (Date.now() > end) throw new Error(`not so within ${seconds} s: ${truth.toString()}`)
    await sleep(20)
  }
}
