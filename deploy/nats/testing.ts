import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseNatsUrl, STREAM_MANAGER_USER } from '@tandem/bus-kit'
import { connect } from 'nats'
import { startNats, type Teardown, type SharedTestServer } from '@tandem/test-kit'
import { readMessaging, readRights } from './messaging.ts'
import { connectStreamManager } from './streams.ts'

export const root = path.resolve(import.meta.dirname, '../..')
export const quiet = { info () {}, warn () {}, error () {} }

/** NATS with the users and rights of Tandem, and their streams: `urlOf('social')` is what social gets as NATS_URL. */
export async function startSystemNats (t: Teardown): Promise<SharedTestServer> {
  const nats = await startNats(t, { rights: readRights(root) })
  const services = readMessaging(root).map(({ service }) => service)
  t.teardown(connectStreamManager(nats.urlOf(STREAM_MANAGER_USER), services, quiet))
  const operator = await connect(parseNatsUrl(nats.url))
  const { streams } = await operator.jetstreamManager()
  while ((await streams.names().next()).length < services.length) await sleep(20)
  await operator.close()
  return nats
}
