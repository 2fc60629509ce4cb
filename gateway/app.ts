import { isFeatureOn, readLimits } from '@tandem/brand-kit'
import { createServer, LONG_REQUEST_TIMEOUT_MS } from '@tandem/http-kit'
import type { Server } from '@tandem/http-kit'
import type { HealthChecks, Log } from '@tandem/process-kit'
import { watchIdentity } from './identity/authentication.ts'
import type { Identity } from './identity/authentication.ts'
import type { Config } from './config.ts'
import { serveAsyncapi } from './pages/asyncapi.ts'
import { serveDocs } from './pages/docs.ts'
import { createJsonClient } from './identity/json-client.ts'
import type { JsonClient } from './identity/json-client.ts'
import { forward } from './proxy/forward.ts'
import { createRedisCounter } from './rate-limits/counter.ts'
import type { RateCounter } from './rate-limits/counter.ts'
import { limitFloods, limitRoutes } from './rate-limits/limits.ts'
import { serveHtmlPages } from './pages/html-pages.ts'
import { serveMedia } from './pages/media.ts'
import { serveMeta } from './pages/meta.ts'
import { serveOpenapi } from './pages/openapi.ts'
import { ignorePipelined, refusePipelined } from './proxy/pipelining.ts'
import { createUpstream } from './proxy/pools.ts'
import type { Upstream } from './proxy/pools.ts'
import { prepareResponses } from './proxy/respond.ts'
import { isRealtimeUpgrade } from './realtime/upgrade.ts'
import { serveRealtime } from './realtime/routes.ts'
import { standardTimes, type Times } from './realtime/times.ts'
import { serviceNames } from './routes.ts'
import type { ServiceName } from './routes.ts'
import { requireAppVersion } from './app-version.ts'
import { serveAppLinks } from './pages/app-links.ts'
import { serveSecurityText } from './pages/security-txt.ts'
import { proxyRoutes } from './proxy/proxy-routes.ts'

interface GatewayOptions {
  /** For tests. */
  realtimeTimes?: Times
}

/** The gateway, not yet listening. */
export async function createGateway (
  config: Config,
  log: Log,
  { realtimeTimes = standardTimes }: GatewayOptions = {}
): Promise<Server> {
  const jsonClient = createJsonClient()
  const identity = watchIdentity(config.upstreams.identity, config.IDENTITY_ROOT_PUBLIC_KEYS, jsonClient, log)
  const counter = createRedisCounter(config.REDIS_URL, log)
  const byName = (name: ServiceName) => [name, createUpstream(name, config.upstreams[name], log)]
  const upstreams = Object.fromEntries(serviceNames.map(byName)) as Record<ServiceName, Upstream>

  const app = await createServer({
    name: 'gateway',
    log,
    keys: identity.keys,
    isRevoked: identity.isRevoked,
    // Each service decides; identity serves them.
    acceptsRestricted: true,
    trustProxy: config.TRUST_PROXY,
    checks: createChecks(config, { identity, counter, jsonClient }),
    exposesFailingChecks: !config.isProduction,
    maxEventLoopDelayMs: config.MAX_EVENT_LOOP_DELAY_MS,
    openapi: false,
    longestRequestMs: LONG_REQUEST_TIMEOUT_MS,
    isPublic: true,
    acceptsUpgrade: isRealtimeUpgrade,
    onArrival: [
      refusePipelined,
      ...config.floodLimit ? [limitFloods(config.floodLimit, { showsRemedy: config.showsLimitRemedy })] : [],
      requireAppVersion(config)
    ]
  })
  app.addHook('onClose', async () => {
    identity.close()
    counter.close()
    await Promise.all([jsonClient.close(), ...Object.values(upstreams).map((upstream) => upstream.close())])
  })

  try {
    prepareResponses(app, { origins: config.CORS_ORIGINS })
    ignorePipelined(app.server, app.heldBytes)
    await addPages(app, config, jsonClient)
    app.get('/.well-known/jwks.json', {
      config: { public: true, logFields: { upstream: 'identity' } },
      handler: (request, reply) => forward(request, reply, upstreams.identity, '/.well-known/jwks.json')
    })
    await serveRealtime(app, { config, identity, jsonClient, log, times: realtimeTimes })
    await app.register(async (scope) => {
      await limitRoutes(scope, { counter, showsRemedy: config.showsLimitRemedy })
      await proxyRoutes(scope, {
        upstreams: Object.values(upstreams),
        maxVideoMegabytes: isFeatureOn('video') ? readLimits().videoMegabytes : 0,
        limits: config.limits,
        writeLimits: config.writeLimits
      })
    })
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}

interface Clients {
  identity: Identity
  counter: RateCounter
  jsonClient: JsonClient
}

/**
 * A service that is down is listed, but does not make the gateway unready; of one that is up, its failing checks are
 * listed. Without keys no token can be verified.
 */
function createChecks ({ upstreams }: Config, { identity, counter, jsonClient }: Clients): HealthChecks {
  const checkService = (name: ServiceName) => ({
    check: async () => {
      const { down = [] } = await jsonClient.get(new URL('/health/ready', upstreams[name]).href, 900) as {
        down?: string[]
      }
      return down
    },
    required: false
  })
  return {
    ...identity.keys.checks,
    redis: { check: async () => counter.isShared(), required: false },
    ...Object.fromEntries(serviceNames.map((name) => [name, checkService(name)]))
  }
}

/** Adds what the gateway serves itself. */
async function addPages (app: Server, config: Config, jsonClient: JsonClient) {
  await app.register(serveMeta, config)
  await app.register(serveSecurityText, config)
  await app.register(serveAppLinks, config)
  await app.register(serveMedia, {
    folder: config.MEDIA_DIR,
    cdnUrl: config.CDN_URL,
    publicUrl: config.PUBLIC_URL,
    signingKey: config.MEDIA_SIGNING_KEY
  })
  await app.register(serveHtmlPages, config)
  if (config.DOCS === 'off') return
  await app.register(serveOpenapi, {
    upstreams: config.upstreams,
    jsonClient,
    version: config.SERVER_VERSION,
    publicUrl: config.PUBLIC_URL
  })
  await app.register(serveAsyncapi, config)
  await app.register(serveDocs)
}
