import { BlockList, isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ConsoleConfig } from './config.ts'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "form-action 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'"
].join('; ')

const headers = {
  'content-security-policy': policy,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex'
}

type Guarded = Pick<ConsoleConfig, 'origin' | 'host' | 'CONSOLE_ALLOW'>

/** Sets the security headers, and refuses unknown addresses, other hosts, and forms of other sites. */
export function guardRequests (app: FastifyInstance, { origin, host, CONSOLE_ALLOW: ranges }: Guarded) {
  const isAllowed = createAllowList(ranges)

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers)
    if (request.url.startsWith('/health/')) return
    if (!isAllowed(request.ip)) return reply.code(403).type('text/plain').send('This address is not allowed here.\n')
    const isSafe = request.method === 'GET' || request.method === 'HEAD'
    if (request.headers.host !== host) {
      // Passkeys and cookies work on one host only, for example on localhost and not on 127.0.0.1.
      if (isSafe) return reply.redirect(`${origin}${request.url}`)
      return reply.code(403).type('text/plain').send('The console is at another address.\n')
    }
    if (!isSafe && !isFromConsole(request, origin)) {
      return reply.code(403).type('text/plain').send('This request does not come from the console.\n')
    }
  })
}

// Old browsers send no Sec-Fetch-Site, but an Origin with each POST.
function isFromConsole ({ headers }: FastifyRequest, origin: string) {
  const site = headers['sec-fetch-site']
  return site === undefined ? headers.origin === origin : site === 'same-origin'
}

function createAllowList (ranges: string[]) {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  // A dual-stack socket reports an IPv4 address as ::ffff:a.b.c.d, which BlockList understands.
  return (ip: string) => list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4')
}
