import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from './logging.ts'
import { untilAvailable } from './transient.ts'

const log = createLogger('test', undefined, { write () {} })

t.test('a start waits for a server that does not listen yet', async (t) => {
  const server = createServer((socket) => socket.end())
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  let attempts = 0
  const started = untilAvailable(async () => {
    attempts++
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    return 'ready'
  }, log)
  while (attempts < 2) await sleep(5)
  server.listen(port, '127.0.0.1')
  t.equal(await started, 'ready')
})

t.test('a start fails at once with an error that waiting does not mend', async (t) => {
  let attempts = 0
  const start = untilAvailable(async () => {
    attempts++
    throw Object.assign(new Error('password authentication failed'), { code: '28P01' })
  }, log)
  await t.rejects(start, { code: '28P01' })
  t.equal(attempts, 1)
})
