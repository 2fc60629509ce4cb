import { Agent, request } from 'undici'
import type { Credential } from './credential.ts'
import type { Outcome, Provider, Push } from './provider.ts'

// FCM HTTP v1. Outcomes as in https://firebase.google.com/docs/cloud-messaging/error-codes.

const WITHIN = 10_000
const TIME_TO_LIVE = 24 * 60 * 60
const CONNECTIONS = 32
// In bytes. FCM takes 4 KiB in all, and would blame the token of a message that is longer.
const LONGEST_TITLE = 400
const LONGEST_BODY = 1_600

interface Fault { error?: { status?: string, message?: string, details?: { '@type'?: string, errorCode?: string, fieldViolations?: { field?: string }[] }[] } }

/** Sends over as few connections as the other side allows: HTTP/2 where it speaks it, for there is one message to a request. */
export function createFcm ({ baseUrl, credential }: { baseUrl: string, credential: Credential }): Provider {
  const agent = new Agent({ allowH2: true, connections: CONNECTIONS, connect: { timeout: 5_000 }, headersTimeout: WITHIN, bodyTimeout: WITHIN })
  const address = `${baseUrl.replace(/\/$/, '')}/v1/projects/${credential.projectId}/messages:send`

  async function attempt (body: string) {
    const token = await credential.token()
    const response = await request(address, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
      body,
      signal: AbortSignal.timeout(WITHIN)
    })
    return { token, status: response.statusCode, retryAfter: response.headers['retry-after'], text: await response.body.text() }
  }

  return {
    async send (push) {
      const body = JSON.stringify({ message: messageOf(push) })
      try {
        let answer = await attempt(body)
        if (answer.status === 401) {
          credential.renew(answer.token)
          answer = await attempt(body)
        }
        return judge(answer)
      } catch (error) {
        // Perhaps it was taken all the same; under one collapse id the second replaces the first.
        const { name, code, message } = error as Error & { code?: string }
        return { is: 'later', reason: name === 'TimeoutError' ? 'no answer within 10 s' : code ?? message }
      }
    },
    close: async () => await agent.destroy()
  }
}

export function messageOf ({ token, collapseId, title, body, data, badge, urgent }: Push) {
  return {
    token,
    notification: { title: shorten(title, LONGEST_TITLE), body: shorten(body, LONGEST_BODY) },
    data,
    android: {
      collapse_key: collapseId,
      priority: urgent ? 'HIGH' : 'NORMAL',
      ttl: `${TIME_TO_LIVE}s`,
      // What is shown already is replaced by a push of the same tag.
      notification: { tag: collapseId }
    },
    apns: {
      headers: {
        'apns-collapse-id': collapseId,
        'apns-push-type': 'alert',
        'apns-priority': urgent ? '10' : '5',
        'apns-expiration': String(Math.floor(Date.now() / 1_000) + TIME_TO_LIVE)
      },
      payload: { aps: { sound: 'default', badge } }
    }
  }
}

const graphemes = new Intl.Segmenter()

/** The beginning of a text that is at most so many bytes long, cut between what people see as characters. */
export function shorten (text: string, most: number) {
  if (Buffer.byteLength(text) <= most) return text
  let short = ''
  let left = most - Buffer.byteLength('…')
  for (const { segment } of graphemes.segment(text)) {
    left -= Buffer.byteLength(segment)
    if (left < 0) break
    short += segment
  }
  return `${short}…`
}

function judge ({ status, retryAfter, text }: { status: number, retryAfter: string | string[] | undefined, text: string }): Outcome {
  if (status === 200) return { is: 'sent' }
  const { error = {} } = parse(text)
  const code = error.details?.find((each) => each.errorCode)?.errorCode ?? error.status ?? ''
  const reason = `${status} ${code}`.trim()
  // Not every 404: with a wrong project or address all tokens would seem dead.
  if (code === 'UNREGISTERED' || code === 'SENDER_ID_MISMATCH') return { is: 'dead', reason }
  if (status === 400) {
    // Our messages are of one shape and below the limit, so what is wrong is the token, unless FCM names something else.
    const named = error.details?.flatMap((each) => each.fieldViolations?.map(({ field = '' }) => field) ?? []) ?? []
    const isToken = code === 'INVALID_ARGUMENT' && (named.length === 0 || named.some((field) => field.includes('token')))
    return isToken ? { is: 'dead', reason } : { is: 'refused', reason: [reason, ...named].join(' ') }
  }
  const wait = readRetryAfter(retryAfter)
  return { is: 'later', reason, ...wait !== undefined && { wait } }
}

function parse (text: string): Fault {
  try {
    return JSON.parse(text) as Fault
  } catch {
    return {}
  }
}

/** Retry-After in milliseconds: it is in seconds, or a date. */
export function readRetryAfter (header: string | string[] | undefined, now = Date.now()) {
  const text = [header].flat()[0]?.trim()
  if (!text) return
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
