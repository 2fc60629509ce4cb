import type { Credential } from '@tandem/google-kit'
import type { Outcome, Provider, Push } from './provider.ts'

// FCM HTTP v1. Outcomes as in https://firebase.google.com/docs/cloud-messaging/error-codes.

/** The service account as its push client: pass it to `readCredential`. */
export const FCM_CREDENTIAL = {
  scope: 'https://www.googleapis.com/auth/firebase.messaging',
  variable: 'FCM_SERVICE_ACCOUNT_FILE'
}

const TIMEOUT_MS = 10_000
const TTL_SECONDS = 24 * 60 * 60
const CONNECTIONS = 32
// FCM accepts 4 KiB in total, and blames the token of a longer message.
const MAX_TITLE_BYTES = 400
const MAX_BODY_BYTES = 1_600

interface FcmErrorBody {
  error?: {
    status?: string,
    message?: string,
    details?: { '@type'?: string, errorCode?: string, fieldViolations?: { field?: string }[] }[]
  }
}

/**
 * Sends through as few connections as possible: over HTTP/2 if the server supports it, because each request carries one
 * message.
 */
export function createFcm ({ baseUrl, credential }: { baseUrl: string, credential: Credential }): Provider {
  let opening: ReturnType<typeof openAgent> | undefined
  const address = `${baseUrl.replace(/\/$/, '')}/v1/projects/${credential.projectId}/messages:send`

  async function attempt (body: string) {
    const token = await credential.getAccessToken()
    opening ??= openAgent()
    const { agent, request } = await opening
    const response = await request(address, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS)
    })
    return {
      token,
      status: response.statusCode,
      retryAfter: response.headers['retry-after'],
      text: await response.body.text()
    }
  }

  return {
    async send (push) {
      const body = JSON.stringify({ message: toFcmMessage(push) })
      try {
        let response = await attempt(body)
        if (response.status === 401) {
          credential.invalidate(response.token)
          response = await attempt(body)
        }
        return toOutcome(response)
      } catch (error) {
        // FCM may have accepted it all the same. A second push with the same collapse id replaces the first.
        const { name, code, message } = error as Error & { code?: string }
        return { type: 'later', reason: name === 'TimeoutError' ? 'no answer within 10 s' : code ?? message }
      }
    },
    close: async () => await (await opening)?.agent.destroy()
  }
}

async function openAgent () {
  // Loaded with the first push, as google-auth-library is: see google-kit.
  const { Agent, request } = await import('undici')
  const agent = new Agent({
    allowH2: true,
    connections: CONNECTIONS,
    connect: { timeout: 5_000 },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS
  })
  return { agent, request }
}

export function toFcmMessage ({ token, collapseId, title, body, data, badge, urgent, silent }: Push) {
  const expiration = String(Math.floor(Date.now() / 1_000) + TTL_SECONDS)
  if (silent) {
    return {
      token,
      data,
      android: { collapse_key: collapseId, priority: 'NORMAL', ttl: `${TTL_SECONDS}s` },
      apns: {
        // Of type alert, as a background push must not have a badge.
        headers: {
          'apns-collapse-id': collapseId,
          'apns-push-type': 'alert',
          'apns-priority': '5',
          'apns-expiration': expiration
        },
        payload: { aps: { badge, 'content-available': 1 } }
      }
    }
  }
  return {
    token,
    notification: { title: truncate(title, MAX_TITLE_BYTES), body: truncate(body, MAX_BODY_BYTES) },
    data,
    android: {
      collapse_key: collapseId,
      priority: urgent ? 'HIGH' : 'NORMAL',
      ttl: `${TTL_SECONDS}s`,
      // A push replaces a shown one with the same tag.
      notification: { tag: collapseId }
    },
    apns: {
      headers: {
        'apns-collapse-id': collapseId,
        'apns-push-type': 'alert',
        'apns-priority': urgent ? '10' : '5',
        'apns-expiration': expiration
      },
      payload: { aps: { sound: 'default', badge } }
    }
  }
}

const graphemes = new Intl.Segmenter()

/** Shortens a text to at most `maxBytes`, between characters as people see them. */
export function truncate (text: string, maxBytes: number) {
  if (Buffer.byteLength(text) <= maxBytes) return text
  let short = ''
  let left = maxBytes - Buffer.byteLength('…')
  for (const { segment } of graphemes.segment(text)) {
    left -= Buffer.byteLength(segment)
    if (left < 0) break
    short += segment
  }
  return `${short}…`
}

function toOutcome (
  { status, retryAfter, text }: { status: number, retryAfter: string | string[] | undefined, text: string }
): Outcome {
  if (status === 200) return { type: 'sent' }
  const { error = {} } = parseError(text)
  const code = error.details?.find((each) => each.errorCode)?.errorCode ?? error.status ?? ''
  const reason = `${status} ${code}`.trim()
  // Not every 404: with a wrong project or address, all tokens would seem dead.
  if (code === 'UNREGISTERED' || code === 'SENDER_ID_MISMATCH') return { type: 'dead', reason }
  if (status === 400) {
    // All messages have the same shape and are below the size limit, so the token is invalid unless FCM names another
    // field.
    const named = error.details?.flatMap((each) => each.fieldViolations?.map(({ field = '' }) => field) ?? []) ?? []
    const isToken = code === 'INVALID_ARGUMENT' &&
      (named.length === 0 || named.some((field) => field.includes('token')))
    return isToken ? { type: 'dead', reason } : { type: 'refused', reason: [reason, ...named].join(' ') }
  }
  const retryAfterMs = parseRetryAfter(retryAfter)
  return { type: 'later', reason, ...retryAfterMs !== undefined && { retryAfterMs } }
}

function parseError (text: string): FcmErrorBody {
  try {
    return JSON.parse(text) as FcmErrorBody
  } catch {
    return {}
  }
}

/** Parses Retry-After, which is in seconds or a date; returns milliseconds. */
export function parseRetryAfter (header: string | string[] | undefined, now = Date.now()) {
  const text = [header].flat()[0]?.trim()
  if (!text) return
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
