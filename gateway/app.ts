import { createServer } from '@tandem/http-kit'
import type { Server } from '@tandem/http-kit'
import type { HealthChecks, Log } from '@tandem/process-kit'
import { watchIdentity } from './identity/authentication.ts'
import type { Config } from './config.ts'
import { enableCors } from './pages/cors.ts'
import { serveDocs } from './pages/docs.ts'
import { createJsonClient } from './identity/json-client.ts'
import { forward } from './proxy/forward.ts'
import { addSecurityHeaders } from './proxy/headers.ts'
import { createRedisCounter } from './rate-limits/counter.ts'
import { limitFloods, limitRoutes } from './rate-limits/limits.ts'
import { serveMedia } from './pages/media.ts'
import { serveMeta } from './pages/meta.ts'
import { serveOpenapi } from './pages/openapi.ts'
import { createUpstream } from './proxy/pools.ts'
import { serveResetPage } from './pages/reset-page.ts'
import { serviceNames } from './routes.ts'
import { serveSecurityText } from './pages/security-txt.ts'
import { proxyRoutes } from './proxy/proxy-routes.ts'

/** The gateway, not yet listening. */
export async function createGateway (config: Config, log: Log, { loadShedding = true } = {}): Promise<Server> {
  const jsonClient = createJsonClient()
  const identity = watchIdentity(config.upstreams.identity, config.IDENTITY_ROOT_PUBLIC_KEYS, jsonClient, log)
  const counter = createRedisCounter(config.REDIS_URL, log)
  const upstreams = serviceNames.map((name) => createUpstream(name, config.upstreams[name], log))

  // A service that is down is listed, but does not make the gateway unready. Without keys no token can be verified.
  const checks: HealthChecks = {
    keys: { check: async () => identity.hasHadKeys(), required: true },
    redis: { check: async () => counter.isShared(), required: false },
    ...Object.fromEntries(
      serviceNames.map((name) => [name, {
        check: () => jsonClient.get(new URL('/health/ready', config.upstreams[name]).href, 900),
        required: false
      }])
    )
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
    openapi: false,
    isPublic: true
  })
  app.addHook('onClose', async () => {
    identity.close()
    counter.close()
    await Promise.all([jsonClient.close(), ...upstreams.map((upstream) => upstream.close())])
  })

  try {
    addSecurityHeaders(app)
    await enableCors(app, { origins: config.CORS_ORIGINS })
    if (config.floodLimit) limitFloods(app, config.floodLimit, { showsRemedy: config.showsLimitRemedy })

    await app.register(serveMeta, config)
    await app.register(serveSecurityText, config)
    if (config.DOCS === 'on') {
      await app.register(serveOpenapi, {
        upstreams: config.upstreams,
        jsonClient,
        version: config.SERVER_VERSION,
        publicUrl: config.PUBLIC_URL
      })
    }
    await app.register(serveMedia, {
      folder: config.MEDIA_DIR,
      cdnUrl: config.CDN_URL,
      publicUrl: config.PUBLIC_URL,
      signingKey: config.MEDIA_SIGNING_KEY
    })
    await app.register(serveResetPage)
    if (config.DOCS === 'on') await app.register(serveDocs)

    const [identityUpstream] = upstreams.filter(({ name }) => name === 'identity')
    app.get(
      '/.well-known/jwks.json',
      { config: { public: true, logFields: { upstream: 'identity' } } },
      (request, reply) => {
        if (identityUpstream) {
          forward(request, reply, identityUpstream, '/.well-known/jwks.json')
        }
      }
    )
    await app.register(async (scope) => {
      await limitRoutes(scope, { counter, showsRemedy: config.showsLimitRemedy })
      await proxyRoutes(scope, { upstreams, limits: config.limits, writeLimits: config.writeLimits })
    })
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}
