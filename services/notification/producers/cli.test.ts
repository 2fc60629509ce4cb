import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { testDatabase } from '@tandem/database-kit/testing'
import t from 'tap'
import type { Tables } from '../tables.ts'
import { findProducer } from './queries.ts'

const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))

/** `npm run operator -- producers …`. */
async function run (...args: string[]) {
  const script = path.resolve(import.meta.dirname, '../../../deploy/local/operator.ts')
  const env = { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'warn' }
  return await promisify(execFile)(process.execPath, [script, 'producers', ...args], { env })
    .catch((error: unknown) => error as { stdout: string, stderr: string })
}

t.test('a command adds a producer, rotates its key and ends it, and is in the audit', async (t) => {
  const [first = ''] = (await run('add', 'booking', '--events', 'booking.confirmed,booking.reminder')).stdout.split(
    '\n'
  )
  t.match(await findProducer(db, first), { eventTypes: ['booking.confirmed', 'booking.reminder'], eventsPerSecond: 50 })
  t.match(await run('add', 'booking', '--events', 'booking.confirmed'), {
    stderr: /There is a producer with this name/
  })
  const [second = ''] = (await run('rotate', 'booking')).stdout.split('\n')
  t.ok(await findProducer(db, first))
  await run('revoke', 'booking', '--old-key')
  t.notOk(await findProducer(db, first))
  const { stdout: list } = await run('list')
  t.match(list, /booking/)
  t.notMatch(list, new RegExp(`${first}|${second}`))
  t.ok(await findProducer(db, second))
  await run('revoke', 'booking')
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
      ['remove', 'booking'],
      ['revoke', 'booking', '--all']
    ]
  ) t.match(await run(...args), { stderr: /^usage: npm run operator -- producers/ }, args.join(' '))
  t.match(await run('revoke', 'nobody'), { stderr: /There is no such producer/ })
})
