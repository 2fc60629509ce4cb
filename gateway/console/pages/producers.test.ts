import { randomUUID } from 'node:crypto'
import { tabTo } from '@tandem/test-kit/browser'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { at, testPages } from '../../test/console-pages.ts'

const world = await testPages(t)
const { answers, call, submit, received } = world
const key = `tp_live_${'k'.repeat(43)}`

t.test('who calls an operation is shown by version, the deprecated ones first', async (t) => {
  const { text } = await call('/calls')
  t.ok(text.indexOf('listOldThings') < text.indexOf('getHome'))
  t.match(text, /ends on 2027-06-01/)
  t.match((await call('/calls/social/getHome')).text, /ios 2\.4\.0/)
  t.equal((await call('/calls/nowhere/getHome')).status, 404)
})

t.test('a key is in the answer to its form only', async (t) => {
  answers.set('notification POST /operator/producers', { id: randomUUID(), key })
  t.match(await submit('/producers', [['name', 'booking'], ['eventTypes', 'booking.confirmed'], ['rate', '50']]), {
    status: 200,
    text: new RegExp(`Authorization: Bearer ${key}`)
  })
  t.notMatch((await call('/producers')).text, /tp_live_/)
})

atDesk(t, 'a producer is added, gets another key, and is revoked', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.producers
  const producer = {
    id: randomUUID(),
    name: 'booking',
    eventTypes: ['booking.confirmed'],
    eventsPerSecond: 50,
    droppedCount: 0,
    createdAt: at,
    revokedAt: null as string | null,
    lastUsedAt: null,
    keys: [{ hint: 'kkkk', createdAt: at, lastUsedAt: null, isRevoked: false }]
  }
  const producers: object[] = []
  answers.set('notification GET /operator/producers', () => ({ producers }))
  answers.set('notification POST /operator/producers', () => {
    producers.push(producer)
    return { id: producer.id, key }
  })
  answers.set('notification POST /operator/producers/:id/rotate', () => {
    producer.keys.unshift({ ...producer.keys[0]!, hint: 'zzzz' })
    return { key }
  })
  answers.set('notification POST /operator/producers/:id/revoke-old-key', () => {
    producer.keys.pop()
    return {}
  })
  answers.set('notification POST /operator/producers/:id/revoke', () => {
    producer.revokedAt = at
    return {}
  })

  await desk.open('/producers')
  await desk.reach('textbox', words.name)
  await page.keyboard.type('booking')
  await tabTo(page, page.getByRole('checkbox', { name: words.typeNames.booking_confirmed }))
  await page.keyboard.press('Space')
  await desk.press(words.add)
  await page.getByText(key).waitFor()
  await desk.isAccessible('a new key')
  t.same(received('notification', '/operator/producers').findLast(({ method }) => method === 'POST')?.body, {
    name: 'booking',
    eventTypes: ['booking.confirmed'],
    eventsPerSecond: 50
  })
  await desk.open('/producers')
  await desk.isAccessible('producers')
  await desk.press(words.rotate)
  await page.getByText(words.stillValid).waitFor()
  await desk.open('/producers')
  await desk.press(words.revokeOld)
  await desk.agree()
  await page.getByText(texts.done['old-key']!).waitFor()
  await desk.press(words.revoke)
  await desk.agree()
  await page.getByText(texts.done['revoked']!).waitFor()
  await page.getByText(words.revoked, { exact: true }).waitFor()
})
