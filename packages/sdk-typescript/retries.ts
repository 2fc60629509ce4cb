import { readRetryAfter, TandemError, toTandemError } from './errors.ts'

export interface RetryOptions {
  /** How often a request is sent in all. Default 3; 1 never repeats. */
  attempts: number
  /** The delay before the first repeat; it doubles, and half of it is random. Default 300. */
  baseDelayMs: number
  /** A longer Retry-After is an error at once. Default 10,000. */
  maxDelayMs: number
  /** How long one attempt can take. Default 30,000; files, and bodies above 64 KiB, have 15 minutes. */
  timeoutMs: number
}

export const defaultRetries: RetryOptions = { attempts: 3, baseDelayMs: 300, maxDelayMs: 10_000, timeoutMs: 30_000 }

/** Sends a request. `create` is called for each attempt, because a body can be read once only. */
export type Send = (create: () => Request, options: SendOptions) => Promise<Response>

interface SendOptions {
  canRepeat: boolean
  /** Decides how long an attempt can take. */
  kind: 'usual' | 'upload' | 'refresh'
  /** Ends the request. In Node, the signal of a cloned request does not follow that of the first for long. */
  signal?: AbortSignal
}

type Fetch = (request: Request) => Promise<Response>

/**
 * Repeats requests that may be repeated: after a lost connection, a 429 and a 502, 503 or 504. It waits as long as
 * Retry-After says, otherwise with exponential back-off.
 */
export function createSend (fetch: Fetch, { attempts, baseDelayMs, maxDelayMs, timeoutMs }: RetryOptions): Send {
  const attemptMs = { usual: timeoutMs, upload: UPLOAD_TIMEOUT_MS, refresh: Math.min(timeoutMs, REFRESH_TIMEOUT_MS) }
  return async (create, { canRepeat, kind, signal }) => {
    for (let attempt = 1;; attempt++) {
      const result = await sendOnce(fetch, create(), attemptMs[kind], signal).catch((error: unknown) =>
        toTandemError(error, undefined)
      )
      const isLast = !canRepeat || attempt >= attempts || signal?.aborted
      const backOffMs = baseDelayMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2)
      if (result instanceof TandemError) {
        if (isLast) throw result
        await sleep(backOffMs, signal)
        continue
      }
      const requestedMs = (readRetryAfter(result.headers) ?? 0) * 1_000
      if (isLast || ![429, 502, 503, 504].includes(result.status) || requestedMs > maxDelayMs) return result
      // Read to its end, so that the connection can be used again.
      await result.text().catch(() => {})
      await sleep(Math.max(backOffMs, requestedMs), signal)
    }
  }
}

// As long as the server waits for a video over a slow connection.
const UPLOAD_TIMEOUT_MS = 15 * 60_000
// After a minute the server takes a repeat for that of a thief, and ends the session: three attempts take less.
const REFRESH_TIMEOUT_MS = 15_000
const underWay = new Set<Request>()

async function sendOnce (fetch: Fetch, request: Request, timeoutMs: number, signal: AbortSignal | undefined) {
  // AbortSignal.any and AbortSignal.timeout are missing in React Native.
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (signal?.aborted) abort()
  // Also while the response is read.
  signal?.addEventListener('abort', abort)
  const sent = new Request(request, { signal: controller.signal })
  // In Node, a request that nothing holds is collected as garbage, and is not aborted then.
  underWay.add(sent)
  let isTimeout = false
  const timer = setTimeout(() => {
    isTimeout = true
    abort()
  }, timeoutMs)
  try {
    const response = await fetch(sent)
    // A connection can be lost or stand still in the middle of a response, too. A file is read as it arrives.
    if (response.headers.get('content-type')?.startsWith('application/json')) await response.clone().text()
    return response
  } catch (error) {
    if (!isTimeout) throw error
    throw new TandemError('The server did not respond in time', { code: 'TIMEOUT', cause: error })
  } finally {
    clearTimeout(timer)
    underWay.delete(sent)
  }
}

export async function sleep (ms: number, signal: AbortSignal | undefined) {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = () => {
      clearTimeout(timer)
      reject(new TandemError('The request was aborted', { code: 'ABORTED' }))
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** A random idempotency key. Keys only have to be unique: React Native has no `crypto`. */
export const createKey = () =>
  globalThis.crypto?.randomUUID?.()
    ?? Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 12).padEnd(10, '0')).join('')
