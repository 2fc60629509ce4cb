// A bare `ws` server: the least that a connection, a frame and an open can cost.
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

export interface BareOrder {
  type: 'frames'
  frame: unknown
  count: number
}

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
setInterval(() => {
  for (const client of server.clients) client.send('{"type":"ping"}')
}, 25_000)

async function send ({ frame, count }: BareOrder) {
  for (let number = 0; number < count; number++) {
    for (const client of server.clients) client.send(JSON.stringify(frame))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

process.on('message', (order: BareOrder) => {
  void send(order).then(() => process.send?.({ result: undefined }))
})
process.once('disconnect', () => process.exit())
server.on('listening', () => process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
