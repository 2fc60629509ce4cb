import { readBrand } from '@tandem/brand-kit'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { plainName, plainText, renderMail, type MailKind } from '@tandem/mail-kit'
import { pendingMails } from '@tandem/mail-kit/testing'
import { testApp } from '../test/app.ts'
import { kinds, type Kind } from '../texts/kinds.ts'
import { renderText } from '../texts/texts.ts'

const hostileValues = [
  '<a href="https://evil.example">Sign in here</a>',
  'Sign in at https://evil.example/x now',
  'www.evil.com',
  'evil。com',
  'pay@evil.com',
  'a\r\nBcc: all@evil.com\u202e\u0000b',
  'x'.repeat(5_000)
]
const link = 'https://api.example/own-link'
const own = (text: string) => text.replaceAll(link, '')
// What a client makes a link of, markup, control characters, and text without an end.
const linkOrMarkup = /:\/\/|evil[.。]\p{L}|&lt;|[^\P{Cc}\n]|\u202e|x{500}/u

t.test('no mail carries a link or markup of people', (t) => {
  for (const locale of readBrand().texts.locales) {
    for (const hostile of hostileValues) {
      const params = {
        name: plainName(hostile),
        place: plainText(hostile),
        companions: plainName(hostile),
        device: plainText(hostile),
        when: 'now',
        at: 'now',
        hasDetails: true,
        hasPlace: true,
        hasCompanions: true,
        how: 'CHANGED',
        provider: 'PROVIDER_A'
      }
      const kinds: MailKind[] = [
        'contactRequest',
        'meetingShared',
        'meetingOverdue',
        'meetingCleared',
        'meetingEnded',
        'meetingSilenced',
        'passwordChanged',
        'providerLinked',
        'newSignIn'
      ]
      for (const kind of kinds) {
        const { subject, text, html } = renderMail({ kind, locale, params, url: link })
        const body = html.slice(html.indexOf('<body'))
        t.notMatch(own(`${subject}\n${text}`), linkOrMarkup, `${locale} ${kind}`)
        t.notMatch(`${subject}\n${text}`, '<', `${locale} ${kind}`)
        t.notMatch(own(body), linkOrMarkup, `${locale} ${kind} in HTML`)
      }
    }
  }
  t.end()
})

t.test('no push and no notification carries a link or markup of people', (t) => {
  for (const kind of Object.keys(kinds) as Kind[]) {
    // The company writes broadcasts.
    if (kind === 'broadcast') continue
    for (const language of readBrand().texts.locales) {
      const { en = {} } = readBrand().brand.texts
      const [title, body] = [en[`pushes.${kind}.title`], en[`pushes.${kind}.body`]]
      for (const hostile of hostileValues) {
        const names = [...`${title} ${body}`.matchAll(/\{\s*(\w+)\s*[,}]/g)].map(([, name]) => name!)
        const params = {
          ...Object.fromEntries(names.map((name) => [name, hostile])),
          displayName: hostile,
          ...names.includes('startsAt') && { startsAt: '2026-03-01T10:00:00Z' },
          ...Object.fromEntries(
            ['hours', 'level', 'weightKg', 'reps', 'hoursBefore', 'waitingCount'].map((name) => [name, 3])
          )
        }
        const text = renderText({ kind, actorName: hostile, othersCount: 1, params }, language, 'UTC')
        t.notMatch(`${text.title} ${text.body}`, linkOrMarkup, `${language} ${kind}`)
        t.notMatch(`${text.title} ${text.body}`, '<', `${language} ${kind}`)
      }
    }
  }
  t.end()
})

t.test('the name of a device and of an account are plain in the mails that are sent', async (t) => {
  const { reset } = await testApp(t)
  const { db, neighbours, person, receive, send } = reset()
  for (const hostile of hostileValues.slice(0, 5)) {
    const ana = await person(hostile)
    const email = `${ana}@example.com`
    neighbours.contacts.set(ana, { email, name: hostile, locale: 'en', emailVerified: true })
    await receive('identity.session.started.v1', {
      accountId: ana,
      sessionId: randomUUID(),
      newDevice: true,
      method: 'PASSWORD',
      deviceName: hostile,
      platform: null
    })
    const contact = `mum-${randomUUID()}@example.com`
    await send(ana, 'PUT', '/notifications/trusted-contact', { name: hostile.slice(0, 100), email: contact })
    const mails = (await pendingMails(db)).filter(({ recipient }) => [email, contact].includes(recipient))
    t.equal(mails.length, 2)
    for (const { subject, text } of mails) {
      t.notMatch(`${subject} ${text}`.replaceAll(/https:\/\/api\.example\/\S+/g, ''), linkOrMarkup, hostile)
    }
  }
})
