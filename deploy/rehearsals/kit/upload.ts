import { RequestFailed } from './call.ts'
import type { Stack } from './stack.ts'

interface Form {
  body: NonNullable<RequestInit['body']>
  headers?: Record<string, string>
}

/** Sends a form with a picture or a video. @returns its URL. @throws RequestFailed unless it succeeds */
export async function upload (
  { gateway }: { gateway: Pick<Stack['gateway'], 'url'> },
  route: string,
  { body, headers }: Form,
  { token, key }: { token: string, key?: string }
) {
  const response = await fetch(`${gateway.url}/api/mobile/v1${route}`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}`, ...(key && { 'idempotency-key': key }) },
    body,
    // Of a stream.
    duplex: 'half'
  })
  if (!response.ok) {
    throw new RequestFailed(`POST ${route} returned ${response.status}: ${await response.text()}`, response)
  }
  const { data } = await response.json() as { data: { url?: string, media?: { url: string } } }
  return data.media?.url ?? data.url ?? ''
}
