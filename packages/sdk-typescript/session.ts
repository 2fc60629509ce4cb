import { TandemError } from './errors.ts'
import { exclusively } from './exclusive.ts'
import { createKey, type Send } from './retries.ts'
import type { Stored } from './storage.ts'

/** The tokens of a signed-in account. */
export interface Tokens {
  accessToken: string
  refreshToken: string
  /**
   * The idempotency key of a refresh that has begun. A repeat with it gets the same tokens, so a lost response, or an
   * app that was closed in between, signs nobody out.
   */
  refreshKey?: string
}

export interface Session {
  accessToken(): Promise<string | undefined>
  /** The access token and the account that it names; undefined if nobody is signed in. */
  current(): Promise<{ token: string, accountId: string | undefined } | undefined>
  /** Stores the tokens of a response of the API, if it has any. */
  store(response: unknown): Promise<void>
  clear(): Promise<void>
  /**
   * A new access token in place of `rejected`; undefined if the session has ended. All callers share one refresh.
   * @throws TandemError while the server cannot be reached: the session stays
   */
  renew(rejected: string): Promise<string | undefined>
}

interface SessionOptions {
  baseUrl: string
  storage: Stored<Tokens>
  send: Send
  onSignedOut: () => void
}

export function createSession ({ baseUrl, storage, send, onSignedOut }: SessionOptions): Session {
  let renewal: Promise<string | undefined> | undefined

  async function refresh (rejected: string): Promise<string | undefined> {
    const tokens = await storage.read()
    if (!tokens) return
    // Another tab, or an earlier request of this one, was faster.
    if (tokens.accessToken !== rejected) return ofSameAccount(tokens.accessToken, rejected)
    const refreshKey = tokens.refreshKey ?? createKey()
    if (!tokens.refreshKey) await storage.write({ ...tokens, refreshKey })

    const response = await send(() =>
      new Request(`${baseUrl}/auth/refresh`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': refreshKey },
        body: JSON.stringify({ refreshToken: tokens.refreshToken })
      }), { canRepeat: true, isUpload: false })
    const body = await response.json().catch(() => undefined) as unknown
    if (response.ok && hasTokens(body)) {
      await storage.write({ accessToken: body.accessToken, refreshToken: body.refreshToken })
      return body.accessToken
    }
    // Anything but a refusal says nothing about the session.
    if (response.status !== 400 && response.status !== 401) {
      throw new TandemError('The session cannot be renewed now', {
        code: 'SERVICE_UNAVAILABLE',
        status: response.status,
        headers: response.headers
      })
    }
    const current = await storage.read()
    if (current && current.refreshToken !== tokens.refreshToken) return ofSameAccount(current.accessToken, rejected)
    await storage.write(undefined)
    onSignedOut()
    return undefined
  }

  return {
    accessToken: async () => (await storage.read())?.accessToken,
    async current () {
      const token = (await storage.read())?.accessToken
      return token === undefined ? undefined : { token, accountId: readSubject(token) }
    },
    async store (response) {
      if (hasTokens(response)) {
        await storage.write({ accessToken: response.accessToken, refreshToken: response.refreshToken })
      }
    },
    clear: async () => await storage.write(undefined),
    async renew (rejected) {
      // Also one at a time among the tabs of a page, which share the tokens.
      renewal ??= exclusively(`session ${baseUrl}`, async () => await refresh(rejected)).finally(() => {
        renewal = undefined
      })
      return await renewal
    }
  }
}

const hasTokens = (body: unknown): body is Tokens =>
  typeof body === 'object' && body !== null && 'accessToken' in body && typeof body.accessToken === 'string'
  && 'refreshToken' in body && typeof body.refreshToken === 'string'

/** Somebody else may have signed in meanwhile: nothing of the one account is sent as the other. */
const ofSameAccount = (token: string, rejected: string) =>
  readSubject(token) === readSubject(rejected) ? token : undefined

/** The account that an access token names; undefined if there is none. */
function readSubject (token: string) {
  const [, claims] = token.split('.')
  if (claims === undefined) return
  const { sub } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { sub?: string }
  return sub
}
