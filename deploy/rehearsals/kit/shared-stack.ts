import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import processTest from 'tap'
import { startProvider } from './provider.ts'
import { withStack, type Stack } from './stack.ts'

const environment = {
  CONSOLE_PORT: '',
  LIKES_GATHER_SECONDS: '1',
  LIMIT_ACCOUNT_EMAIL_REVERT: '1000/1m',
  LIMIT_PROFILE: 'relaxed',
  METRICS_PORT: '0',
  WEBHOOK_PRIVATE_HOSTS: '127.0.0.1'
}

interface Shared {
  stack: Stack
  dataDir: string
  /** The metrics of the services and the gateway, before anybody used them. */
  exportedAtStart: string
  /** Whether the processes have sent spans. */
  hasSpans: () => boolean
  /** A token of provider A for an account there that has this address. */
  providerTokenOf: (email: string) => string
}

let shared: Promise<Shared> | undefined

/**
 * The system that all `*.system.test.ts` files of a process use, one after the other: a start takes twelve seconds of
 * processor time. Each file has people with addresses of its own, and finds those of others there.
 */
export async function sharedStack (): Promise<Shared> {
  shared ??= start()
  return await shared
}

async function start () {
  const [collector, provider] = await Promise.all([startCollector(), startProvider()])
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  return await new Promise<Shared>((resolve, reject) => {
    const running = withStack(async (stack, dataDir) => {
      resolve({
        stack,
        dataDir,
        exportedAtStart: await readMetrics(stack),
        hasSpans: collector.hasSpans,
        providerTokenOf: provider.tokenOf
      })
      await isOver
    }, { ...environment, ...provider.environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    running.catch(reject)
    processTest.teardown(async () => {
      end()
      await running
      collector.close()
      provider.close()
    })
  })
}

async function readMetrics ({ services, gateway }: Stack) {
  const texts = [...Object.values(services), gateway].map(async ({ metrics }) => await (await fetch(metrics!)).text())
  return (await Promise.all(texts)).join('\n')
}

/** What spans are exported to. */
async function startCollector () {
  let hasSpans = false
  const server = createServer((request, response) => {
    hasSpans = true
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, hasSpans: () => hasSpans, close: () => server.close() }
}
