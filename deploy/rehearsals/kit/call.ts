import type { Stack } from './stack.ts'

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
