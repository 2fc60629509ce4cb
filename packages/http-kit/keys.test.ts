import { generateKeyPairSync } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { register } from 'prom-client'
import t from 'tap'
import { createKeySet } from './keys.ts'
import type { FetchedKeySet, PublicJwk } from './keys.ts'
import { silentLog } from './testing.ts'

const createJwk = (kid: string): PublicJwk => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
  alg: 'ES256'
})

const published = (keys: PublicJwk[], ageMs = 0) => ({ keys, issuedAt: Date.now() - ageMs })

t.test('concurrent lookups share one fetch', async (t) => {
  let fetched = 0
  const keys = createKeySet(async () => {
    fetched++
    await wait(20)
    return published([createJwk('a')])
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
    return published([createJwk('a')])
  }, silentLog)
  t.teardown(keys.close)
  await keys.find('a')
  for (const kid of ['x', 'y', 'z']) t.equal(await keys.find(kid), undefined)
  t.equal(fetched, 1)
})

t.test('a new key is found 30 s after the last fetch', async (t) => {
  const jwks = [createJwk('a')]
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const keys = createKeySet(async () => published(jwks), silentLog)
  t.teardown(keys.close)
  await keys.find('a')
  jwks.push(createJwk('b'))
  t.equal(await keys.find('b'), undefined)
  Date.now = () => now() + 30_000
  t.ok(await keys.find('b'))
})

t.test('before the first set a lookup throws, and fetching is retried soon', async (t) => {
  let up = false
  const keys = createKeySet(async () => {
    if (!up) throw new Error('unavailable')
    return published([createJwk('a')])
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
  const keys = createKeySet(async () => published(answer()), silentLog)
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

/** The names of the health checks that fail, with their reasons. */
async function listFailing (keys: FetchedKeySet) {
  const found: Record<string, string> = {}
  for (const [name, { check }] of Object.entries(keys.checks)) {
    await check().catch(({ message }: Error) => {
      found[name] = message
    })
  }
  return found
}

async function readSkew () {
  const [{ value } = { value: Number.NaN }] =
    (await register.getSingleMetric('process_clock_skew_seconds')!.get()).values
  return value
}

t.test('a process whose clock is wrong is not ready, and says so once a minute while it lasts', async (t) => {
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  let behindMs = 120_000
  Date.now = () => now() - behindMs
  const lines: { err: Error, clockSkewSeconds: number }[] = []
  const warn = (line: typeof lines[number]) => void lines.push({ ...line })
  const keys = createKeySet(async () => ({ keys: [createJwk('a')], issuedAt: now() }), { ...silentLog, warn } as never)
  t.teardown(keys.close)
  await t.rejects(keys.find('a'), { code: 'SERVICE_UNAVAILABLE' })
  t.match(await listFailing(keys), {
    keys: 'the keys that verify access tokens could not be fetched yet',
    clock: 'the clock of this process is 120 s behind'
  })
  t.ok(keys.checks['keys']?.required)
  t.equal(Math.round(await readSkew()), 120)

  await wait(700)
  t.match(lines, [{ err: { message: /check the clocks/ }, clockSkewSeconds: Number }], 'repeats are not logged')
  behindMs -= 59_500
  await wait(600)
  t.equal(lines.length, 2, 'but once a minute')

  behindMs = 0
  await wait(400)
  t.ok(await keys.find('a'))
  t.same(await listFailing(keys), {})
})

t.test('a clock that is ahead is as wrong, and a process that has keys goes on with them', async (t) => {
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const keys = createKeySet(async () => ({ keys: [createJwk('a')], issuedAt: now() }), silentLog)
  t.teardown(keys.close)
  t.ok(await keys.find('a'))
  Date.now = () => now() + 61_000
  await t.rejects(keys.find('unknown'), { code: 'SERVICE_UNAVAILABLE' })
  t.ok(await keys.find('a'))
  t.same(await listFailing(keys), { clock: 'the clock of this process is 61 s ahead' })
  t.notOk(keys.checks['clock']?.required)
})

t.test('a set older than the last one, or than a minute, is not accepted', async (t) => {
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  // Until then an unknown key is not looked up again.
  const advance = () => {
    const then = Date.now()
    Date.now = () => then + 31_000
  }
  const older = published([createJwk('a')])
  let answer = older
  const keys = createKeySet(async () => answer, silentLog)
  t.teardown(keys.close)
  t.ok(await keys.find('a'))
  advance()
  answer = published([createJwk('b')])
  t.ok(await keys.find('b'))
  for (const replayed of [older, published([createJwk('a')], 86_400_000)]) {
    answer = replayed
    advance()
    await t.rejects(keys.find('a'), { code: 'SERVICE_UNAVAILABLE' })
    t.ok(await keys.find('b'))
  }
})
