import { Agent, request } from 'undici'

const longest = 8 * 1024 * 1024

/** Asks a service for a document. */
export interface JsonClient {
  /** Throws unless the answer is JSON with status 200, and comes within `patience` ms. */
  ask (url: string, timeoutMs: number): Promise<unknown>
  close (): Promise<void>
}

export function createJsonClient (): JsonClient {
  // Apart from the connections of requests, so that these can never be used up by them.
  const dispatcher = new Agent({ connections: 4, connect: { timeout: 1_000 }, maxResponseSize: longest })
  return {
    async ask (url, timeoutMs) {
      const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(timeoutMs) })
      if (statusCode === 200) return await body.json()
      await body.dump()
      throw new Error(`${new URL(url).pathname} answered with ${statusCode}`)
    },
    close: async () => await dispatcher.destroy()
  }
}
