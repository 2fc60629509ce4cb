// A gateway with fake services in a process of its own, so that its memory and CPU can be measured.
import { connectBus, publishSignal } from '@tandem/bus-kit/realtime'
import { realtimeGateway } from '../../../gateway/test/realtime.ts'
import { standardTimes } from '../../../gateway/realtime/times.ts'

/** What a scenario asks of it; each gets one response. */
export type GatewayOrder =
  | { type: 'tokens', count: number }
  | { type: 'frames', accountIds: string[], count: number }
  | { type: 'typing', accountIds: string[], count: number }
  | { type: 'drain' }

const natsUrl = process.env['NATS_URL'] ?? ''
const quiet = { info () {}, warn () {}, error () {} }
const large = '100000'
const gateway = await realtimeGateway({ teardown () {} }, {
  NATS_URL: natsUrl,
  FLOOD_LIMIT: 'off',
  REALTIME_MAX_CONNECTIONS: large,
  REALTIME_MAX_PER_ADDRESS: large,
  REALTIME_OPENS_PER_SECOND: large,
  REALTIME_DRAIN_SECONDS: process.env['REALTIME_DRAIN_SECONDS'] ?? '2'
}, standardTimes)
const notification = connectBus(natsUrl, { service: 'notification', log: quiet })
const fitmatch = connectBus(natsUrl, { service: 'fitmatch', log: quiet })
let logged = 0

async function carryOut (order: GatewayOrder): Promise<unknown> {
  switch (order.type) {
    case 'tokens':
      return Array.from({ length: order.count }, () => gateway.as().authorization.slice('Bearer '.length))
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
      return
    case 'drain':
      return await gateway.app.drainConnections()
  }
}

process.on('message', (order: GatewayOrder) => {
  void carryOut(order).then((result) => process.send?.({ result }))
})
process.send?.({ url: gateway.url })
