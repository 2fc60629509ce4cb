import { Agent, request } from 'undici'
import type { Call } from './requests.ts'

const CONNECTIONS = 128
const TIMEOUT_MS = 30_000

export const dispatcher = new Agent({
  connections: CONNECTIONS,
  headersTimeout: TIMEOUT_MS,
  bodyTimeout: TIMEOUT_MS
})

interface Answer {
  /** 0 without a response. */
  status: number
  retryAfterMs: number | undefined
}

/** Sends a request of an app. @param key makes a repeat safe */
export async function send (origin: string, { method, path, token, body }: Call, key?: string): Promise<Answer> {
  try {
    const response = await request(`${origin}/api/mobile/v1${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${token}`,
        ...(key && { 'idempotency-key': key }),
        ...(body && { 'content-type': 'application/json' })
      },
      ...(body && { body: JSON.stringify(body) })
    })
    const text = await response.body.text()
    const retryAfter = response.headers['retry-after']
    return {
      // An app that shows an old state likes a post again.
      status: text.includes('"ALREADY_LIKED"') ? 200 : response.statusCode,
      retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter) * 1_000
    }
  } catch {
    return { status: 0, retryAfterMs: undefined }
  }
}
