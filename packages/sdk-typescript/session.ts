import { TandemError, toTandemError } from './errors.ts'
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
  let renewal: { rejected: string, token: Promise<string | undefined> } | undefined

  const change = async <Result>(work: () => Promise<Result>) => await exclusively(`tokens ${baseUrl}`, work)

  /** Replaces `known`, unless somebody has signed in or out since it was read. @returns the tokens that are stored then */
  const replace = async (known: Tokens, changed: Tokens | undefined) =>
    await change(async () => {
      const current = await storage.read()
      if (current?.refreshToken !== known.refreshToken) return current
      await storage.write(changed)
      return changed
    })

  async function refresh (rejected: string): Promise<string | undefined> {
    const tokens = await storage.read()
    if (!tokens) return
    // Another tab, or an earlier request of this one, was faster.
    if (tokens.accessToken !== rejected) return ofSameAccount(tokens.accessToken, rejected)
    const refreshKey = tokens.refreshKey ?? createKey()
    if (!tokens.refreshKey) await replace(tokens, { ...tokens, refreshKey })

    const response = await send(() =>
      new Request(`${baseUrl}/auth/refresh`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': refreshKey },
        body: JSON.stringify({ refreshToken: tokens.refreshToken })
      }), { canRepeat: true, kind: 'refresh' })
    const body = await response.json().catch(() => undefined) as unknown
    if (response.ok && hasTokens(body)) {
      const current = await replace(tokens, { accessToken: body.accessToken, refreshToken: body.refreshToken })
      return current && ofSameAccount(current.accessToken, rejected)
    }
    // Anything but a refusal of the API says nothing about the session. A proxy answers 401, too.
    if (![400, 401].includes(response.status) || toTandemError(body, response).code === 'INVALID_RESPONSE') {
      throw new TandemError('The session cannot be renewed now', {
        code: 'SERVICE_UNAVAILABLE',
        status: response.status,
        headers: response.headers
      })
    }
    const current = await replace(tokens, undefined)
    if (current) return ofSameAccount(current.accessToken, rejected)
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
      if (!hasTokens(response)) return
      const { accessToken, refreshToken } = response
      await change(async () => await storage.write({ accessToken, refreshToken }))
    },
    clear: async () => await change(async () => await storage.write(undefined)),
    async renew (rejected) {
      if (renewal?.rejected !== rejected) {
        // Also one at a time among the tabs of a page, which share the tokens.
        const token = exclusively(`session ${baseUrl}`, async () => await refresh(rejected)).finally(() => {
          if (renewal?.token === token) renewal = undefined
        })
        renewal = { rejected, token }
      }
      return await renewal.token
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
