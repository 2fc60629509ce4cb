// It waits for a retry.
import { randomUUIDv7 } from 'node:crypto'
import path from 'node:path'
import t from 'tap'
import { testDatabase } from '@tandem/database-kit/testing'
import { createMail, createMailer } from '@tandem/mail-kit'
import { silentLog, startHookProvider } from '@tandem/http-kit/testing'
import { startRedis, until } from '@tandem/test-kit'
import type { Tables } from '../tables.ts'

// Not that of the service in tests, which has a mailer of its own.
const { db } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))

t.test('mails go to the provider of the operator, which takes, refuses or delays them', async (t) => {
  const [redis, system] = [await startRedis(t), await startHookProvider(t)]
  const mailer = createMailer({
    db,
    service: 'identity',
    smtpUrl: 'smtp://127.0.0.1:1',
    redisUrl: redis.url,
    log: silentLog,
    provider: system.hooks('send-mail').senderOf('send-mail')
  })
  t.teardown(() => mailer.close())
  mailer.start()
  const send = async () => {
    const id = await db.transaction().execute(async (trx) =>
      await createMail(trx, {
        dedupeKey: randomUUIDv7(),
        recipient: 'ana@example.com',
        subject: 'Your code',
        text: 'Your code: 482913',
        html: '<p>482913</p>',
        rateLimited: false
      })
    )
    await mailer.enqueue([id])
    return id!
  }
  const becomes = async (id: string, wanted: string) =>
    await until(async () => {
      const { status } = await db.selectFrom('mails').where('id', '=', id).select('status').executeTakeFirstOrThrow()
      return status === wanted
    })

  system.replyWith({ status: 202 })
  await becomes(await send(), 'sent')
  t.match(system.asked[0], {
    type: 'send-mail',
    data: { to: 'ana@example.com', subject: 'Your code', text: /482913/, html: /482913/, messageId: /@/ }
  })

  system.replyWith({ status: 422 })
  await becomes(await send(), 'failed')

  const asked = system.asked.length
  system.replyWith({ status: 503 })
  const delayed = await send()
  await until(() => system.asked.length >= asked + 2)
  system.replyWith({ status: 200 })
  await becomes(delayed, 'sent')
  const [first, ...repeats] = system.asked.slice(asked).map(({ data }) => data['messageId'])
  t.ok(repeats.length > 0 && repeats.every((each) => each === first), 'a repeat has the same Message-ID')
})
