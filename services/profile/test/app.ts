import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { handleRpc } from '@tandem/bus-kit'
import { fakeRpc, recordedEvents } from '@tandem/bus-kit/testing'
import { Accounts } from '@tandem/contracts'
import { testDatabase } from '@tandem/database-kit/testing'
import type { Teardown } from '@tandem/test-kit'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createRpcHandlers, createApp, createHandlers } from '../app.ts'
import type { Deps } from '../deps.ts'
import { createProfileErasure } from '../erasure.ts'
import { createAccountLookup } from '../people/accounts.ts'
import { addPerson } from '../people/actions.ts'
import { insertPlaces, type SeedLine } from '../places/seed.ts'
import type { Tables } from '../tables.ts'

export { createApp }

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A few places for tests, one of each kind. */
const smallWorld: SeedLine[] = [
  ['country', 1, 'AT', 'Austria', '🇦🇹', 'EUR', 'Europe/Vienna'],
  ['country', 102, 'ID', 'Indonesia', '🇮🇩', 'IDR', 'Asia/Jakarta'],
  ['country', 3, 'MC', 'Monaco', '🇲🇨', 'EUR', 'Europe/Monaco'],
  ['region', 10, 102, 'BA', 'Bali', 'Bali', 'Asia/Makassar'],
  ['region', 11, 102, 'JK', 'Jakarta', null, 'Asia/Jakarta'],
  ['region', 12, 1, '9', 'Vienna', 'Wien', 'Europe/Vienna'],
  ['city', 100, 102, 10, 'Denpasar', null, 'Asia/Makassar', 800_000, -8.65, 115.22],
  ['city', 101, 102, 11, 'Jakarta', null, 'Asia/Jakarta', 10_000_000, -6.2, 106.8],
  ['city', 102, 102, 10, 'Bangli', null, 'Asia/Makassar', 0, -8.28, 115.33],
  ['city', 103, 102, 10, 'Amlapura', null, 'Asia/Makassar', 0, -8.45, 115.61],
  ['city', 104, 1, 12, 'Vienna', 'Wien', 'Europe/Vienna', 1_900_000, 48.2, 16.37]
]

/** A fake identity service: its accounts, whether it is unavailable, and the calls that it received. */
export interface Identity {
  accounts: Map<string, { name: string, image: string | null, locale: string }>
  isUnavailable: boolean
  calls: string[][]
}

/** The service with its own Postgres schema and a few places. */
export async function testApp (t: Teardown, { onlyOwnMedia = false } = {}) {
  const { db } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))
  await db.transaction().execute(async (trx) => await insertPlaces(trx, smallWorld))
  await db.insertInto('places_editions').values({ edition: 'small' }).execute()
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-profile-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))

  const identity: Identity = { accounts: new Map(), isUnavailable: false, calls: [] }
  const callRpc = fakeRpc([
    handleRpc(Accounts, async ({ accountIds }) => {
      identity.calls.push(accountIds)
      return accountIds.flatMap((accountId) => {
        const account = identity.accounts.get(accountId)
        return account ? [{ accountId, ...account }] : []
      })
    })
  ], () => identity.isUnavailable)
  const media = createMedia({
    storage: diskStorage(folder),
    cdnUrl: 'https://cdn.example.com',
    ownUrlsOnly: onlyOwnMedia
  })
  const deps: Deps = {
    db,
    findAccounts: createAccountLookup(callRpc),
    media,
    areAdminRoutesOff: false,
    erasure: createProfileErasure({ db, callRpc, media })
  }
  const app = await createApp(deps, { log: silentLog, keys: testKeys })
  t.teardown(() => app.close())

  /** Sends a request of an account and returns the response. */
  async function send (
    accountId: string,
    method: Method,
    url: string,
    payload?: object,
    options: { role?: string, headers?: Record<string, string> } = {}
  ) {
    const response = await app.inject({
      method,
      url,
      headers: { ...bearer(accountId, { role: options.role ?? 'USER' }), ...options.headers },
      ...(payload && { payload })
    })
    return { status: response.statusCode, headers: response.headers, ...(response.body ? response.json() : {}) }
  }

  return {
    app,
    db,
    deps,
    folder,
    identity,
    handlers: createHandlers(deps),
    /** The response to an RPC of another service. */
    callRpc: async (rpc: { type: string }, request: object) =>
      await createRpcHandlers(deps).find((each) => each.rpc.type === rpc.type)?.handle(request),
    events: async () => (await recordedEvents(db)).map(({ type, data }) => ({ type, data })),
    send,
    get: (accountId: string, url: string, headers: Record<string, string> = {}) =>
      send(accountId, 'GET', url, undefined, { headers }),
    post: (accountId: string, url: string, payload: object = {}) => send(accountId, 'POST', url, payload),
    put: (accountId: string, url: string, payload: object) => send(accountId, 'PUT', url, payload),
    /** Creates a person who has just registered. */
    async givenPerson (name = 'Ana') {
      const accountId = randomUUID()
      identity.accounts.set(accountId, { name, image: null, locale: 'en' })
      await addPerson(db, { accountId, name, locale: 'en' })
      await db.deleteFrom('outbox').execute()
      return accountId
    }
  }
}
