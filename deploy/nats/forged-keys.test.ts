import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { handleRpc, connectBus, startRpcHandlers } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import { testDatabase } from '@tandem/database-kit/testing'
import { startNats, startProcess } from '@tandem/test-kit'
import { signKeySet } from '@tandem/http-kit'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
import { createRootKey } from '@tandem/http-kit/testing'
import t from 'tap'
import { givenSigningKey, quiet, root } from './testing.ts'

t.test('a service rejects keys from anyone but identity, even where NATS would deliver them', async (t) => {
  const media = await mkdtemp(path.join(tmpdir(), 'tandem-forged-'))
  t.teardown(() => rm(media, { recursive: true, force: true }))
  const [nats, { url }] = await Promise.all([startNats(t), testDatabase(t, path.join(root, 'services/fitmatch'))])
  const [rootKey, anotherRoot] = [createRootKey(), createRootKey()]
  const [real, forged] = [givenSigningKey(), givenSigningKey()]
  const join = async (key: typeof real, by: typeof rootKey) => {
    const bus = connectBus(nats.url, { service: 'identity', log: quiet })
    t.teardown(() => bus.close())
    let asked = 0
    startRpcHandlers(bus, [handleRpc(SigningKeys, async () => {
      asked++
      return await signKeySet([key.published], Date.now(), by.privateKey)
    })])
    return { bus, asked: () => asked }
  }
  const attacker = await join(forged, anotherRoot)
  const fitmatch = await startProcess(t, 'services/fitmatch/main.ts', {
    DATABASE_URL: url,
    NATS_URL: nats.url,
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicText,
    CDN_URL: 'http://cdn.example',
    MEDIA_DIR: path.join(media, 'media'),
    MEDIA_SIGNING_KEY: mediaSigningKey,
    LOG_LEVEL: 'fatal'
  }, { until: 'live' })
  const statusFor = async (token: string) =>
    (await fetch(`http://127.0.0.1:${fitmatch.port}/fitmatch/profile`, {
      headers: { authorization: `Bearer ${token}` }
    })).status

  while (attacker.asked() === 0) await sleep(20)
  t.equal(await statusFor(forged.token), 503, 'no keys are known yet')
  t.equal(await statusFor(real.token), 503)
  await attacker.bus.close()

  const identity = await join(real, rootKey)
  while (await statusFor(real.token) === 503) await sleep(50)
  t.equal(await statusFor(real.token), 200)
  t.equal(await statusFor(forged.token), 401)
  await identity.bus.close()
  t.equal(await statusFor(real.token), 200, 'and goes on without identity')
})
