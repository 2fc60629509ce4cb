import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import type { Teardown } from '@tandem/test-kit'

interface Received {
  id: string
  at: number
  type: string
  timestamp: string
  data: Record<string, unknown>
}

type Answer = (response: ServerResponse, received: Received) => unknown

const accept: Answer = (response) => response.writeHead(204).end()

/** A server of another team. It verifies each webhook with the public library, and refuses what it cannot verify. */
export async function startReceiver (t: Teardown, { port = 0 } = {}) {
  const received: Received[] = []
  let verifier: Webhook | undefined
  let answer = accept
  let refused = 0
  let connections = 0

  async function receive (request: IncomingMessage, response: ServerResponse) {
    const body = await text(request)
    try {
      const { type, timestamp, data } = verifier!.verify(body, request.headers as Record<string, string>) as Received
      const webhook = { id: String(request.headers['webhook-id']), at: Date.now(), type, timestamp, data }
      received.push(webhook)
      answer(response, webhook)
    } catch {
      refused++
      response.writeHead(400).end()
    }
  }

  const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()))
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: opened } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.teardown(close)

  return {
    port: opened,
    url: `http://127.0.0.1:${opened}/hooks`,
    received,
    /** Of the webhooks, each once. */
    ids: () => [...new Set(received.map(({ id }) => id))],
    refused: () => refused,
    connections: () => connections,
    trust (secret: string) {
      verifier = new Webhook(secret)
    },
    answerWith (next: Answer = accept) {
      answer = next
    },
    close
  }
}
