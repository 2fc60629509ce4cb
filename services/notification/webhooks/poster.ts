import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { buildConnector } from 'undici'

const TIMEOUT_MS = 5_000
const MAX_RESPONSE_BYTES = 64 * 1024
const CONNECTIONS_PER_ORIGIN = 10
// What the public part of the IPv6 address space is so far.
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

export interface Webhook {
  url: string
  headers: Record<string, string>
  body: string
}

/** What came of an attempt. The receiver accepted the webhook if there is no error. */
export interface Attempt {
  status: number | null
  error: string | null
}

export interface Poster {
  /** Never throws. */
  post(webhook: Webhook): Promise<Attempt>
  close(): Promise<void>
}

export interface PosterOptions {
  /** Hosts that may have private addresses, and may be reached without TLS. */
  privateHosts: ReadonlySet<string>
  /** Every address of a host, for tests. */
  resolve?: (host: string) => Promise<string[]>
}

const resolveHost = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * Posts webhooks to addresses that operators entered, and to nothing inside: the address is checked where the connection
 * is opened, so a name that changes its address after a check gains nothing. It follows no redirects.
 */
export function createPoster (options: PosterOptions): Poster {
  let opening: ReturnType<typeof openAgent> | undefined

  async function attempt ({ url, headers, body }: Webhook): Promise<Attempt> {
    opening ??= openAgent(options)
    const { agent, request } = await opening
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await request(url, { method: 'POST', dispatcher: agent, headers, body, signal })
    const { statusCode: status } = response
    // The status is the answer. The rest is read only so that the connection can be used again.
    await response.body.dump({ limit: MAX_RESPONSE_BYTES, signal }).catch(() => {})
    if (status >= 200 && status < 300) return { status, error: null }
    return { status, error: status >= 300 && status < 400 ? 'redirects are not followed' : `status ${status}` }
  }

  return {
    async post (webhook) {
      try {
        return await attempt(webhook)
      } catch (error) {
        const { name, code, message } = error as Error & { code?: string }
        return { status: null, error: name === 'TimeoutError' ? 'no answer within 5 s' : code ?? message }
      }
    },
    close: async () => await (await opening)?.agent.destroy()
  }
}

async function openAgent (options: PosterOptions) {
  // Loaded with the first webhook, because most systems send none.
  const { Agent, buildConnector, request } = await import('undici')
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    connect: createGuardedConnector(buildConnector, options)
  })
  return { agent, request }
}

/** Opens connections to public addresses by TLS, and any to `privateHosts`. */
function createGuardedConnector (
  build: typeof buildConnector,
  { privateHosts, resolve = resolveHost }: PosterOptions
): buildConnector.connector {
  const lookupPublic: LookupFunction = (host, { all }, callback) => {
    void findPublicAddresses(host, resolve).then((found) => {
      const [first] = found
      if (all) callback(null, found)
      else callback(null, first!.address, first!.family)
    }, (error: Error) => callback(error, []))
  }
  const connectAnywhere = build({ timeout: TIMEOUT_MS })
  const connectPublicly = build({ timeout: TIMEOUT_MS, lookup: lookupPublic })

  return (options, callback) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1')
    if (privateHosts.has(host)) return connectAnywhere(options, callback)
    if (options.protocol !== 'https:') return callback(new Error('only https is allowed'), null)
    // An address is never looked up.
    if (isIP(host) && !isPublic(host)) return callback(notPublic(), null)
    connectPublicly(options, callback)
  }
}

/** @throws if one of them is not public: such a name is not one of a public server */
async function findPublicAddresses (host: string, resolve: (host: string) => Promise<string[]>) {
  const addresses = await resolve(host)
  if (addresses.length === 0 || !addresses.every((address) => isPublic(address))) throw notPublic()
  return addresses.map((address) => ({ address, family: isIP(address) }))
}

const notPublic = () => new Error('the address is not public')

/** Whether an IP address is on the public internet. IPv4 addresses inside IPv6 ones are not. */
export function isPublic (address: string) {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST)
}
