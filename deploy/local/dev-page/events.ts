import { parseNatsUrl } from '@tandem/bus-kit'
import { connect } from 'nats'
import type { Feed } from './feed.ts'

/** Shows every event in the moment it is published. It has no durable consumer: nothing waits for a page. */
export async function watchEvents (url: string, feed: Feed): Promise<() => Promise<void>> {
  const connection = await connect({ ...parseNatsUrl(url), maxReconnectAttempts: -1, waitOnFirstConnect: true })
  connection.subscribe('evt.>', {
    callback (error, message) {
      if (error) return
      try {
        feed.add('events', message.json<object>())
      } catch {
        // It is no JSON, so nobody can consume it.
      }
    }
  })
  return async () => await connection.close()
}
