import { Unavailable } from '@tandem/process-kit'

/** Removes URLs from the caches of the CDN. @throws Unavailable, and then the caches may still have them */
export type Purge = (urls: string[]) => Promise<void>

const TIMEOUT_MS = 5_000

/** @param endpoint takes `POST {"files": [url, …]}`, as Cloudflare does @param token sent as a bearer token, if given */
export const createPurge = (endpoint: string, token: string | undefined): Purge => async (files) => {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ files }),
    signal: AbortSignal.timeout(TIMEOUT_MS)
  }).catch((error: unknown) => {
    throw new Unavailable({ cause: error })
  })
  await response.arrayBuffer().catch(() => {})
  if (!response.ok) throw new Unavailable({ cause: new Error(`CDN_PURGE_URL returned ${response.status}`) })
}
