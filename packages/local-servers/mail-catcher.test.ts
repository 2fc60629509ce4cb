import { createTransport } from 'nodemailer'
import t from 'tap'
import { startMailCatcher } from './mail-catcher.ts'

t.test('mails are shown on a page and as JSON, and can be deleted', async (t) => {
  const catcher = await startMailCatcher(t.testdir())
  t.teardown(async () => await catcher.stop())
  await createTransport(catcher.smtpUrl).sendMail({
    from: 'tandem@example.com',
    to: 'ana@example.com',
    subject: '<i>Hello</i>',
    text: 'https://example.com/?a=1&b=2'
  })

  const [mail] = await (await fetch(`${catcher.url}/api/mails?to=ANA@example.com`)).json() as Array<{ id: string }>
  t.same(await (await fetch(`${catcher.url}/api/mails?to=ben@example.com`)).json(), [])
  t.match(await (await fetch(catcher.url)).text(), '&lt;i&gt;Hello&lt;/i&gt;')
  t.match(await (await fetch(`${catcher.url}/mails/${mail?.id}`)).text(), '<a href="https://example.com/?a=1&amp;b=2">')
  t.equal((await fetch(`${catcher.url}/mails/none`)).status, 404)

  t.equal((await fetch(`${catcher.url}/api/mails`, { method: 'DELETE' })).status, 204)
  t.same(catcher.mails(), [])
})
