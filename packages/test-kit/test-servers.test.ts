import { connect } from 'nats'
import { Redis } from 'ioredis'
import { createTransport } from 'nodemailer'
import t from 'tap'
import { startMail, startNats, startRedis } from './test-servers.ts'

t.test('a NATS server for tests can be killed, started and wiped at one address', async (t) => {
  const server = await startNats(t)
  const streams = async () => {
    const connection = await connect({ servers: server.url })
    const manager = await connection.jetstreamManager()
    const names = await manager.streams.names().next()
    if (names.length === 0) await manager.streams.add({ name: 'KEPT', subjects: ['kept'] })
    await connection.close()
    return names
  }
  t.same(await streams(), [])
  await server.kill()
  await t.rejects(connect({ servers: server.url, reconnect: false }))
  await server.start()
  t.same(await streams(), ['KEPT'])
  await server.wipe()
  t.same(await streams(), [])
})

t.test('a Redis server for tests keeps its data through a stop, and nothing through a wipe', async (t) => {
  const server = await startRedis(t)
  const client = new Redis(server.url, { retryStrategy: () => 20 })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())

  await client.set('kept', 'yes')
  await server.stop()
  await server.start()
  t.equal(await client.get('kept'), 'yes')
  await server.wipe()
  t.equal(await client.get('kept'), null)
})

t.test('mails can be read by address and rejected, and are kept through a stop', async (t) => {
  const server = await startMail(t)
  const transport = createTransport(server.smtpUrl)
  const send = async (to: string) =>
    await transport.sendMail({
      from: 'tandem@example.com',
      to,
      subject: `Für ${to}`,
      text: 'Your code is 123456',
      html: '<b>123456</b>'
    })

  await send('Ana@example.com')
  await send('ben@example.com')
  t.match(server.mails('ana@example.com'), [{
    to: ['ana@example.com'],
    subject: 'Für Ana@example.com',
    text: /123456/,
    html: '<b>123456</b>'
  }])
  t.equal(server.mails().length, 2)

  server.rejectWith(451)
  await t.rejects(send('ana@example.com'), /451/)
  server.rejectWith()
  await server.stop()
  await t.rejects(send('ana@example.com'))
  await server.start()
  t.equal(server.mails('ben@example.com').length, 1)
})
