import type { Socket } from 'node:net'
import { until } from '@tandem/test-kit'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

t.test('the gateway closes its idle connections, before a service that stops would', async (t) => {
  const { call, as, services } = await testGateway(t)
  let socket: Socket | undefined
  services.social.respondWith((_received, response) => {
    socket = response.socket ?? undefined
    // What services say of themselves: without a limit of its own, the gateway would keep the connection as long.
    response.writeHead(200, { 'keep-alive': 'timeout=72' }).end()
  })
  t.equal((await call('/api/mobile/v1/feed', { headers: as() })).status, 200)
  t.ok(socket)
  await until(() => socket?.readableEnded === true)
})
