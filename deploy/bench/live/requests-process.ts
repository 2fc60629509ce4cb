// Sends requests from a process of its own: one that holds the clients' connections is busy with their frames.
import { measureRequests } from './requests.ts'

export type RequestsOrder = { type: 'start', url: string, token: string } | { type: 'stop' }

let stop: ReturnType<typeof measureRequests> | undefined

process.on('message', (order: RequestsOrder) => {
  if (order.type === 'stop') return void stop?.().then((result) => process.send?.({ result }))
  stop = measureRequests([order.url], order.token)
  process.send?.({})
})
process.once('disconnect', () => process.exit())
process.send?.({})
