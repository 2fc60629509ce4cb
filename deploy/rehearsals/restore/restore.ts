// Rehearses the backup and restore of docs/operations.md: of each service alone, then of the whole server. After each
// restore the rows must be those of the backup, but those of somebody erased since must be gone again before the service
// is ready. Every mention must have exactly one notification, and nobody may lose or gain points.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Redis } from 'ioredis'
import { startNats, startRedis } from '@tandem/test-kit'
import { serviceNames as services } from '../../../gateway/routes.ts'
import { withStack, type Stack } from '../kit/stack.ts'
import { repeatWhatWasLost, verifyOthers, type Before } from './alone.ts'
import { check, haveAllPassed } from '../kit/checks.ts'
import { prepareFriends, type Friends } from './friends.ts'
import { prepareErased, type ErasedPerson } from './erased-people.ts'
import { prepareMentions, type Mentions } from './mentions.ts'
import { startDatabase } from './postgres.ts'
import { waitUntilReady } from './readiness.ts'
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

try {
  await rehearse()
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
process.exit(haveAllPassed() ? 0 : 1)

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

  const restoreAlone = async (name: string, work: (stack: Stack) => Promise<void>) => {
    const backup = backups.get(name)!
    const xmin = await restoreSchema(database, backup)
    await verifyRows(name, [name], backup.digest)
    const tables = await eve.rowsIn([name])
    check(tables.length > 0, `${name}: the backup has rows of who had been erased since, in ${tables.length} tables`)
    await raiseEventNumbers(database, [name])
    await recover(nats.url, 'consumers', name)
    let left: Promise<string[]> | undefined
    await withStack(
      async (stack) => {
        const kept = await left ?? []
        // Identity erases nothing before the others have confirmed that they did.
        if (name !== 'identity') {
          check(kept.length === 0, `${name}: none of these rows is left at the moment it is ready ${kept.join(' ')}`)
        }
        await work(stack)
      },
      environment,
      (dataDir) => {
        left = eve.rowsOfBackup(tables, xmin, waitUntilReady(dataDir, name))
      }
    )
  }

  const verifyGone = async (what: string, person: ErasedPerson, names: readonly string[]) => {
    for (const name of names) {
      if (name !== 'identity') {
        check(await person.hasTombstoneIn(name), `${name} knows who had been erased before it is ready`)
      }
    }
    // What events that are delivered again bring back.
    await waitUntilConsumed(database, nats.url, services)
    for (const name of names) await person.moveClock(name)
    const left = await person.waitUntilGone(names)
    check(left.length === 0, `${what} erases again who had been erased since the backup ${left.join(' ')}`)
  }

  let mentions!: Mentions
  let eve!: ErasedPerson
  let finn!: ErasedPerson
  let friends!: Friends
  const backups = new Map<string, SchemaBackup>()
  let quietRows!: Record<string, Before['rows']>
  await run(async (stack) => {
    mentions = await prepareMentions(stack)
    friends = await prepareFriends(stack, database)
    const known = { follows: mentions.readerId, friend: friends.hank }
    eve = await prepareErased(stack, database, { ...known, name: 'eve_erased' })
    finn = await prepareErased(stack, database, { ...known, name: 'finn_erased' })
    await mentions.write(stack, 60)
    await verify(stack, 'each mention creates one notification')
    const writing = mentions.write(stack, 40)
    // Notification first, so that mentions are still being written: it has to consume those after its backup again.
    for (const name of services.toReversed()) backups.set(name, await copySchema(database, name))
    await writing
    await verify(stack, 'so does each mention during the backups')
    quietRows = {}
    for (const name of services) quietRows[name] = await friends.readRows(name, [eve.id, finn.id])
    await friends.logWorkout(stack)
    await friends.finishActivity()
    await eve.erase(stack)
    await waitUntilConsumed(database, nats.url, services)
  })

  await restoreAlone('notification', async (stack) => {
    await verifyGone('notification', eve, ['notification'])
    await verify(stack, 'notification restored: it consumes the events since the backup again')
    await mentions.write(stack, 20)
    await verify(stack, 'and continues')
  })

  for (const name of ['profile', 'fitmatch', 'dashboard', 'identity'] as const) {
    const before = {
      notifications: await friends.readNotifications(),
      xp: await friends.readXp(),
      rows: quietRows[name] ?? {}
    }
    await restoreAlone(name, async (stack) => {
      if (name === 'identity') {
        check(await eve.signIn(stack) !== 200, 'identity: who had been erased cannot sign in')
      }
      await verifyGone(name, eve, [name])
      await repeatWhatWasLost(name, friends, stack)
      await verify(stack, `${name} restored: no notification is created twice`)
      await verifyOthers(name, { friends, erased: [eve, finn], before })
    })
  }

  let backup!: Awaited<ReturnType<typeof database.startBackup>>
  await restoreAlone('social', async (stack) => {
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
    await waitUntilConsumed(database, nats.url, services)
    for (const name of services) await finn.moveClock(name)
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
