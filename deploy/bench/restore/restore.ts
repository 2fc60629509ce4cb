// Rehearses the backup and restore of docs/operations.md: of a consuming service, of a publishing service, then of the
// whole server. After each restore the rows must be those of the backup, and every mention must have exactly one
// notification.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Redis } from 'ioredis'
import { startNats, startRedis } from '@tandem/test-kit'
import { serviceNames as services } from '../../../gateway/routes.ts'
import { withStack, type Stack } from '../stack.ts'
import { prepareLeaver, type Leaver } from './leavers.ts'
import { prepareMentions, type Mentions } from './mentions.ts'
import { startDatabase } from './postgres.ts'
import {
  computeDigest,
  copySchema,
  raiseEventNumbers,
  restoreSchema,
  type Digest,
  type SchemaBackup
} from './schemas.ts'
import { recover, waitUntilConsumed } from './streams.ts'

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work) }
let failures = 0

try {
  await rehearse()
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
process.exit(failures === 0 ? 0 : 1)

async function rehearse () {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-restore-'))
  cleanups.push(async () => await rm(folder, { recursive: true, force: true }))
  const database = await startDatabase(folder)
  cleanups.push(database.stop)
  const [nats, redis] = [await startNats(t), await startRedis(t)]
  const environment = {
    DATABASE_URL: database.url,
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    SECRET: randomUUID(),
    // Backups never contain it, and it outlives them.
    LEDGER_DIR: path.join(folder, 'ledger')
  }
  const run = async (work: (stack: Stack) => Promise<void>) => await withStack(work, environment)
  const verify = async (stack: Stack, what: string) => {
    await waitUntilConsumed(database, nats.url, services)
    const { mentioned, notified } = await mentions.read(stack)
    check(isDeepStrictEqual(notified, mentioned), `${what} (${notified.length} of ${mentioned.length})`)
  }
  const verifyRows = async (name: string, names: readonly string[], expected: Digest) => {
    const digest = await database.withClient(async (client) => await computeDigest(client, names))
    const changed = Object.keys({ ...digest, ...expected }).filter((table) => digest[table] !== expected[table])
    check(
      changed.length === 0,
      `the rows of ${name} are those of the backup${changed.map((table) => `, not ${table}`).join('')}`
    )
  }

  const verifyGone = async (what: string, leaver: Leaver, names: readonly string[]) => {
    for (const name of names) {
      if (name !== 'identity') {
        check(await leaver.isBuriedIn(name), `${name} knows who had been erased before it is ready`)
      }
    }
    const left = await leaver.waitUntilGone(names)
    check(left.length === 0, `${what} erases again who had been erased since the backup ${left.join(' ')}`)
  }

  let mentions!: Mentions
  let eve!: Leaver
  let finn!: Leaver
  let backups!: Record<'notification' | 'social', SchemaBackup>
  await run(async (stack) => {
    mentions = await prepareMentions(stack)
    eve = await prepareLeaver(stack, database, { name: 'eve', follows: mentions.readerId })
    finn = await prepareLeaver(stack, database, { name: 'finn', follows: mentions.readerId })
    await mentions.write(stack, 60)
    await verify(stack, 'each mention creates one notification')
    const writing = mentions.write(stack, 40)
    backups = {
      notification: await copySchema(database, 'notification'),
      social: await copySchema(database, 'social')
    }
    await writing
    await verify(stack, 'so does each mention during the backups')
    await eve.erase(stack)
  })

  await restoreSchema(database, backups.notification)
  await verifyRows('notification', ['notification'], backups.notification.digest)
  await raiseEventNumbers(database, ['notification'])
  await recover(nats.url, 'consumers', 'notification')
  await run(async (stack) => {
    await verifyGone('notification', eve, ['notification'])
    await verify(stack, 'notification restored: it consumes the events since the backup again')
    await mentions.write(stack, 20)
    await verify(stack, 'and continues')
  })

  await restoreSchema(database, backups.social)
  await verifyRows('social', ['social'], backups.social.digest)
  await raiseEventNumbers(database, ['social'])
  await recover(nats.url, 'consumers', 'social')
  let backup!: Awaited<ReturnType<typeof database.startBackup>>
  await run(async (stack) => {
    await verifyGone('social', eve, ['social'])
    await verify(stack, 'social restored: no notification is created twice')
    ;[backup] = await Promise.all([database.startBackup('everything'), mentions.write(stack, 20)])
    await verify(stack, 'and continues, during a backup of the server')
  })

  // The system has stopped, so the digest is that of the moment at which the backup ends.
  const everything = await database.withClient(async (client) => await computeDigest(client, services))
  await backup.finish()
  await run(async (stack) => await finn.erase(stack))
  await database.restoreBackup('everything')
  await verifyRows('everything', services, everything)
  await raiseEventNumbers(database, services)
  await recover(nats.url, 'streams')
  const client = new Redis(redis.url)
  await client.flushall()
  client.disconnect()
  await run(async (stack) => {
    const left = await finn.waitUntilGone(services)
    check(
      left.length === 0,
      `everything restored: who had been erased since the backup is erased again ${left.join(' ')}`
    )
    await verify(stack, 'everything restored, streams deleted: no notification is created twice')
    await mentions.write(stack, 10)
    await verify(stack, 'and continues')
  })
}

function check (ok: boolean, what: string) {
  console.log(`${ok ? '✓' : '✗'} ${what}`)
  if (!ok) failures++
}
