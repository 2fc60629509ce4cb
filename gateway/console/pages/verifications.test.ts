import { randomUUID } from 'node:crypto'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { testConsole } from '../../test/console.ts'

const world = await testConsole(t)
const { answers, received } = world

const waiting = Array.from({ length: 2 }, (_, number) => ({
  id: randomUUID(),
  accountId: randomUUID(),
  displayName: `Ben ${number}`,
  submittedAt: new Date().toISOString(),
  hasSelfie: true,
  photos: [{ isMain: true }, { isMain: false }]
}))
const picture = Buffer.from('not a picture')

atDesk(t, 'a selfie is compared with the photos, and decided by keys', world, async (t, desk) => {
  const { page, texts, requested } = desk
  const queue = [...waiting]
  answers.set('fitmatch GET /operator/verifications', () => ({ verifications: queue.slice(0, 1), nextCursor: null }))
  for (const path of ['selfie', 'photos/1', 'photos/2']) {
    answers.set(`fitmatch GET /operator/verifications/:id/${path}`, picture)
  }
  for (const verdict of ['approve', 'reject']) {
    answers.set(`fitmatch POST /operator/verifications/:id/${verdict}`, () => {
      queue.shift()
      return {}
    })
  }
  const sent = (verdict: string, { id }: { id: string }) =>
    received('fitmatch', `/operator/verifications/${id}/${verdict}`).map(({ body }) => body)
  const before = { approve: sent('approve', waiting[0]!).length, reject: sent('reject', waiting[1]!).length }

  await desk.open('/verifications')
  await desk.isAccessible('a verification')
  const isPicture = (url: string) => /\/(selfie|photos)/.test(url)
  t.same(requested.filter((url) => isPicture(url)), [], 'no picture is fetched before somebody asks')
  const [selfie, photos] = await Promise.all([texts.verifications.selfie, texts.verifications.photos].map(
    async (name) => await page.locator('.compare section', { hasText: name }).first().boundingBox()
  ))
  t.ok(selfie!.x + selfie!.width <= photos!.x && selfie!.y === photos!.y, 'the selfie is beside the photos')
  for (const [key, path] of [['1', '/selfie'], ['2', '/photos/1'], ['3', '/photos/2']] as const) {
    await Promise.all([page.waitForRequest((request) => request.url().endsWith(path)), page.keyboard.press(key)])
  }
  const filters = async () =>
    await page.evaluate(
      "[...document.querySelectorAll('details.picture img')].map((each) => getComputedStyle(each).filter)"
    )
  t.match(await filters(), [/blur/, /blur/, /blur/])
  await page.keyboard.press('1')
  t.match(await filters(), ['none', /blur/, /blur/], 'each is shown clearly by its own key')

  await page.keyboard.press('a')
  await page.getByText(texts.done['decided']!).waitFor()
  t.equal(sent('approve', waiting[0]!).length, before.approve + 1)

  await page.getByRole('heading', { name: 'Ben 1' }).waitFor()
  await page.keyboard.press('r')
  await page.keyboard.type('The face cannot be seen well.')
  // The Enter key uses the first button of a form, which must not be the one that approves.
  await page.keyboard.press('Enter')
  await page.getByText(texts.verifications.none).waitFor()
  t.same(sent('reject', waiting[1]!).slice(before.reject), [{
    reason: 'The face cannot be seen well.',
    reasonCode: 'OTHER'
  }])
  t.same(sent('approve', waiting[1]!), [])
  await desk.isAccessible('no verification')
})
