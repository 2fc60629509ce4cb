import { readBrand } from '@tandem/brand-kit'
import { isIP } from 'node:net'
import path from 'node:path'
import staticFiles from '@fastify/static'
import Fastify, { type FastifyInstance } from 'fastify'
import type { MailCatcher } from '@tandem/local-servers/mail-catcher.ts'
import { serveBrandPreview } from '../brand-preview/serve.ts'
import { serveAccounts } from './accounts.ts'
import { createFeed, type Feed } from './feed.ts'
import { serveModules, servePage } from './modules.ts'
import { readRequestLines, watchRequests } from './requests.ts'
import { serveSampleApp } from './sample-app.ts'
import { serveStores, type Stores } from './stores.ts'

export interface DevPage {
  feed: Feed
  stop: () => Promise<void>
}

export interface DevPageOptions {
  host: string
  port: number
  dataDir: string
  /** The gateway as a browser reaches it that has opened this page at `hostname`. */
  gatewayUrl: (hostname: string) => string
  mail: MailCatcher | undefined
  /** The stand-ins of the stores, unless this system sells at real ones. */
  stores: Stores | undefined
}

const BASE_PATH = '/api/mobile/v1'
const KEEP_ALIVE_MS = 20_000

/**
 * The page for developers: mails, pushes, events, requests and accounts of this system as they happen, and the sample
 * app at /app/. It shows secrets to everybody who reaches it, so it is a part of the local launcher only.
 */
export async function startDevPage (
  { host, port, dataDir, gatewayUrl, mail, stores }: DevPageOptions
): Promise<DevPage> {
  const api = () => `${gatewayUrl('127.0.0.1')}${BASE_PATH}`
  const app = Fastify({ forceCloseConnections: true })
  const feed = createFeed()
  refuseForeignNames(app)

  serveMails(app, mail, feed)
  for (const topic of ['pushes', 'events', 'requests'] as const) app.get(`/api/${topic}`, () => feed.list(topic))
  app.get<{ Params: { id: string } }>(
    '/api/requests/:id',
    async ({ params }) => await readRequestLines(dataDir, params.id)
  )
  serveLive(app, feed)
  serveAccounts(app, { dataDir, api })
  if (stores) serveStores(app, stores, () => `${api()}/webhooks`)
  app.get('/config.json', ({ hostname }) => ({
    name: readBrand().brand.name,
    gateway: gatewayUrl(hostname),
    api: `${gatewayUrl(hostname)}${BASE_PATH}`,
    catchesMail: mail !== undefined,
    sells: stores !== undefined
  }))

  serveBrandPreview(app)
  serveModules(app)
  servePage(app, '/', path.join(import.meta.dirname, 'page/index.html'))
  await app.register(staticFiles, {
    root: path.join(import.meta.dirname, 'page'),
    prefix: '/page/',
    cacheControl: false
  })
  serveSampleApp(app)

  await app.listen({ host, port })
  const stopRequests = watchRequests(dataDir, feed)
  return {
    feed,
    async stop () {
      stopRequests()
      await app.close()
    }
  }
}

/** A website could point its own name at this address (DNS rebinding) and read mails and tokens. */
function refuseForeignNames (app: FastifyInstance) {
  app.addHook('onRequest', async ({ hostname }, reply) => {
    const name = hostname.replace(/^\[|\]$/g, '')
    if (isIP(name) || name === 'localhost' || name.endsWith('.local')) return
    await reply.code(403).send({ error: 'Open this page by its IP address, or as localhost' })
  })
}

function serveMails (app: FastifyInstance, mail: MailCatcher | undefined, feed: Feed) {
  mail?.onMail((each) => feed.add('mails', each))
  app.get<{ Querystring: { to?: string } }>('/api/mails', ({ query }) => mail?.mails(query.to) ?? [])
  app.delete('/api/mails', (_request, reply) => {
    mail?.clear()
    return reply.code(204).send()
  })
}

/** Server-sent events: the event is the topic, the data the item. */
function serveLive (app: FastifyInstance, feed: Feed) {
  app.get('/api/live', (request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    reply.raw.write(': open\n\n')
    const keepAlive = setInterval(() => reply.raw.write(': still here\n\n'), KEEP_ALIVE_MS)
    const unsubscribe = feed.subscribe((topic, item) => {
      reply.raw.write(`event: ${topic}\ndata: ${JSON.stringify(item)}\n\n`)
    })
    request.raw.on('close', () => {
      clearInterval(keepAlive)
      unsubscribe()
    })
  })
}
