// It waits for a system that is slow to start. Its tests run side by side.
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import type { Teardown } from '@tandem/test-kit'
import { dummySystem, eventually } from './dummy-system.ts'
import { freePort } from '@tandem/local-servers/ports.ts'

t.jobs = 4

t.test('it reports an invalid setting in one line, and leaves nothing running', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const closedPort = await freePort()

  const cases: Array<[NodeJS.ProcessEnv, RegExp]> = [
    [{ PORT: 'eighty', REDIS_URL: 'http://example.com' }, /PORT must be.*\n.*REDIS_URL must be/],
    [{ PORT: String(port) }, /Port \d+ is taken by another program/],
    [{ HOST: '192.0.2.1' }, /HOST 192.0.2.1 is not an address of this machine/],
    [{ DATA_DIR: '/dev/null/data' }, /Cannot write to \/dev\/null\/data/],
    [
      { NATS_URL: `nats://127.0.0.1:${closedPort}`, DATABASE_URL: `postgres://ana:x@127.0.0.1:${closedPort}/x` },
      /NATS_URL: nats is unreachable.*\n.*DATABASE_URL: postgres is unreachable/
    ]
  ]
  for (const [env, line] of cases) {
    const system = dummySystem(t)
    const { ended, output } = system.launch({ env })
    t.equal(await ended, 1)
    t.match(output(), line)
    t.notMatch(output(), '    at ', 'the message has no stack')
  }
})

t.test('it stops if a service does not start, and shows its last log lines', async (t) => {
  const system = dummySystem(t)
  writeFileSync(
    path.join(system.root, 'services/social/main.ts'),
    'console.error("SECRET must be set"); process.exit(1)'
  )
  const { ended, output } = system.launch()
  t.equal(await ended, 1)
  t.match(output(), /social did not start \(exit code 1\):\n +SECRET must be set/)
})

t.test('it names a migration that fails', async (t) => {
  const system = dummySystem(t)
  mkdirSync(path.join(system.root, 'services/social/migrations'))
  writeFileSync(path.join(system.root, 'services/social/migrations/001-posts.sql'), 'create tabel posts ()')
  const { ended, output } = system.launch()
  t.equal(await ended, 1)
  t.match(output(), /social's schema: .*001-posts.*syntax error/)
})

/** A system whose social has no keys for 12 seconds, and then lacks places until `placesAtSecond`. */
function slowSystem (t: Teardown, placesAtSecond: number) {
  const system = dummySystem(t)
  writeFileSync(
    path.join(system.root, 'services/social/main.ts'),
    `import { createServer } from 'node:http'
    const startedAt = Date.now()
    process.on('disconnect', () => process.exit(0))
    process.on('SIGTERM', () => process.exit(0))
    createServer((request, response) => {
      const seconds = (Date.now() - startedAt) / 1_000
      response.statusCode = seconds < 12 ? 503 : 200
      const health = seconds < 12
        ? { down: ['keys'], reasons: { keys: 'the keys could not be fetched yet' } }
        : { down: seconds < ${placesAtSecond} ? ['places'] : [], reasons: { places: 'loading places, 40 %' } }
      response.end(JSON.stringify(health))
    }).listen(process.env.PORT, process.env.HOST)`
  )
  return system.launch()
}

t.test('it says what a slow service waits for, and is ready once nothing is missing', async (t) => {
  const { output } = slowSystem(t, 16)
  await eventually(() => {
    if (!output().includes('is ready')) throw new Error(output())
  })
  t.match(
    output(),
    /social: the keys could not be fetched yet[^]*social: loading places, 40 %[^]*Everything is available/
  )
})

t.test('it waits for what is missing for at most twenty seconds', async (t) => {
  const { output } = slowSystem(t, 600)
  await eventually(() => {
    if (!output().includes('is ready')) throw new Error(output())
  })
  t.match(output(), /social: loading places, 40 %/)
  t.notMatch(output(), /Everything is available/)
})
