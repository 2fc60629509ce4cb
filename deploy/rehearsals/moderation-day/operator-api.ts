// Operators without a browser: they call the services as the console does, with a token for each request.
import { setTimeout as sleep } from 'node:timers/promises'
import { createPasskey } from '../../../services/identity/test/passkey.ts'
import { callUrl } from '../kit/call.ts'
import type { Stack } from '../kit/stack.ts'

/** An operator who has signed in. */
export interface Operator {
  name: string
  /** The secret that the console keeps in a cookie. */
  session: string
}

export interface Action {
  type: 'DISMISS' | 'HIDE_CONTENT' | 'REMOVE_PHOTO' | 'WARN' | 'RESTRICT' | 'BAN'
  scope?: 'POSTING' | 'FITMATCH' | 'ALL'
  days?: number
  photoId?: string
}

export interface NewDecision {
  case: { service: string, id: string, version: number }
  accountId: string
  actions: Action[]
  reason: string
  statement: string
}

export interface OpenCase {
  id: string
  service: 'social' | 'fitmatch'
  targetType: string
  targetId: string
  accountId: string
  version: number
}

const identityOf = ({ services }: Stack) => services['identity']!.url

/** Adds a passkey with the link of an invitation. */
export async function enrollByApi (stack: Stack, name: string, link: string): Promise<Operator> {
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token')
  const { origin, hostname: host } = new URL(stack.console.url)
  const url = `${identityOf(stack)}/operator/enrollment`
  const { data: options } = await callUrl<{ data: { challenge: string } }>('POST', `${url}/options`, {
    body: { token }
  })
  const response = createPasskey({ origin, host }).create(options)
  const { data: { session } } = await callUrl<{ data: { session: string } }>('POST', url, { body: { token, response } })
  return { name, session }
}

async function issueToken (stack: Stack, { session }: Operator) {
  const { data: { token } } = await callUrl<{ data: { token: string } }>(
    'POST',
    `${identityOf(stack)}/operator/tokens`,
    { body: { session } }
  )
  return token
}

/** The most urgent fifty open cases of each service. */
export async function listOpenCases (stack: Stack, operator: Operator) {
  const token = await issueToken(stack, operator)
  const pages = await Promise.all((['social', 'fitmatch'] as const).map(async (service) => {
    const url = `${stack.services[service]!.url}/operator/cases?limit=50`
    const { data: { cases } } = await callUrl<{ data: { cases: OpenCase[] } }>('GET', url, { token })
    return cases.map((each) => ({ ...each, service }))
  }))
  return pages.flat()
}

const RETRY_INTERVAL_MS = 200
const MAX_RETRIES_MS = 120_000

/**
 * Decides a case; again while a process is down or busy, whether or not the attempt before has decided it.
 * @returns when the response came; undefined if it was decided meanwhile, by this operator or another
 */
export async function decide (stack: Stack, operator: Operator, body: NewDecision) {
  const until = Date.now() + MAX_RETRIES_MS
  for (;;) {
    try {
      const token = await issueToken(stack, operator)
      await callUrl('POST', `${identityOf(stack)}/operator/decisions`, { token, body })
      return Date.now()
    } catch (error) {
      const { cause } = error as Error
      if (cause === 409) return undefined
      // The cause is no status if there was no response.
      if ((typeof cause === 'number' && cause !== 503) || Date.now() > until) throw error
      await sleep(RETRY_INTERVAL_MS)
    }
  }
}
