import { randomUUID } from 'node:crypto'
import { tabTo } from '@tandem/test-kit/browser'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { at, testPages } from '../../test/console-pages.ts'

const world = await testPages(t)
const { answers, received } = world

atDesk(t, 'an endpoint is added, replayed, disabled and enabled', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.webhooks
  const [id, secret] = [randomUUID(), 'whsec_c2VjcmV0']
  const endpoint = {
    id,
    url: 'https://crm.example.com/hooks',
    eventTypes: ['account.deleted'],
    pending: 0,
    createdAt: at,
    lastSuccessAt: null as string | null,
    disabledAt: null as string | null,
    disabledReason: null as string | null
  }
  const endpoints: object[] = []
  answers.set('notification GET /operator/webhooks', () => ({ endpoints, deliveries: [] }))
  answers.set('notification POST /operator/webhooks', () => {
    endpoints.push(endpoint)
    return { id, secret }
  })
  answers.set('notification POST /operator/webhooks/:id/replay', { count: 3 })
  answers.set('notification POST /operator/webhooks/:id/disable', () => {
    Object.assign(endpoint, { disabledAt: at, disabledReason: 'an operator disabled it' })
    return {}
  })
  answers.set('notification POST /operator/webhooks/:id/enable', () => {
    Object.assign(endpoint, { disabledAt: null, disabledReason: null })
    return {}
  })

  await desk.open('/webhooks')
  await page.getByText(words.none).waitFor()
  await desk.isAccessible('no webhooks')
  await desk.reach('textbox', words.url)
  await page.keyboard.type(endpoint.url)
  await tabTo(page, page.getByLabel(words.types.account_deleted))
  await page.keyboard.press('Space')
  await desk.press(words.add)
  await page.getByText(secret).waitFor()
  await desk.isAccessible('a secret')
  t.same(received('notification', '/operator/webhooks').findLast(({ method }) => method === 'POST')?.body, {
    url: endpoint.url,
    eventTypes: ['account.deleted']
  })

  await desk.open('/webhooks')
  t.equal(await page.getByText(secret).count(), 0, 'it is shown once')
  await desk.isAccessible('an endpoint')
  await page.getByLabel(words.since).fill('2026-11-27T08:30')
  await desk.press(words.replay)
  await page.getByText(texts.done['webhooks-replayed']!).waitFor()
  t.same(received('notification', `/operator/webhooks/${id}/replay`).at(-1)?.body, { since: '2026-11-27T08:30Z' })

  await desk.press(words.disable)
  await desk.agree()
  await page.getByText(texts.done['webhook-disabled']!).waitFor()
  await page.getByText('an operator disabled it').waitFor()
  await desk.press(words.enable)
  await page.getByText(texts.done['webhook-enabled']!).waitFor()
})
