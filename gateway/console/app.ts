import { readFileSync } from 'node:fs'
import path from 'node:path'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import rateLimit from '@fastify/rate-limit'
import { isFeatureOn, readBrand } from '@tandem/brand-kit'
import { createServer, type Server } from '@tandem/http-kit'
import { Unavailable, type Log } from '@tandem/process-kit'
import type { ConsoleConfig } from './config.ts'
import { setLanguage } from './cookies.ts'
import { PageNotFound } from './errors.ts'
import { localPath, readForm } from './forms.ts'
import { guardRequests } from './guard.ts'
import { startPageOf } from './layout.ts'
import { sendProblem } from './problems.ts'
import { createServices } from './service-client.ts'
import { serveAppeals } from './pages/appeals.ts'
import { serveBroadcasts } from './pages/broadcasts.ts'
import { serveCalls } from './pages/calls.ts'
import { serveCases } from './pages/case.ts'
import { serveMessages } from './pages/messages.ts'
import { serveOperations } from './pages/operations.ts'
import { serveOptions } from './pages/options.ts'
import { servePasskeys } from './pages/passkeys.ts'
import { servePeople } from './pages/people.ts'
import { serveProducers } from './pages/producers.ts'
import { serveProposals } from './pages/proposals.ts'
import { serveQueue } from './pages/queue.ts'
import { serveStaff } from './pages/staff.ts'
import { serveSubscriptions } from './pages/subscriptions.ts'
import { serveSupport } from './pages/support.ts'
import { serveVerifications } from './pages/verifications.ts'
import { serveWebhooks } from './pages/webhooks.ts'
import { createPages, startVisit } from './visits.ts'

const all = [
  serveQueue,
  serveCases,
  servePeople,
  serveMessages,
  serveSubscriptions,
  serveAppeals,
  serveSupport,
  serveProposals,
  serveBroadcasts,
  serveOptions,
  serveProducers,
  serveCalls,
  serveOperations,
  serveStaff,
  serveWebhooks
]

const MAX_FORM_BYTES = 256 * 1024

// It accepts no access tokens: operators have a cookie, which identity verifies.
const noKeys = {
  find: async (): Promise<never> => {
    throw new Unavailable()
  },
  has: () => false,
  close () {}
}

/** The operators' console, not yet listening. It holds nothing: it fetches each page with the operator's token. */
export async function createConsole (config: ConsoleConfig, log: Log): Promise<Server> {
  const services = createServices(config.upstreams)
  const app = await createServer({
    name: 'console',
    log,
    keys: noKeys,
    trustProxy: config.TRUST_PROXY,
    bodyLimit: MAX_FORM_BYTES,
    exposesFailingChecks: false,
    maxEventLoopDelayMs: config.MAX_EVENT_LOOP_DELAY_MS,
    openapi: false,
    isPublic: true
  })
  app.addHook('onClose', async () => await services.close())
  guardRequests(app, config)
  await app.register(cookie)
  await app.register(formbody)
  await app.register(rateLimit, { global: false })
  serveAssets(app)
  serveCommon(app, { services })
  servePasskeys(app, { services })
  const pages = createPages(app, { services })
  for (const serve of all) serve(pages)
  if (isFeatureOn('fitmatch')) serveVerifications(pages)
  return app
}

const assets = {
  'style.css': 'text/css; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml'
}

/** Three files, as they were written. */
function serveAssets (app: Server) {
  for (const [name, type] of Object.entries(assets)) {
    const content = readFileSync(path.join(import.meta.dirname, 'assets', name))
    app.get(
      `/assets/${name}`,
      { config: { public: true, logged: false } },
      async (_request, reply) => reply.type(type).header('cache-control', 'private, max-age=300').send(content)
    )
  }
}

function serveCommon (app: Server, deps: Parameters<typeof startVisit>[0]) {
  const config = { public: true }

  app.get('/', { config }, async (request, reply) => {
    try {
      const { can } = await startVisit(deps, request)
      return reply.redirect(startPageOf(can))
    } catch (error) {
      return sendProblem(error, request, reply)
    }
  })

  app.post('/language', { config }, async ({ body }, reply) => {
    const form = readForm(body)
    const language = readBrand().texts.locales.find((each) => each === form.text('language'))
    if (language) setLanguage(reply, language)
    return reply.redirect(localPath(form.text('next')), 303)
  })

  app.get('/*', { config }, async (request, reply) => sendProblem(new PageNotFound(), request, reply))
}
