import { randomUUID } from 'node:crypto'
import t from 'tap'
import { pendingMails } from '@tandem/mail-kit/testing'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

t.test('a new password and a sign-in on a new device are mailed once, in the account’s language', async (t) => {
  const { receive, db, person, neighbours, inbox } = reset()
  const ana = await person('Ana', { locale: 'id' })
  neighbours.contacts.set(ana, { email: 'ana@example.com', name: 'Ana', locale: 'id' })
  const [changed, started] = [{ id: randomUUID() }, { id: randomUUID() }]
  for (const _ of [1, 2]) {
    await receive('identity.password.changed.v1', { accountId: ana, how: 'RESET' }, changed)
    await receive('identity.session.started.v1', {
      accountId: ana,
      sessionId: ana,
      method: 'PASSWORD',
      newDevice: true,
      deviceName: 'Pixel 12',
      platform: 'android'
    }, started)
  }
  const mails = (await pendingMails(db)).filter(({ recipient }) => recipient === 'ana@example.com')
  t.match(mails, [{ subject: 'Kata sandi akun Tandem Anda diubah' }, {
    subject: 'Ada yang baru masuk ke akun Tandem Anda',
    text: /Pixel 12/
  }])
  t.equal(mails.length, 2)
  t.match(await inbox(ana), { unreadCount: 2, notifications: [{ type: 'ACCOUNT' }, { type: 'ACCOUNT' }] })
})

t.test('the owner is notified once of a provider that is linked, in the inbox and by mail', async (t) => {
  const { receive, db, person, neighbours, inbox } = reset()
  const texts = {
    en: { subject: 'A provider was linked to your Tandem account', body: /with provider A\./ },
    id: { subject: 'Sebuah penyedia ditautkan ke akun Tandem Anda', body: /dengan penyedia A\./ }
  }
  for (const [locale, { subject, body }] of Object.entries(texts)) {
    const ana = await person('Ana', { locale })
    const email = `${locale}@example.com`
    neighbours.contacts.set(ana, { email, name: 'Ana', locale })
    const event = { id: randomUUID() }
    for (const _ of [1, 2]) {
      await receive('identity.provider.linked.v1', { accountId: ana, provider: 'PROVIDER_A' }, event)
    }
    t.match(await inbox(ana), { unreadCount: 1, notifications: [{ type: 'ACCOUNT', body }] })
    const mails = (await pendingMails(db)).filter(({ recipient }) => recipient === email)
    t.match(mails, [{ subject }])
    t.equal(mails.length, 1)
  }
})

t.test('while identity is unavailable nothing is lost: the event is retried', async (t) => {
  const { receive, db, person, neighbours, inbox } = reset()
  const ben = await person('Ben')
  neighbours.contacts.set(ben, { email: 'ben@example.com', name: 'Ben', locale: 'en' })
  neighbours.isUnavailable = true
  await t.rejects(receive('identity.password.changed.v1', { accountId: ben, how: 'CLEARED' }), {
    code: 'SERVICE_UNAVAILABLE'
  })
  neighbours.isUnavailable = false
  await receive('identity.password.changed.v1', { accountId: ben, how: 'CLEARED' })
  t.match((await pendingMails(db)).filter(({ recipient }) => recipient === 'ben@example.com'), [{
    subject: 'The password of your Tandem account was removed'
  }])
  t.match((await inbox(ben)).notifications, [{
    body: 'The password of your account was removed. You can set a new one.'
  }])
})

t.test('an account mail contains no text chosen by the person who registered the account', async (t) => {
  const { receive, db, neighbours } = reset()
  const name = 'URGENT: your account is locked, go to http://evil.example'
  for (const locale of ['en', 'id']) {
    const [accountId, email] = [randomUUID(), `${randomUUID()}@example.com`]
    neighbours.contacts.set(accountId, { email, name, locale })
    for (const how of ['INITIAL', 'CHANGED', 'RESET', 'CLEARED']) {
      await receive('identity.password.changed.v1', { accountId, how })
    }
    await receive('identity.session.started.v1', {
      accountId,
      sessionId: randomUUID(),
      method: 'PASSWORD',
      newDevice: true,
      deviceName: null,
      platform: 'android'
    })
    const mails = (await pendingMails(db)).filter(({ recipient }) => recipient === email)
    t.equal(mails.length, 5)
    for (const { subject, text, html } of mails) t.notMatch(subject + text + html, /URGENT|evil/)
  }
})
