import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import argon2 from 'argon2'
import type Type from 'typebox'
import { handleRpc } from '@tandem/bus-kit'
import { Unavailable } from '@tandem/process-kit'
import { fakeRpc, recordedEvents } from '@tandem/bus-kit/testing'
import {
  DashboardPersonalData,
  FitMatchCase,
  FitMatchReport,
  FitMatchPersonalData,
  NotificationPersonalData,
  Person,
  ProfilePersonalData,
  SocialCase,
  SocialPersonalData,
  SocialModeration,
  SocialReport,
  Tier,
  TrainingTotals,
  type PersonalDataPage
} from '@tandem/contracts'
import { testDatabase } from '@tandem/database-kit/testing'
import { type Teardown, startMail, startRedis, type Mail } from '@tandem/test-kit'
import { createMailer } from '@tandem/mail-kit'
import { diskStorage } from '@tandem/media-kit'
import { createMediaUrls } from '@tandem/media-url-kit'
import { createHooks, createKeySet } from '@tandem/http-kit'
import type { Operator, StaffRole } from '@tandem/operator-kit'
import { createRootKey, silentLog } from '@tandem/http-kit/testing'
import { createApp, createHandlers } from '../app.ts'
import type { Deps } from '../deps.ts'
import { createIdentityErasure } from '../erasure.ts'
import { createLedger } from '../erasures/ledger.ts'
import { ensureSigningKey } from '../keys/actions.ts'
import { readKeySet } from '../keys/queries.ts'
import { createKeySetSigner } from '../keys/signed-keys.ts'
import { createIssuers } from '../keys/tokens.ts'
import { createMailRequests } from '../mails/requests.ts'
import { createBlocklist } from '../passwords/blocklist.ts'
import { createHashing } from '../passwords/hashing.ts'
import { createVerifier, type VerifyToken } from '../providers/tokens.ts'
import type { Provider, Tables } from '../tables.ts'
import { createSecrets } from '../secrets.ts'
import { DEFAULT_SUBSCRIPTIONS, type SubscriptionSettings } from '../subscriptions/settings.ts'
import { createNotificationQueue } from '../webhooks/queue.ts'
import { startSession } from '../sessions/actions.ts'

export const password = 'Wide-Open-5ky'
export const rootKeys = createRootKey()
export const secret = 'a secret that only the tests of this service know'

/** The RPC results of the other services. A call without a result throws Unavailable. */
export interface RpcResults {
  person?: Type.Static<typeof Person.response>
  totals?: Type.Static<typeof TrainingTotals.response>
  personalData?: (service: string, page: { accountId: string, after: string | null }) => Promise<PersonalDataPage>
  /** The cases of social and FitMatch, by their ids. */
  cases?: Map<string, Type.Static<typeof SocialCase.response>>
  /** The counts of social, by the ids of accounts. */
  moderation?: Map<string, Type.Static<typeof SocialModeration.response>>
  /** What came of the reports of social, by their ids and authors. */
  reports?: Map<string, Type.Static<typeof SocialReport.response>>
}

const personalDataRpcs = [
  ProfilePersonalData,
  SocialPersonalData,
  FitMatchPersonalData,
  DashboardPersonalData,
  NotificationPersonalData
]

interface Options {
  rpcResults?: RpcResults
  providers?: Partial<Record<Provider, VerifyToken>>
  providerClient?: Deps['providerClient']
  passwordBlocklist?: boolean
  /** Default: `createCheapHashing()`. */
  hashing?: Deps['hashing']
  fourEyes?: Deps['fourEyes']
  /** By default nothing is asked. */
  hooks?: Deps['hooks']
  /** Sets up the stores of the test. */
  createStores?: (options: Pick<Deps, 'subscriptions' | 'clock'>) => Promise<Deps['stores']>
  subscriptions?: Partial<SubscriptionSettings>
  clock?: () => Date
  tierOf?: (accountId: string) => Promise<string | null>
}

interface Account {
  id: string
  email: string
  sessionId: string
  accessToken: string
  refreshToken: string
}
type Signed = Pick<Account, 'accessToken'>

interface Request {
  body?: unknown
  as?: Signed | undefined
  from?: string
  headers?: Record<string, string>
}

/** Real ones would take a tenth of the processor time of all tests. */
export const createCheapHashing = async () =>
  await createHashing({ type: argon2.argon2id, memoryCost: 256, timeCost: 2, parallelism: 1 })

/** The service with its own Postgres schema, Redis and mail catcher, shared by the tests of one file. */
export async function testApp (
  t: Teardown,
  {
    rpcResults = {},
    providers = {},
    providerClient,
    passwordBlocklist = false,
    hashing,
    fourEyes = new Set(),
    hooks = createHooks(undefined, silentLog),
    createStores = async () => ({}),
    subscriptions: given = {},
    clock = () => new Date(),
    tierOf
  }: Options = {}
) {
  const [{ db, url }, redis, mail] = await Promise.all([
    testDatabase<Tables>(t, path.dirname(import.meta.dirname)),
    startRedis(t),
    startMail(t)
  ])
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-identity-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const secrets = createSecrets(secret)
  await ensureSigningKey(db, secrets)
  const keys = createKeySet(() => readKeySet(db), silentLog)
  const mailer = createMailer({
    db,
    service: 'identity',
    smtpUrl: mail.smtpUrl,
    redisUrl: redis.url,
    from: 'Tandem <hello@tandem.example>',
    log: silentLog
  })
  const mailRequests = createMailRequests({
    db,
    secrets,
    mailer,
    redisUrl: redis.url,
    publicUrl: 'https://tandem.example',
    log: silentLog
  })
  const privateFolder = path.join(folder, 'private')
  const [privateStorage, mediaStorage] = [diskStorage(privateFolder), diskStorage(path.join(folder, 'media'))]
  const subscriptions = { ...DEFAULT_SUBSCRIPTIONS, ...given }
  const stores = await createStores({ subscriptions, clock })
  const storeNotifications = createNotificationQueue({
    deps: { db, secrets, stores, subscriptions, clock, mailer },
    redisUrl: redis.url,
    log: silentLog
  })
  const disabledProvider = createVerifier(undefined)
  const deps: Deps = {
    db,
    hooks,
    callRpc: fakeRpc([
      handleRpc(Person, async () => rpcResults.person ?? unavailable()),
      handleRpc(TrainingTotals, async () => rpcResults.totals ?? unavailable()),
      ...personalDataRpcs.map((rpc) =>
        handleRpc(rpc, async (page) => await rpcResults.personalData?.(rpc.service, page) ?? unavailable())
      ),
      handleRpc(SocialCase, async ({ caseId }) => rpcResults.cases?.get(caseId) ?? null),
      handleRpc(SocialModeration, async ({ accountId }) => rpcResults.moderation?.get(accountId) ?? unavailable()),
      handleRpc(
        SocialReport,
        async ({ reportId, reporterId }) => rpcResults.reports?.get(`${reportId} ${reporterId}`) ?? null
      ),
      handleRpc(Tier, async ({ accountId }) => ({ subscribedUntil: tierOf ? await tierOf(accountId) : unavailable() })),
      handleRpc(FitMatchReport, async () => null),
      handleRpc(FitMatchCase, async ({ caseId }) => rpcResults.cases?.get(caseId) ?? null)
    ]),
    secrets,
    hashing: hashing ?? await createCheapHashing(),
    blocklist: createBlocklist(passwordBlocklist),
    console: { origin: 'https://console.example', host: 'console.example' },
    fourEyes,
    signKeySet: createKeySetSigner(db, rootKeys.privateKey),
    providers: { PROVIDER_A: disabledProvider, PROVIDER_B: disabledProvider, ...providers },
    providerClient,
    stores,
    subscriptions,
    clock,
    storeNotifications,
    mailer,
    mailRequests,
    ledger: createLedger(privateStorage),
    privateStorage,
    readFile: async (key) => await mediaStorage.read(key),
    erasure: createIdentityErasure({ db, secrets, mailer, privateStorage }),
    mediaUrls: createMediaUrls('https://cdn.example.com'),
    publicUrl: 'https://tandem.example',
    graceDays: 14,
    referralRewardDays: 7
  }
  const app = await createApp(deps, { log: silentLog, keys })
  const { issueToken, issueOperatorToken } = createIssuers(app, deps)
  mailer.start()
  mailRequests.start()
  storeNotifications.start()
  // tap tears down in reverse order, so this runs before the servers stop.
  t.teardown(async () => {
    await app.close()
    keys.close()
    await storeNotifications.close()
    await mailRequests.close()
    await mailer.close()
  })

  /** Sends a request and returns its status and body; `from` is the address of the client. */
  async function send (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    { body, as: account, from = '203.0.113.7', headers = {} }: Request = {}
  ) {
    const response = await app.inject({
      method,
      url,
      remoteAddress: from,
      headers: { ...headers, ...(account && as(account)) },
      ...(body !== undefined && { payload: body as object })
    })
    return { status: response.statusCode, ...response.json() }
  }
  const post = async (url: string, body: unknown = {}, request: Omit<Request, 'body'> = {}) =>
    await send('POST', url, { ...request, body })
  const get = async (url: string, request: Request = {}) => await send('GET', url, request)

  /** The authorization header of an operator. */
  const asOperator = async (
    role: StaffRole = 'ADMIN',
    { provedSecondsAgo = 0, ...more }: Partial<Operator> & { provedSecondsAgo?: number } = {}
  ) => ({
    authorization: `Bearer ${await issueOperatorToken({
      id: randomUUID(),
      sessionId: randomUUID(),
      role,
      accountId: null,
      provedAt: new Date(Date.now() - provedSecondsAgo * 1_000),
      invitedBy: [],
      canConfirm: true,
      ...more
    })}`
  })

  /** Starts a session of an account without a request. */
  async function givenSession (
    { id, email }: Pick<Account, 'id' | 'email'>,
    { address = '203.0.113.7', device = {} } = {}
  ): Promise<Account> {
    const session = await db.transaction().execute(async (trx) =>
      await startSession(trx, secrets, { accountId: id, method: 'PASSWORD', client: { address, device } })
    )
    return {
      id,
      email,
      ...session,
      accessToken: await issueToken({ accountId: id, sessionId: session.sessionId, role: 'USER' })
    }
  }

  /** Creates an account with a session; by default verified and with the password of these tests. */
  async function givenAccount (
    { email = randomEmail(), verified = true, hasPassword = true, provider = undefined as Provider | undefined } = {}
  ) {
    const { id } = await db.insertInto('accounts').values({
      email,
      name: 'Ana',
      image: null,
      locale: 'en',
      password_hash: hasPassword ? await (hash ??= deps.hashing.hash(password, email)) : null,
      email_verified_at: verified ? new Date() : null,
      registered_network: '203.0.113.0/24',
      referral_code: randomUUID(),
      banned_at: null,
      person_changed_at: null
    }).returning('id').executeTakeFirstOrThrow()
    if (provider) {
      await db.insertInto('provider_links').values({ provider, subject: randomUUID(), account_id: id }).execute()
    }
    return await givenSession({ id, email })
  }
  let hash: Promise<string> | undefined

  /** Waits for `count` mails to an address. @returns them, the newest first, in whichever order they arrived */
  async function mailsTo (email: string, count = 1): Promise<Mail[]> {
    for (let waited = 0; mail.mails(email).length < count; waited += 10) {
      if (waited > 10_000) throw new Error(`only ${mail.mails(email).length} of ${count} mails arrived`)
      await sleep(10)
    }
    // Their ids begin with the time at which they were written.
    return mail.mails(email).toSorted((one, other) => one.messageId < other.messageId ? 1 : -1)
  }

  /** The newest mail with such a subject. Two mails that are sent at once can arrive in any order. */
  async function mailWithSubject (email: string, subject: RegExp): Promise<Mail> {
    for (let waited = 0; waited <= 10_000; waited += 10) {
      const found = mail.mails(email).find((each) => subject.test(each.subject))
      if (found) return found
      await sleep(10)
    }
    throw new Error(`no mail with a subject like ${String(subject)}`)
  }

  return {
    app,
    db,
    url,
    deps,
    redis,
    mail,
    get,
    post,
    send,
    asOperator,
    mediaStorage,
    privateFolder,
    rpcResults,
    handlers: createHandlers(deps),
    givenAccount,
    givenSession,
    mailsTo,
    mailWithSubject,
    /** Until when a mail is tried to be sent. */
    async expiryOfMail (email: string, kind: string) {
      const mail = await db.selectFrom('mails').where('recipient', '=', email).where('dedupe_key', 'like', `${kind}:%`)
        .select('expires_at').executeTakeFirstOrThrow()
      return mail.expires_at
    },
    /** The code in the newest of `count` mails. */
    codeMailedTo: async (email: string, count = 1) => codeIn(await mailsTo(email, count)),
    /** The link in the newest of `count` mails, with its email and token. */
    linkMailedTo: async (email: string, count = 1) => linkIn(await mailsTo(email, count)),
    login: async (email: string, extra: object = {}, request: Omit<Request, 'body'> = {}) =>
      await post('/auth/login', { email, password, ...extra }, request),
    /** Whether the refresh token is still valid. It uses up the token. */
    canRefresh: async ({ refreshToken }: Pick<Account, 'refreshToken'>) =>
      (await post('/auth/refresh', { refreshToken })).status === 200,
    /** The published events of an account, oldest first. */
    publishedEvents: async (accountId: string) =>
      (await recordedEvents(db)).filter(({ subject }) => subject === accountId)
        .map(({ type, data }): Record<string, unknown> => ({
          ...data as object,
          type: type.replace('identity.', '').replace('.v1', '')
        }))
  }
}

/** The authorization header of an account. */
export const as = ({ accessToken }: Signed) => ({ authorization: `Bearer ${accessToken}` })

export const randomEmail = () => `ana-${randomUUID()}@example.com`

/** Makes `times` concurrent calls, and counts them by status and code. */
export async function inParallel (times: number, call: (index: number) => Promise<{ status: number, code?: string }>) {
  const results = await Promise.all(Array.from({ length: times }, async (_, index) => await call(index)))
  const tally: Record<string, number> = {}
  for (const { status, code } of results) {
    tally[code ? `${status} ${code}` : status] = (tally[code ? `${status} ${code}` : status] ?? 0) + 1
  }
  return { results, tally }
}

/** A code other than `code`. */
export const wrongCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

function codeIn ([newest]: Mail[]) {
  const code = /(?<![^\s])\d{6}(?![^\s])/.exec(newest?.text ?? '')?.[0]
  if (!code) throw new Error('there is no code in the mail')
  return code
}

function linkIn ([newest]: Mail[]) {
  const url = new URL(/https:\S+/.exec(newest?.text ?? '')?.[0] ?? '')
  const fields = new URLSearchParams(url.hash.slice(1))
  return { url, email: fields.get('email'), token: fields.get('token') }
}

function unavailable (): never {
  throw new Unavailable()
}
