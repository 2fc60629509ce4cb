import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Redis } from 'ioredis'

/** A Redis of the test's own. */
export async function startRedis (t: { teardown (work: () => unknown): unknown }) {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  let server: ChildProcess | undefined
  const url = `redis://127.0.0.1:${port}`
  const self = {
    url,
    async start () {
      server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'], { stdio: 'ignore' })
      await self.command('PING')
    },
    async stop () {
      server?.kill('SIGTERM')
      if (server) await once(server, 'exit')
    },
    freeze: () => server?.kill('SIGSTOP'),
    thaw: () => server?.kill('SIGCONT'),
    async command (...words: string[]) {
      const redis = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: 100 })
      redis.on('error', () => {})
      const answer = await redis.call(words[0]!, words.slice(1))
      redis.disconnect()
      return answer
    }
  }
  t.teardown(() => server?.kill('SIGKILL'))
  await self.start()
  return self
}
