// Sends requests from a process of its own: one that holds the clients' connections is busy with their frames.
import { setTimeout as sleep } from 'node:timers/promises'
import { measureRequests } from './requests.ts'

export interface RequestsOrder {
  url: string
  token: string
  ms: number
}

process.on('message', async ({ url, token, ms }: RequestsOrder) => {
  const stop = measureRequests([url], token)
  await sleep(ms)
  process.send?.({ result: await stop() })
})
process.once('disconnect', () => process.exit())
process.send?.({})
