// A booking system. It sends the events that a test names, in batches, over several connections, some of them twice, and
// prints how its events were answered.
import { setTimeout as sleep } from 'node:timers/promises'

interface Plan {
  /** Addresses of replicas. */
  urls: string[]
  key: string
  events: object[]
}

const BATCH_SIZE = 40
const CONNECTIONS = 4

process.once('message', ({ urls, key, events }: Plan) => {
  const batches = Array.from(
    { length: Math.ceil(events.length / BATCH_SIZE) },
    (_, number) => events.slice(number * BATCH_SIZE, (number + 1) * BATCH_SIZE)
  )
  const counts: Record<string, number> = {}
  let next = 0

  async function sendBatches (url: string) {
    for (let batch = batches[next++]; batch; batch = batches[next++]) {
      const response = await send(url, batch)
      if (response.status === 429) await sleep(1_000)
      if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
      const { data } = await response.json() as { data: { results: { status: string }[] } }
      for (const { status } of data.results) counts[status] = (counts[status] ?? 0) + 1
    }
  }

  const send = async (url: string, batch: object[]) =>
    await fetch(`${url}/producers/events`, {
      method: 'POST',
      headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/cloudevents-batch+json' },
      body: JSON.stringify(batch)
    })

  void Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, number) => await sendBatches(urls[number % urls.length]!))
  )
    .then(() => process.send?.(counts, () => process.disconnect?.()))
})
