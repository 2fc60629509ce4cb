import { withStack, type Stack } from '@tandem/bench/stack.ts'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { findHome, join } from './join.ts'
import { PASSWORD } from './member.ts'
import { describePeople } from './people.ts'
import { drawScene } from './scenes.ts'

t.setTimeout(300_000)
const seed = 'walk'

t.test('two people walk through the sample app at once', needsBrowser, async (t) => {
  const browser = await openBrowser(t)
  await withStack(async (stack) => {
    const home = await findHome(stack)
    const people = describePeople(seed).slice(0, 2)
    for (const person of people) await join(person, { stack, seed, home, isMain: true })
    const [mia, leo] = await Promise.all(people.map(async ({ email }) => await openApp(t, browser, stack, email)))

    await mia!.getByRole('heading', { name: 'Mia' }).waitFor()
    await mia!.getByText('day streak').waitFor()
    t.match(await mia!.locator('.streak').innerText(), /56/, 'the streak is that of eight weeks')

    await postPicture(mia!)
    await go(leo!, 'Feed')
    const post = leo!.locator('article.post', { hasText: 'First picture of the walk' })
    await post.locator('.pictures img').waitFor()
    const width = await post.locator('.pictures img').evaluate((image: { naturalWidth: number }) => image.naturalWidth)
    t.ok(width > 0, 'Leo sees the picture')
    await post.getByRole('button', { name: 'Like' }).click()
    await post.getByRole('button', { name: 'Unlike' }).waitFor()
    await go(mia!, 'Inbox')
    await mia!.getByText(/Leo .*likes your post/).first().waitFor()

    await go(mia!, 'Discover')
    await mia!.locator('.person h2', { hasText: 'Leo' }).waitFor()
    await mia!.getByRole('button', { name: 'Train together' }).click()
    await go(leo!, 'Discover')
    await leo!.locator('.person h2', { hasText: 'Mia' }).waitFor()
    await leo!.getByRole('button', { name: 'Train together' }).click()
    await leo!.getByText('It’s a match!').waitFor()
    await leo!.getByRole('link', { name: 'Say hello' }).click()
    await leo!.getByRole('textbox', { name: 'Message' }).fill('Hello Mia, seven at the gate?')
    await leo!.keyboard.press('Enter')

    await mia!.locator('nav a[href="#/chats"] .badge', { hasText: '1' }).waitFor()
    await go(mia!, 'Chats')
    await mia!.locator('.chat-list a', { hasText: 'Leo' }).first().click()
    await mia!.getByText('Hello Mia, seven at the gate?').last().waitFor()
    await mia!.locator('.conversation header', { hasText: 'online' }).waitFor()
    await mia!.getByRole('textbox', { name: 'Message' }).fill('Perfect!')
    await leo!.getByLabel(/^Mia.* is typing/).waitFor()
    const [writtenAt] = [Date.now(), await mia!.keyboard.press('Enter')]
    await leo!.locator('.bubble', { hasText: 'Perfect!' }).waitFor()
    t.comment(`the message was on Leo's screen after ${Date.now() - writtenAt} ms`)
    await mia!.locator('.bubble.mine', { hasText: 'Perfect!' }).locator('.icon').waitFor()
    t.pass('Mia sees that Leo has read it')
    await mia!.locator('nav a[href="#/chats"] .badge').waitFor({ state: 'detached' })
  }, { LIMIT_PROFILE: 'relaxed', LIKES_GATHER_SECONDS: '1' })
})

async function openApp (t: Test, browser: Browser, stack: Stack, email: string) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  // A first start on a busy machine is slow.
  page.setDefaultTimeout(60_000)
  page.on('pageerror', ({ message }) => t.fail(`${email}: ${message}`))
  await page.goto(`${stack.devPage.url}/app/?email=${email}`)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

const go = async (page: Page, name: string) => await page.getByRole('navigation').getByRole('link', { name }).click()

async function postPicture (page: Page) {
  await go(page, 'Feed')
  await page.getByRole('textbox', { name: 'New post' }).fill('First picture of the walk #running')
  const buffer = await sharp(Buffer.from(drawScene(seed, 'beach'))).jpeg().toBuffer()
  await page.locator('input[type=file]').setInputFiles({ name: 'beach.jpg', mimeType: 'image/jpeg', buffer })
  await page.getByRole('button', { name: 'Post', exact: true }).click()
  await page.locator('article.post', { hasText: 'First picture of the walk' }).waitFor()
}
