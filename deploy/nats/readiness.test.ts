import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connectBus, handleRpc, startRpcHandlers } from '@tandem/bus-kit'
import { HiddenOrErased, SigningKeys } from '@tandem/contracts'
import { testDatabase } from '@tandem/database-kit/testing'
import { signKeySet } from '@tandem/http-kit'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
import { createRootKey } from '@tandem/http-kit/testing'
import { startNats, startProcess, until } from '@tandem/test-kit'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { connectStreamManager } from './streams.ts'
import { givenSigningKey, quiet, root } from './testing.ts'

interface Health {
  status: string
  down: string[]
  reasons?: Record<string, string>
}

/** FitMatch as a process, and an identity whose clock is `aheadMs` ahead. */
async function testService (t: Test, { aheadMs = 0 } = {}) {
  const media = await mkdtemp(path.join(tmpdir(), 'tandem-readiness-'))
  t.teardown(() => rm(media, { recursive: true, force: true }))
  const [nats, { db, url }] = await Promise.all([startNats(t), testDatabase(t, path.join(root, 'services/fitmatch'))])
  const rootKey = createRootKey()
  const { published, token } = givenSigningKey()
  const clock = { aheadMs }
  const fitmatch = await startProcess(t, 'services/fitmatch/main.ts', {
    DATABASE_URL: url,
    NATS_URL: nats.url,
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicText,
    CDN_URL: 'http://cdn.example',
    MEDIA_DIR: path.join(media, 'media'),
    MEDIA_SIGNING_KEY: mediaSigningKey
  }, { until: 'live' })
  const address = `http://127.0.0.1:${fitmatch.port}`
  const readHealth = async () => {
    const response = await fetch(`${address}/health/ready`)
    return { code: response.status, ...await response.json() as Health }
  }
  return {
    db,
    clock,
    readLog: fitmatch.readLog,
    readHealth,
    untilHealth: async (fits: (health: Health & { code: number }) => boolean) =>
      await until(async () => fits(await readHealth())),
    startIdentity () {
      const bus = connectBus(nats.url, { service: 'identity', log: quiet })
      t.teardown(() => bus.close())
      const sign = async () => await signKeySet([published], Date.now() + clock.aheadMs, rootKey.privateKey)
      startRpcHandlers(bus, [
        handleRpc(SigningKeys, sign),
        handleRpc(HiddenOrErased, async () => ({ at: new Date().toISOString(), departures: [], next: null }))
      ])
    },
    startStreams: () => t.teardown(connectStreamManager(nats.url, ['fitmatch'], quiet, { maxMib: 16 })),
    saveDraft: async () =>
      await fetch(`${address}/fitmatch/setup-draft`, {
        method: 'POST',
        headers: { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ step: 2 })
      })
  }
}

const { db, readHealth, untilHealth, startIdentity, startStreams, saveDraft } = await testService(t)

t.test('a service is not ready without the keys of identity or its stream, and names both', async (t) => {
  await untilHealth(({ down }) => down.includes('EVENTS_FITMATCH'))
  t.match(await readHealth(), {
    code: 503,
    down: ['EVENTS_FITMATCH', 'keys', 'erasure'],
    reasons: {
      EVENTS_FITMATCH: /no usable stream/,
      keys: 'the keys that verify access tokens could not be fetched yet'
    }
  })
  startIdentity()
  await untilHealth(({ down }) => !down.includes('keys'))
  t.equal((await readHealth()).code, 503)
  startStreams()
  await untilHealth(({ code, down }) => code === 200 && down.length === 0)
  t.equal((await saveDraft()).status, 200)
})

// The same service, which is ready now.
t.test('where the disk of Postgres is full, writes are 503, and a part of the health says so', async (t) => {
  await sql`create function fail() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(db)
  await sql`create trigger fail before insert on setup_drafts for each row execute function fail()`.execute(db)
  const refused = await saveDraft()
  t.match([refused.status, refused.headers.get('retry-after')], [503, '1'])
  t.match(await refused.json(), { success: false, code: 'SERVICE_UNAVAILABLE' })
  await untilHealth(({ down }) => down.length > 0)
  t.match(await readHealth(), {
    code: 200,
    down: ['postgres.disk'],
    reasons: { 'postgres.disk': 'the disk of Postgres is full' }
  })
})

t.test('a service whose clock is behind is not ready, and says why in its log', async (t) => {
  const { clock, readHealth, readLog, untilHealth, startIdentity, startStreams, saveDraft } = await testService(t, {
    aheadMs: 120_000
  })
  startIdentity()
  startStreams()
  await untilHealth(({ down }) => down.includes('clock') && !down.includes('EVENTS_FITMATCH'))
  t.match(await readHealth(), {
    code: 503,
    reasons: { clock: 'the clock of this process is 120 s behind' }
  })
  const refused = await saveDraft()
  t.match([refused.status, refused.headers.get('retry-after')], [503, '1'])
  t.match(await readLog(), 'check the clocks')
  clock.aheadMs = 0
  await untilHealth(({ code }) => code === 200)
  t.equal((await saveDraft()).status, 200)
})
