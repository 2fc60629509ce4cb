import { connect, createServer, type AddressInfo } from 'node:net'
import type { Teardown } from '@tandem/test-kit'

export interface Balancer {
  url: string
  /** The ports of the processes that get new connections. */
  endpoints: Set<number>
}

/**
 * Balances connections round-robin, as the Service of a cluster does: it does not see requests, and an established
 * connection stays with its process.
 */
export async function startBalancer (t: Teardown): Promise<Balancer> {
  const endpoints = new Set<number>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const port = [...endpoints][turn++ % endpoints.size]
    if (port === undefined) return void client.destroy()
    const process = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    client.pipe(process).pipe(client)
    client.on('error', () => process.destroy())
    process.on('error', () => client.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, endpoints }
}
