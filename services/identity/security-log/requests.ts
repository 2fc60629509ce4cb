import { AsyncLocalStorage } from 'node:async_hooks'
import { networkOf, type Server } from '@tandem/service-kit'

interface TrackedRequest { id: string, ip: string, account?: { sessionId: string } }

const requests = new AsyncLocalStorage<TrackedRequest>()

/** Makes the request that is being served known to `currentOrigin`. */
export function trackRequests (app: Server) {
  app.addHook('onRequest', (request, _reply, done) => requests.run(request, done))
}

/** Where the running code was called from: all null outside of any request, as from a command. */
export function currentOrigin () {
  const request = requests.getStore()
  return {
    sessionId: request?.account?.sessionId ?? null,
    network: request ? networkOf(request.ip) : null,
    requestId: request?.id ?? null
  }
}
