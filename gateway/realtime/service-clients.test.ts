import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { FeedRequest } from '@tandem/contracts/realtime'
import t from 'tap'
import { createJsonClient, UnexpectedStatus } from '../identity/json-client.ts'
import { createServiceClients } from './service-clients.ts'

/** Reads for three connections at once, of which the service fails the one at `bad`, and with it those beside it. */
async function readTogether (status: number) {
  let requests = 0
  const { readFeed } = createServiceClients({ notification: 'http://notification', fitmatch: 'http://fitmatch' }, {
    async post (url, body) {
      requests++
      const { items } = body as { items: FeedRequest[] }
      if (items.some(({ after }) => after === 'bad')) throw new UnexpectedStatus(url, status)
      return { items: items.map(({ after = '' }) => ({ code: after })) }
    }
  })
  const read = await Promise.allSettled(
    ['one', 'bad', 'two'].map(async (after) => await readFeed({ token: 't', after }))
  )
  return { outcomes: read.map((each) => each.status), requests }
}

t.test('what a service cannot read for one connection does not fail those that are read with it', async (t) => {
  for (const status of [400, 500]) {
    t.strictSame(await readTogether(status), { outcomes: ['fulfilled', 'rejected', 'fulfilled'], requests: 4 })
  }
})

t.test('a connection whose page is too long does not fail those that are read with it', async (t) => {
  const service = createServer((request, response) => {
    void json(request).then((body) => {
      const { items } = body as { items: FeedRequest[] }
      const pages = items.map(({ after = '' }) => ({ code: after === 'bad' ? 'x'.repeat(900_000) : after }))
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ items: pages }))
    })
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const client = createJsonClient()
  t.teardown(async () => {
    await client.close()
    service.close()
  })
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const { readFeed } = createServiceClients({ notification: url, fitmatch: url }, client)
  const read = await Promise.all(
    [...Array<string>(10).fill('bad'), 'one'].map(async (after) => await readFeed({ token: 't', after }))
  )
  t.match(read.at(-1), { code: 'one' })
})

t.test('a service that is unavailable gets no further requests', async (t) => {
  t.strictSame(await readTogether(503), { outcomes: ['rejected', 'rejected', 'rejected'], requests: 1 })
})
