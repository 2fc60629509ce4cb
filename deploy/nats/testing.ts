import { generateKeyPairSync, randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseNatsUrl, STREAM_MANAGER_USER } from '@tandem/bus-kit'
import { ACCESS_TOKEN } from '@tandem/http-kit'
import { signToken } from '@tandem/http-kit/testing'
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

/** A key that signs access tokens, and a token signed with it. */
export function givenSigningKey () {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomUUID()
  const now = Math.floor(Date.now() / 1_000)
  const { issuer: iss, audience: aud } = ACCESS_TOKEN
  const claims = { iss, aud, sub: randomUUID(), sid: randomUUID(), role: 'USER', iat: now, exp: now + 900 }
  return { published: { ...publicKey.export({ format: 'jwk' }), kid }, token: signToken(claims, { kid }, privateKey) }
}
