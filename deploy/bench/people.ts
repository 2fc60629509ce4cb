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

/** Waits for the code in the newest email. */
export async function codeMailedTo (stack: Stack, email: string) {
  for (;;) {
    const response = await fetch(`${stack.mail.url}/api/mails?to=${encodeURIComponent(email)}`)
    const [mail] = await response.json() as { text: string }[]
    const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0]
    if (code) return code
    await sleep(50)
  }
}

interface Call {
  token?: string
  /** With it, the request can be repeated. */
  key?: string
  body?: object
}

/** One request through the gateway. @throws an error with the response, its status as the cause, unless it succeeds */
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
    const message = `${method} ${new URL(url).pathname} returned ${response.status}: ${await response.text()}`
    throw new Error(message, { cause: response.status })
  }
  return await response.json() as Body
}
