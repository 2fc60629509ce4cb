import { setTimeout as sleep } from 'node:timers/promises'
import type { Stack } from './stack.ts'

export interface Member {
  email: string
  password: string
  accessToken: string
}

/** Registers a person and verifies them with the code from the email, as an app does. */
export async function becomeMember (stack: Stack, email: string): Promise<Member> {
  const password = 'Correct-horse-7'
  const { accessToken, user } = await call<{ accessToken: string, user: { id: string } }>(
    stack,
    'POST',
    '/auth/register',
    { body: { email, password } }
  )
  await call(stack, 'POST', '/auth/verify-email', { body: { userId: user.id, code: await codeMailedTo(stack, email) } })
  return { email, password, accessToken }
}

/** Waits for the code in the newest email, unless it is `known` already. */
export async function codeMailedTo (stack: Stack, email: string, known?: string) {
  for (;;) {
    const code = await newestCode(stack, email)
    if (code && code !== known) return code
    await sleep(50)
  }
}

/** The code in the newest email; undefined if there is none. */
export const newestCode = async (stack: Stack, email: string) => /\b\d{6}\b/.exec(await newestMail(stack, email))?.[0]

/** Waits for the link in the newest email. */
export async function linkMailedTo (stack: Stack, email: string) {
  for (;;) {
    const [link] = /\bhttps?:\S+/.exec(await newestMail(stack, email)) ?? []
    if (link) return link
    await sleep(50)
  }
}

async function newestMail (stack: Stack, email: string) {
  const response = await fetch(`${stack.mail.url}/api/mails?to=${encodeURIComponent(email)}`)
  const [mail] = await response.json() as { text: string }[]
  return mail?.text ?? ''
}

interface Call {
  token?: string
  /** With it, the request can be repeated. */
  key?: string
  body?: object
}

/** A response that is no success. Its status is also the cause. */
export class RequestFailed extends Error {
  readonly status: number
  /** From Retry-After. */
  readonly retryAfterMs: number | undefined

  constructor (message: string, { status, headers }: Response) {
    super(message, { cause: status })
    this.status = status
    const seconds = headers.get('retry-after')
    this.retryAfterMs = seconds === null ? undefined : Number(seconds) * 1_000
  }
}

/** One request through the gateway. @throws RequestFailed unless it succeeds */
export const call = async <Body>({ gateway }: Stack, method: string, route: string, sent?: Call) =>
  await callUrl<Body>(method, `${gateway.url}/api/mobile/v1${route}`, sent)

/** One request to any process. @throws as `call` */
export async function callUrl<Body> (method: string, url: string, { token, key, body }: Call = {}) {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(key && { 'idempotency-key': key }),
      ...(body && { 'content-type': 'application/json' })
    },
    ...(body && { body: JSON.stringify(body) })
  })
  if (!response.ok) {
    throw new RequestFailed(
      `${method} ${new URL(url).pathname} returned ${response.status}: ${await response.text()}`,
      response
    )
  }
  return await response.json() as Body
}
