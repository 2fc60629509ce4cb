import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { createLogger } from '@tandem/process-kit'
import { createHooks } from '../hooks.ts'
import { createWebhookSecret } from '../webhook-signature.ts'

interface Teardown {
  teardown(work: () => unknown): unknown
}

interface Asked {
  type: string
  data: Record<string, unknown>
}

/** The answer, or only a `status`. `NO_ANSWER` holds the connection open, `DEAD` closes it. */
type Reply = object | string

/** A system of the operator that hooks ask. It verifies each question with the public library. */
export async function startHookProvider (t: Teardown) {
  const secret = createWebhookSecret()
  const verifier = new Webhook(secret)
  const asked: Asked[] = []
  let reply: Reply = { decision: 'allow' }

  async function answer (request: IncomingMessage, response: ServerResponse) {
    asked.push(verifier.verify(await text(request), request.headers as Record<string, string>) as Asked)
    if (reply === 'NO_ANSWER') return
    if (reply === 'DEAD') return response.destroy()
    if (typeof reply === 'object' && 'status' in reply) return response.writeHead(Number(reply.status)).end()
    response.end(typeof reply === 'string' ? reply : JSON.stringify(reply))
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo

  return {
    /** Every question that was signed with the secret, oldest first. */
    asked,
    replyWith (next: Reply) {
      reply = next
    },
    /** Hooks of which one is asked here, with a deadline for a busy machine. @param without of hooks that are asked */
    hooks: (name: string, without?: 'allow' | 'deny') =>
      createHooks(
        JSON.stringify({ [name]: { url: `http://127.0.0.1:${port}/`, secret, ...without && { without } } }),
        createLogger('test', 'silent'),
        { deadlineMs: 5_000 }
      )
  }
}
