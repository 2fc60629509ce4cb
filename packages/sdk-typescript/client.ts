import { createClient, type ResolvedRequestOptions } from './generated/client/index.ts'
import { repeatable } from './generated/operations.gen.ts'
import { Operations } from './generated/sdk.gen.ts'
import { toTandemError } from './errors.ts'
import { openOutbox, type Outbox, type OutboxOptions } from './outbox.ts'
import { openRealtime } from './realtime.ts'
import type { Realtime, RealtimeOptions } from './realtime-types.ts'
import { createKey, createSend, defaultRetries, type RetryOptions } from './retries.ts'
import { createSession, type Tokens } from './session.ts'
import { checked, memoryStorage, type Stored } from './storage.ts'
import { sync, type Changes } from './sync.ts'

export interface TandemOptions {
  /** The gateway, such as `http://127.0.0.1:8080`. In a browser, `''` is the server of the page. */
  url: string
  /** Where the tokens are kept. Default: memory. */
  storage?: Stored<Tokens>
  /** The language of texts, such as `en` or `id`. Default: the runtime's. */
  language?: string
  retries?: Partial<RetryOptions>
  /** Called when the session has ended on the server: show the sign-in screen. */
  onSignedOut?: () => void
  /** Default: the global fetch. */
  fetch?: (request: Request) => Promise<Response>
}

export interface Tandem extends Operations {
  /** Whether tokens are stored. The server can have ended the session. */
  isSignedIn(): Promise<boolean>
  /** Removes the tokens of this device. To end the session on the server too, call the sign-out operation first. */
  forget(): Promise<void>
  /** Opens what keeps likes, comments, messages, logs and reads while the server cannot be reached, and sends them later. */
  openOutbox(options?: OutboxOptions): Outbox
  /**
   * Brings what has changed on the home screen, in the logs, the chats and the inbox, in three requests.
   * @param cursor of the last call; without one, everything comes
   */
  sync(cursor?: string): Promise<Changes>
  /** Opens a connection that brings messages, matches, notifications, presence and typing as they happen. */
  connectRealtime(options?: RealtimeOptions): Realtime
}

const API_PATH = '/api/mobile/v1'
const MAX_SHORT_BODY = 64 * 1024

/** A file, or a long text, such as a message with an image. */
function isUpload ({ body, serializedBody }: Pick<ResolvedRequestOptions, 'body' | 'serializedBody'>) {
  const sent = serializedBody ?? body
  return typeof sent === 'string' ? sent.length > MAX_SHORT_BODY : sent !== undefined && sent !== null
}

/**
 * Creates a client: one method for each operation of the API. It stores the tokens of every sign-in, renews them when
 * they expire, and repeats what may be repeated. Every error is a TandemError.
 */
export function createTandem (options: TandemOptions): Tandem {
  const { url, language, onSignedOut = () => {} } = options
  const storage = checked(options.storage ?? memoryStorage<Tokens>())
  const baseUrl = `${url.replace(/\/$/, '')}${API_PATH}`
  const send = createSend(options.fetch ?? ((request) => fetch(request)), { ...defaultRetries, ...options.retries })
  const session = createSession({ baseUrl, storage, send, onSignedOut })

  async function sendSignedIn (request: Request, kind: 'usual' | 'upload') {
    const canRepeat = ['GET', 'HEAD'].includes(request.method) || request.headers.has('idempotency-key')
    const sendOptions = { canRepeat, kind, signal: request.signal }
    const response = await send(() => request.clone(), sendOptions)
    const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    if (response.status !== 401 || token === undefined) return response
    const renewed = await session.renew(token)
    if (renewed === undefined) return response
    request.headers.set('authorization', `Bearer ${renewed}`)
    return await send(() => request.clone(), sendOptions)
  }

  const client = createClient({
    baseUrl,
    throwOnError: true,
    auth: async () => await session.accessToken(),
    ...(language !== undefined && { headers: { 'accept-language': language } })
  })
  client.interceptors.request.use((request, options: ResolvedRequestOptions) => {
    const { method, url } = options
    // React Native's requests do not say what their body is.
    const kind = isUpload(options) ? 'upload' : 'usual'
    options.fetch = async (request) => await sendSignedIn(request as Request, kind)
    if (repeatable.has(`${method} ${url}`) && !request.headers.has('idempotency-key')) {
      request.headers.set('idempotency-key', createKey())
    }
    return request
  })
  client.interceptors.response.use(async (response, _request, { url }) => {
    // Keeping an account that was to be deleted is a sign-in, too.
    if (response.ok && (url.startsWith('/auth/') || url === '/account/deletion/cancel')) {
      if (url === '/auth/logout') await session.clear()
      else await session.store(await response.clone().json())
    }
    return response
  })
  client.interceptors.error.use((error, response) => toTandemError(error, response))

  const operations = new Operations({ client })
  return Object.assign(operations, {
    isSignedIn: async () => await session.accessToken() !== undefined,
    forget: async () => await session.clear(),
    openOutbox: (options: OutboxOptions = {}) => openOutbox({ operations, session }, options),
    sync: async (cursor?: string) => await sync(client, cursor),
    connectRealtime: (options: RealtimeOptions = {}) =>
      openRealtime({ baseUrl, session, checkSession: () => operations.countUnreadNotifications() }, options)
  })
}
