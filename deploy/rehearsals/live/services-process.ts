// The fake services behind a measured gateway, and the publishers of its signals, in a process of their own.
import { connectBus, publishSignal } from '@tandem/bus-kit/realtime'
import { realtimeGateway } from '../../../gateway/test/realtime.ts'

/** What a scenario asks of it; each gets one response. */
export type ServicesOrder =
  | { type: 'environment' }
  | { type: 'tokens', count: number }
  | { type: 'log', count: number, bytes: number }
  | { type: 'frames', accountIds: string[], count: number }
  | { type: 'typing', accountIds: string[], count: number }

const natsUrl = process.env['NATS_URL'] ?? ''
const quiet = { info () {}, warn () {}, error () {} }
const gateway = await realtimeGateway({ teardown () {} })
const notification = connectBus(natsUrl, { service: 'notification', log: quiet })
const fitmatch = connectBus(natsUrl, { service: 'fitmatch', log: quiet })
let logged = 0

async function carryOut (order: ServicesOrder): Promise<unknown> {
  switch (order.type) {
    case 'environment':
      return gateway.env
    case 'tokens':
      return Array.from({ length: order.count }, () => gateway.as().authorization.slice('Bearer '.length))
    case 'log':
      for (let number = 0; number < order.count; number++) gateway.feed.log('x'.repeat(order.bytes))
      logged += order.count
      return
    case 'frames':
      for (let number = 0; number < order.count; number++) {
        gateway.feed.log('x'.repeat(300))
        logged++
        publishSignal(notification, order.accountIds.map((accountId) => [accountId, logged]))
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      return
    case 'typing':
      for (let number = 0; number < order.count; number++) {
        for (const to of order.accountIds) {
          const data = { matchId: to, isTyping: true }
          publishSignal(fitmatch, { to, frame: { type: 'chat.typing', at: new Date().toISOString(), data } })
        }
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
  }
}

process.on('message', (order: ServicesOrder) => {
  void carryOut(order).then((result) => process.send?.({ result }))
})
process.once('disconnect', () => process.exit())
process.send?.({})
