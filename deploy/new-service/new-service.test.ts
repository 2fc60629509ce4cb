import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connectBus, handleRpc, startRpcHandlers } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import { testDatabase } from '@tandem/database-kit/testing'
import { createRootKey } from '@tandem/http-kit/testing'
import { signKeySet } from '@tandem/http-kit'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { serviceNames } from '../../gateway/routes.ts'
import type * as localTesting from '@tandem/test-kit'
import { givenSigningKey, quiet } from '../nats/testing.ts'
import type * as natsTesting from '../nats/testing.ts'

const root = path.resolve(import.meta.dirname, '../..')
// tap has every Node process load its own modules, which other programs cannot.
const run = async (program: string, args: string[], cwd: string) => {
  try {
    return await promisify(execFile)('env', ['-u', 'NODE_OPTIONS', program, ...args], { cwd })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string, stderr: string }
    throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`)
  }
}

function copyTree (t: Test) {
  const copy = mkdtempSync(path.join(tmpdir(), 'tandem-new-service-'))
  t.teardown(() => rmSync(copy, { recursive: true, force: true }))
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--deduplicate'], {
    cwd: root,
    encoding: 'utf8'
  })
  for (const file of files.split('\n').filter(Boolean)) cpSync(path.join(root, file), path.join(copy, file))
  return copy
}

t.test('a new service compiles, passes its own tests, and serves and publishes behind the gateway', async (t) => {
  const copy = copyTree(t)
  await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], copy)
  const create = async (name: string) => await run(process.execPath, ['deploy/new-service/new-service.ts', name], copy)
  await create('orders')

  await t.rejects(create('orders'), { message: /exists already/ })
  await t.rejects(create('Orders'), { message: /lower-case/ })
  await t.rejects(create('goals'), { message: /dashboard serves \/goals/ })

  writeFileSync(
    path.join(copy, 'tsconfig.new.json'),
    JSON.stringify({
      extends: './tsconfig.json',
      include: ['services/orders', 'packages/contracts', 'gateway/routes.ts']
    })
  )
  // Each checker has its own copy of the types of libraries: one needs half of the memory and a third of the time.
  await run('env', ['GOGC=off', 'node_modules/.bin/tsc', '-p', 'tsconfig.new.json', '--checkers', '1'], copy)
  await run('node_modules/.bin/knip', ['--workspace', 'services/orders', '--no-progress', '--no-config-hints'], copy)
  await run(process.execPath, ['services/orders/notes/notes.test.ts'], copy)
  await run(process.execPath, ['services/orders/erasure.test.ts'], copy)

  // The copy's own servers and permissions: they know the new service.
  const { startProcess } = await import(
    path.join(copy, 'packages/test-kit/index.ts')
  ) as typeof localTesting
  const { startSystemNats } = await import(
    path.join(copy, 'deploy/nats/testing.ts')
  ) as typeof natsTesting
  const nats = await startSystemNats(t)
  const { db, url } = await testDatabase<{ outbox: { published_at: Date | null } }>(
    t,
    path.join(copy, 'services/orders')
  )
  const { rootKey, token, url: identityUrl } = await startIdentity(t, nats.urlOf('identity'))
  const environment = { IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicText, LOG_LEVEL: 'warn' }
  const service = await startProcess(t, 'services/orders/main.ts', {
    ...environment,
    DATABASE_URL: url,
    NATS_URL: nats.urlOf('orders')
  })
  const gateway = await startProcess(t, 'gateway/main.ts', {
    ...environment,
    ...Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, 'http://127.0.0.1:1'])),
    IDENTITY_URL: identityUrl,
    ORDERS_URL: `http://127.0.0.1:${service.port}`,
    REDIS_URL: 'redis://127.0.0.1:1'
  })

  const call = async (init: RequestInit = {}) =>
    await fetch(`http://127.0.0.1:${gateway.port}/api/mobile/v1/orders/notes`, {
      ...init,
      headers: { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' }
    })
  let response = await call({ method: 'POST', body: '{"content":"Run"}' })
  // Until the keys of identity arrive.
  while (response.status === 503) {
    await sleep(50)
    response = await call({ method: 'POST', body: '{"content":"Run"}' })
  }
  t.equal(response.status, 201)
  t.match(await (await call()).json(), { success: true, data: { notes: [{ content: 'Run' }] } })
  while (!(await db.selectFrom('outbox').select('published_at').executeTakeFirst())?.published_at) await sleep(50)
})

/** Provides the keys of a token over RPC and HTTP, in the place of identity. */
async function startIdentity (t: Test, natsUrl: string) {
  const [rootKey, { published, token }] = [createRootKey(), givenSigningKey()]
  const sign = async () => await signKeySet([published], Date.now(), rootKey.privateKey)
  const bus = connectBus(natsUrl, { service: 'identity', log: quiet })
  t.teardown(() => bus.close())
  startRpcHandlers(bus, [handleRpc(SigningKeys, sign)])

  const app = Fastify()
  app.get('/internal/signing-keys', async () => ({ signed: await sign() }))
  app.get('/internal/revoked-sessions', async () => ({ sessions: [], until: new Date().toISOString() }))
  t.teardown(() => app.close())
  return { rootKey, url: await app.listen({ host: '127.0.0.1', port: 0 }), token }
}
