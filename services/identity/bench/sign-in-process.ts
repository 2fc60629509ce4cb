// One side of the comparison in sign-in.ts, by its argument: the service at default settings, which reports its Service,
// or password hashes alone, which reports the number of hashes for each Load that it gets.
import argon2 from 'argon2'
import { connectBus, startRelay, startStreamManager, STREAM_MANAGER_USER } from '@tandem/bus-kit'
import { createKeySet } from '@tandem/http-kit'
import { createLogger } from '@tandem/process-kit'
import { startNats } from '@tandem/test-kit'
import { openLogFile } from '@tandem/test-kit/measure'
import { createApp } from '../app.ts'
import { readKeySet } from '../keys/queries.ts'
import { password, testApp } from '../test/app.ts'
import { repeat, type Load } from './repeat.ts'

/** Where the service takes requests, and the addresses whose accounts can sign in with the password of the tests. */
export interface Service {
  url: string
  emails: string[]
}

const ACCOUNTS = 64
const closing: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => closing.unshift(close) }
process.on('disconnect', async () => {
  for (const close of closing) await close()
  process.exit()
})
process.send?.(process.argv[2] === 'hash' ? await hashAlone() : await serve())

async function hashAlone () {
  const hash = await argon2.hash(password, { type: argon2.argon2id, memoryCost: 12_288, timeCost: 3, parallelism: 1 })
  process.on('message', async (load: Load) => {
    process.send?.(await repeat(load, async () => await argon2.verify(hash, password)))
  })
  return 'ready'
}

async function serve (): Promise<Service> {
  // Closed last: whatever is closed before it still logs.
  const log = createLogger('identity', undefined, openLogFile(t))
  const nats = await startNats(t)
  const { db, deps, givenAccount } = await testApp(t)
  const keys = createKeySet(() => readKeySet(db), log)
  const app = await createApp(deps, { log, keys })
  const emails: string[] = []
  for (let each = 0; each < ACCOUNTS; each++) emails.push((await givenAccount()).email)
  const managing = connectBus(nats.url, { service: STREAM_MANAGER_USER, log })
  const manager = startStreamManager(managing, ['identity'])
  const bus = connectBus(nats.url, { service: 'identity', log })
  const relay = startRelay(bus, db)
  t.teardown(async () => {
    await Promise.all([manager.stop(), relay.stop()])
    await Promise.all([managing.close(), bus.close()])
  })
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), emails }
}
