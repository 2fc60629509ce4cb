import { Agent, request } from 'undici'

const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

/** Fetches JSON documents from services. */
export interface JsonClient {
  /** Throws unless the response is JSON with status 200 and arrives within `timeoutMs`. */
  get(url: string, timeoutMs: number): Promise<unknown>
  close(): Promise<void>
}

export function createJsonClient (): JsonClient {
  // Separate from the pools of proxied requests, so that these can never exhaust its connections.
  const dispatcher = new Agent({ connections: 4, connect: { timeout: 1_000 }, maxResponseSize: MAX_RESPONSE_BYTES })
  return {
    async get (url, timeoutMs) {
      const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(timeoutMs) })
      if (statusCode === 200) return await body.json()
      await body.dump()
      throw new Error(`${new URL(url).pathname} responded with ${statusCode}`)
    },
    close: async () => await dispatcher.destroy()
  }
}
