import { Agent, request } from 'undici'

const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

/** A response whose status is not 200. */
export class UnexpectedStatus extends Error {
  readonly status: number

  constructor (url: string, status: number) {
    super(`${new URL(url).pathname} responded with ${status}`)
    this.status = status
  }
}

/** Fetches JSON documents from services. */
export interface JsonClient {
  /** Throws UnexpectedStatus unless the status is 200, and unless JSON arrives within `timeoutMs`. */
  get(url: string, timeoutMs: number): Promise<unknown>
  /** The same for a POST of `body`. */
  post(url: string, body: object, timeoutMs: number): Promise<unknown>
  close(): Promise<void>
}

export function createJsonClient (): JsonClient {
  // Separate from the pools of proxied requests, so that these can never exhaust its connections.
  const dispatcher = new Agent({ connections: 4, connect: { timeout: 1_000 }, maxResponseSize: MAX_RESPONSE_BYTES })
  async function fetchJson (url: string, timeoutMs: number, options: Parameters<typeof request>[1] = {}) {
    const { statusCode, body } = await request(url, {
      ...options,
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs)
    })
    if (statusCode === 200) return await body.json()
    await body.dump()
    throw new UnexpectedStatus(url, statusCode)
  }
  return {
    get: async (url, timeoutMs) => await fetchJson(url, timeoutMs),
    post: async (url, body, timeoutMs) =>
      await fetchJson(url, timeoutMs, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      }),
    close: async () => await dispatcher.destroy()
  }
}
