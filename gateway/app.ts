import { createServer } from '@tandem/service-kit'
import type { HealthChecks, Log, Server } from '@tandem/service-kit'
import { watchIdentity } from './identity/authentication.ts'
import type { Config } from './config.ts'
import { enableCors } from './pages/cross-origin.ts'
import { serveDocs } from './pages/docs.ts'
import { createJsonClient } from './identity/fetch-json.ts'
import { forward } from './proxy/forward.ts'
import { secureAnswers } from './proxy/headers.ts'
import { createHitCounter } from './rate-limits/counter.ts'
import { limitFloods, limitRoutes } from './rate-limits/limits.ts'
import { serveMedia } from './pages/media.ts'
import { serveMeta } from './pages/meta.ts'
import { serveDocument } from './pages/openapi.ts'
import { createUpstream } from './proxy/pools.ts'
import { serveResetPage } from './pages/reset-page.ts'
import { serviceNames } from './routes.ts'
import { serveSecurityText } from './pages/security-txt.ts'
import { proxyRoutes, timeoutMs } from './proxy/upstreams.ts'

/** The gateway, not yet listening. */
export async function createGateway (config: Config, log: Log, { loadShedding = true } = {}): Promise<Server> {
  const asker = createJsonClient()
  const identity = watchIdentity(config.upstreams.identity, config.IDENTITY_ROOT_PUBLIC_KEYS, asker, log)
  const hits = createHitCounter(config.REDIS_URL, log)
  const upstreams = serviceNames.map((name) => createUpstream(name, config.upstreams[name], log))

  // A service that is down is named, but takes down only what it serves. Without keys nobody can be let in at all.
  const checks: HealthChecks = {
    keys: { check: async () => identity.hasKeys(), required: true },
    redis: { check: async () => hits.isShared(), required: false },
    ...Object.fromEntries(serviceNames.map((name) =>
      [name, { check: () => asker.ask(new URL('/health/ready', config.upstreams[name]).href, 900), required: false }]))
  }

  const app = await createServer({
    name: 'gateway',
    log,
    keys: identity.keys,
    isRevoked: identity.isRevoked,
    trustProxy: config.TRUST_PROXY,
    checks,
    exposesFailingChecks: !config.isProduction,
    loadShedding,
    openapi: false
  })
  app.addHook('onClose', async () => {
    identity.close()
    hits.close()
    await Promise.all([asker.close(), ...upstreams.map((upstream) => upstream.close())])
  })

  try {
    secureAnswers(app)
    await enableCors(app, { origins: config.CORS_ORIGINS })
    if (config.flood) limitFloods(app, config.flood, { explains: config.explainsLimits })

    await app.register(serveMeta, config)
    await app.register(serveSecurityText, config)
    if (config.DOCS === 'on') await app.register(serveDocument, { upstreams: config.upstreams, asker, version: config.SERVER_VERSION, publicUrl: config.PUBLIC_URL })
    await app.register(serveMedia, { folder: config.MEDIA_DIR, cdnUrl: config.CDN_URL, publicUrl: config.PUBLIC_URL, signingKey: config.MEDIA_SIGNING_KEY })
    await app.register(serveResetPage)
    if (config.DOCS === 'on') await app.register(serveDocs)

    const [keeper] = upstreams.filter(({ name }) => name === 'identity')
    app.get('/.well-known/jwks.json', { config: { public: true } }, (request, reply) => {
      if (keeper) forward(request, reply, { upstream: keeper, path: '/.well-known/jwks.json', body: null, length: undefined, timeoutMs })
    })
    await app.register(async (scope) => {
      await limitRoutes(scope, { hits, explains: config.explainsLimits })
      await proxyRoutes(scope, { upstreams, limits: config.limits, writeLimits: config.writeLimits })
    })
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}
