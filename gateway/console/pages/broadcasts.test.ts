import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { tabTo } from '@tandem/test-kit/browser'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { at, testPages } from '../../test/console-pages.ts'

const world = await testPages(t)
const { answers, submit, received } = world

t.test('a broadcast is tested on oneself, and the form stays', async (t) => {
  answers.set('notification POST /operator/broadcasts/test', {})
  const fields: [string, string][] = [['title-en', 'Hi'], ['title-id', 'Halo'], ['body-en', 'News'], [
    'body-id',
    'Kabar'
  ]]
  t.match(await submit('/broadcasts', [...fields, ['to', 'me']]), {
    status: 200,
    text: /Only you received it.*>News<\/textarea>/s
  })
  t.same(received('notification', '/operator/broadcasts/test').at(-1)?.body, {
    title: { en: 'Hi', id: 'Halo' },
    body: { en: 'News', id: 'Kabar' }
  })
  t.equal(received('notification', '/operator/broadcasts').filter(({ method }) => method === 'POST').length, 1)
})

atDesk(t, 'a broadcast is written, tested on oneself, sent and stopped', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.broadcasts
  const title = { en: 'Park run on Sunday', id: 'Lari di taman hari Minggu' }
  const body = { en: 'Meet us at seven.', id: 'Kita kumpul jam tujuh.' }
  const broadcasts: object[] = []
  answers.set('notification GET /operator/broadcasts', () => ({ broadcasts }))
  answers.set('notification POST /operator/broadcasts/test', {})
  answers.set('notification POST /operator/broadcasts', () => {
    broadcasts.push({ id: randomUUID(), title, recipients: 7, createdAt: at, finishedAt: null })
    return {}
  })
  answers.set('notification POST /operator/broadcasts/:id/stop', () => {
    broadcasts.pop()
    return {}
  })
  const write = async (field: string, language: 'en' | 'id', text: string) => {
    const group = page.getByRole('group', { name: language === 'en' ? 'English' : 'Indonesia', exact: true })
    await tabTo(page, group.getByLabel(field, { exact: true }))
    await page.keyboard.type(text)
  }

  await desk.open('/broadcasts')
  await desk.isAccessible('broadcasts')
  for (const language of ['en', 'id'] as const) {
    await write(words.title, language, title[language])
    await write(words.body, language, body[language])
  }
  await desk.press(words.test)
  await page.getByText(texts.done['tested']!).waitFor()
  t.same(received('notification', '/operator/broadcasts/test').at(-1)?.body, { title, body })
  t.same(broadcasts, [], 'nobody else received it')

  await desk.reach('textbox', texts.people.reason)
  await page.keyboard.type('the meeting of May')
  await desk.press(words.send)
  await desk.agree()
  await page.getByText(texts.done['broadcast']!).waitFor()
  t.same(received('notification', '/operator/broadcasts').findLast(({ method }) => method === 'POST')?.body, {
    title,
    body,
    reason: 'the meeting of May'
  })
  await desk.isAccessible('a running broadcast')
  // Pressed once more while the answer is on its way.
  await page.route('**/stop', async (route) => {
    await sleep(1_000)
    await route.continue()
  })
  await desk.press(words.stop)
  await page.keyboard.press('Enter')
  await page.getByText(texts.done['stopped']!).waitFor()
  t.equal(desk.requested.filter((address) => address.endsWith('/stop')).length, 1)
})
