import type { FeedRequest } from '@tandem/contracts/realtime'
import t from 'tap'
import { UnexpectedStatus } from '../identity/json-client.ts'
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

t.test('a service that is unavailable gets no further requests', async (t) => {
  t.strictSame(await readTogether(503), { outcomes: ['rejected', 'rejected', 'rejected'], requests: 1 })
})
