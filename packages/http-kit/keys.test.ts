import { generateKeyPairSync } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { createKeySet } from './keys.ts'
import type { PublicJwk } from './keys.ts'
import { silentLog } from './testing.ts'

const createJwk = (kid: string): PublicJwk => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
  alg: 'ES256'
})

t.test('concurrent lookups share one fetch', async (t) => {
  let fetched = 0
  const keys = createKeySet(async () => {
    fetched++
    await wait(20)
    return [createJwk('a')]
  }, silentLog)
  t.teardown(keys.close)
  const found = await Promise.all(Array.from({ length: 50 }, () => keys.find('a')))
  t.ok(found.every((key) => key?.startsWith('-----BEGIN PUBLIC KEY-----')))
  t.equal(fetched, 1)
  t.ok(keys.has('a'))
})

t.test('unknown keys cost one fetch, not one each', async (t) => {
  let fetched = 0
  const keys = createKeySet(async () => {
    fetched++
    return [createJwk('a')]
  }, silentLog)
  t.teardown(keys.close)
  await keys.find('a')
  for (const kid of ['x', 'y', 'z']) t.equal(await keys.find(kid), undefined)
  t.equal(fetched, 1)
})

t.test('a new key is found 30 s after the last fetch', async (t) => {
  const published = [createJwk('a')]
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const keys = createKeySet(async () => published, silentLog)
  t.teardown(keys.close)
  await keys.find('a')
  published.push(createJwk('b'))
  t.equal(await keys.find('b'), undefined)
  Date.now = () => now() + 30_000
  t.ok(await keys.find('b'))
})

t.test('before the first set a lookup throws, and fetching is retried soon', async (t) => {
  let up = false
  const keys = createKeySet(async () => {
    if (!up) throw new Error('unavailable')
    return [createJwk('a')]
  }, silentLog)
  t.teardown(keys.close)
  await t.rejects(keys.find('a'), { code: 'SERVICE_UNAVAILABLE' })
  t.notOk(keys.has('a'))
  up = true
  await wait(400)
  t.ok(keys.has('a'), 'without a lookup')
})

t.test('the last good set stays in use while its source fails', async (t) => {
  let answer: () => PublicJwk[] = () => [createJwk('a')]
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const keys = createKeySet(async () => answer(), silentLog)
  t.teardown(keys.close)
  await keys.find('a')
  for (
    const broken of [
      () => {
        throw new Error('unavailable')
      },
      () => [],
      () => [{ kid: 'b', kty: 'oct', alg: 'HS256' }],
      () => [{ kid: 'b', kty: 'EC', crv: 'P-256', x: 'no', y: 'no' }]
    ]
  ) {
    answer = broken
    const then = Date.now()
    Date.now = () => then + 60_000
    await t.rejects(
      keys.find('unknown'),
      { code: 'SERVICE_UNAVAILABLE' },
      'a key that may be new is not rejected as forged'
    )
    t.ok(await keys.find('a'))
  }
})
