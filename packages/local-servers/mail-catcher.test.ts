import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createTransport } from 'nodemailer'
import t from 'tap'
import { startMailCatcher } from './mail-catcher.ts'

t.test('mails are kept, found by their recipient, and can be deleted', async (t) => {
  const dir = t.testdir()
  const catcher = await startMailCatcher(dir)
  const seen: string[] = []
  catcher.onMail(({ subject }) => seen.push(subject))
  await createTransport(catcher.smtpUrl).sendMail({
    from: 'tandem@example.com',
    to: 'Ana@example.com',
    subject: 'Hello',
    text: 'Your code is 123456.'
  })

  t.match(catcher.mails('ANA@example.com'), [{ to: ['ana@example.com'], subject: 'Hello', text: /123456/ }])
  t.same(catcher.mails('ben@example.com'), [])
  t.same(seen, ['Hello'])
  await catcher.stop()

  writeFileSync(path.join(dir, '9999999999999-000001.json'), '{"id":"cut by a full di')
  const later = await startMailCatcher(dir)
  t.teardown(async () => await later.stop())
  t.equal(later.mails().length, 1, 'it keeps mails after a restart')
  later.clear()
  t.same(later.mails(), [])
})
