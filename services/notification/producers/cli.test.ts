import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { testDatabase } from '@tandem/database-kit/testing'
import { UsageError } from '@tandem/operator-kit'
import t from 'tap'
import type { Tables } from '../tables.ts'
import { runCommand } from './commands.ts'
import { findProducer } from './queries.ts'

const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))

/** `npm run operator -- producers …`. */
async function run (...args: string[]) {
  const script = path.resolve(import.meta.dirname, '../../../deploy/local/operator.ts')
  const env = { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'warn' }
  return await promisify(execFile)(process.execPath, [script, 'producers', ...args], { env })
    .catch((error: unknown) => error as { stdout: string, stderr: string })
}

/** The same in this process, which starts none. */
async function operate (...args: string[]) {
  const result = await runCommand(db, args)
  return typeof result === 'string' ? result : JSON.stringify(result)
}

t.test('a command adds a producer, rotates its key and ends it, and is in the audit', async (t) => {
  const [first = ''] = (await run('add', 'booking', '--events', 'booking.confirmed,booking.reminder')).stdout.split(
    '\n'
  )
  t.match(await findProducer(db, first), { eventTypes: ['booking.confirmed', 'booking.reminder'], eventsPerSecond: 50 })
  await t.rejects(operate('add', 'booking', '--events', 'booking.confirmed'), { message: 'PRODUCER_EXISTS' })
  const [second = ''] = (await operate('rotate', 'booking')).split('\n')
  t.ok(await findProducer(db, first))
  await operate('revoke', 'booking', '--old-key')
  t.notOk(await findProducer(db, first))
  const list = await operate('list')
  t.match(list, /booking/)
  t.notMatch(list, new RegExp(`${first}|${second}`))
  t.ok(await findProducer(db, second))
  await operate('revoke', 'booking')
  t.notOk(await findProducer(db, second))

  t.match(await db.selectFrom('audit_entries').select(['role', 'action', 'subject']).orderBy('number').execute(), [
    { role: 'SHELL', action: 'producers add', subject: 'booking' },
    { action: 'producers add' },
    { action: 'producers rotate' },
    { action: 'producers revoke' },
    { action: 'producers revoke' }
  ])
})

t.test('a command that is not one prints what there is', async (t) => {
  for (
    const args of [
      [],
      ['add', 'booking'],
      ['add', 'booking', '--events', 'unknown'],
      ['add', 'Booking', '--events', 'booking.confirmed'],
      ['add', 'booking', '--events', 'booking.confirmed', '--rate', '0'],
      ['remove', 'booking']
    ]
  ) await t.rejects(operate(...args), UsageError, args.join(' '))
  t.match(await run('revoke', 'booking', '--all'), { stderr: /^usage: npm run operator -- producers/ })
  await t.rejects(operate('revoke', 'nobody'), { message: 'NOT_FOUND.producer' })
})
