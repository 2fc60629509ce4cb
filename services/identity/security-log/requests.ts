import { AsyncLocalStorage } from 'node:async_hooks'
import { networkOf } from '@tandem/account-kit'
import type { Server } from '@tandem/http-kit'

interface TrackedRequest {
  id: string
  ip: string
  account?: { sessionId: string }
}

const requests = new AsyncLocalStorage<TrackedRequest>()

/** Makes the current request available to `currentOrigin`. */
export function trackRequests (app: Server) {
  app.addHook('onRequest', (request, _reply, done) => requests.run(request, done))
}

/** The origin of the current request; all fields are null outside of a request, for example in an operator command. */
export function currentOrigin () {
  const request = requests.getStore()
  return {
    sessionId: request?.account?.sessionId ?? null,
    network: request ? networkOf(request.ip) : null,
    requestId: request?.id ?? null
  }
}
