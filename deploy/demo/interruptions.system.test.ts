import path from 'node:path'
import { codeMailedTo, PASSWORD, register } from '@tandem/rehearsals/kit/people.ts'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import type { Page, Route } from 'playwright-core'
import sharp from 'sharp'
import t from 'tap'
import { article, choose, open, openApp } from './app-pages.ts'
import { drawScene } from './scenes.ts'

const email = 'tunnel@example.com'

t.test('the sample app goes on after interruptions: a tunnel, a full disk, another app', needsBrowser, async (t) => {
  const { stack } = await sharedStack()
  await register(stack, email)
  const page = await openApp(t, await openBrowser(t), stack, email)
  await page.getByText('day streak').waitFor()

  await t.test('a post whose responses are lost is posted once when somebody presses again', async (t) => {
    const buffer = await sharp(Buffer.from(drawScene(email, 'beach'))).jpeg().toBuffer()
    await choose(page, { name: 'beach.jpg', mimeType: 'image/jpeg', buffer })
    await page.getByLabel('How did it go?').fill('Only once')
    // The client sends it three times.
    await onPost(page, async (route, count) => {
      await route.fetch()
      await (count <= 3 ? route.abort() : route.continue())
    })
    const post = page.getByRole('button', { name: 'Post', exact: true })
    await post.click()
    await page.getByRole('alert').waitFor()
    await post.click()
    await article(page, 'Only once').first().waitFor()
    t.equal(await article(page, 'Only once').count(), 1)
    await page.unroute('**/v1/feed')
  })

  let postId = ''
  await t.test('a page that was left leaves no other one, and who holds Enter comments once', async (t) => {
    const held = Promise.withResolvers<void>()
    await onPost(page, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'New post' }).click()
    await page.getByLabel('How did it go?').fill('On its way')
    await page.getByRole('button', { name: 'Post', exact: true }).click()
    await page.getByRole('button', { name: 'Back' }).click()
    await article(page, 'Only once').getByRole('button', { name: /^Comments/ }).click()
    await page.getByLabel('Comment', { exact: true }).waitFor()
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    held.resolve()
    await answered
    await page.unroute('**/v1/feed')
    // Whatever the page of the new post does then, has happened when a comment is there.
    const field = page.getByLabel('Comment', { exact: true })
    await field.fill('With a long finger')
    for (let repeat = 0; repeat < 3; repeat++) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    await page.getByText('With a long finger', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Comments, 1' }).waitFor()
    t.match(page.url(), /\/post\//)
    postId = path.basename(page.url())
  })

  await t.test('two quick presses delete no post', async () => {
    await page.getByRole('button', { name: 'Delete', exact: true }).dblclick()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Yes, delete it' }).waitFor()
  })

  await t.test('a video is stopped when its person leaves the page, and not posted', async () => {
    await open(page, 'feed')
    await choose(page, path.join(import.meta.dirname, 'videos/rotated.mp4'))
    await page.getByLabel('The chosen video').waitFor()
    const parts = '**/media/uploads/*'
    await page.route(parts, () => {})
    const sent = page.waitForRequest(parts)
    const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('/media/uploads/'))
    await page.getByRole('button', { name: 'Post', exact: true }).click()
    await sent
    await page.getByRole('button', { name: 'Back' }).click()
    await stopped
    await page.unroute(parts)
  })

  await t.test('a workout can be logged without a network, with an exercise by its name', async () => {
    await open(page, 'train')
    const search = page.getByLabel('Find an exercise')
    await search.waitFor()
    await page.context().setOffline(true)
    await search.fill('Sled push')
    await page.getByText('You are offline').first().waitFor()
    await page.getByRole('button', { name: 'Log “Sled push”' }).click()
    await page.getByRole('button', { name: 'Save workout' }).click()
    await page.getByText('Your workout is saved').waitFor()
    await page.context().setOffline(false)
  })

  await t.test('a comment that cannot be stored comes back', async (t) => {
    await open(page, `post/${postId}`)
    const field = page.getByLabel('Comment', { exact: true })
    await page.evaluate("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }")
    await field.fill('On a full disk')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'free space' }).waitFor()
    t.equal(await field.inputValue(), 'On a full disk')
  })

  await t.test('a session that cannot be read is none', async () => {
    await open(page, '')
    await page.evaluate("localStorage.setItem('tandem', '{')")
    await open(page, '')
    await page.getByLabel('Password').waitFor()
  })

  await t.test('who leaves the app before they enter the code of their registration enters it later', async (t) => {
    const newcomer = 'interrupted@example.com'
    await page.getByRole('button', { name: 'Create an account' }).click()
    await page.getByLabel('Name').fill('Nadia')
    await page.getByLabel('Email').fill(newcomer)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText(`We have sent a code to ${newcomer}`).waitFor()
    const first = await codeMailedTo(stack, newcomer)
    await open(page, 'settings')
    await page.getByRole('region', { name: 'Verify your email address' }).waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByLabel('Email', { exact: true }).fill(newcomer)
    await page.getByLabel('Password').fill(PASSWORD)
    let signIns = 0
    const held = Promise.withResolvers<void>()
    await page.route('**/auth/login', async (route) => {
      signIns++
      await held.promise
      await route.continue()
    })
    await page.getByLabel('Password').press('Enter')
    await page.getByRole('status').filter({ hasText: 'One moment' }).waitFor()
    await page.getByLabel('Password').press('Enter')
    held.resolve()
    await page.getByText(`We have sent a code to ${newcomer}`).waitFor()
    t.equal(signIns, 1, 'who presses Enter twice signs in once')
    await page.getByLabel('Code from the email').fill(await codeMailedTo(stack, newcomer, first))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('textbox', { name: 'Birthday' }).waitFor()
    t.pass('they are signed in')
  })
})

/** What happens to the nth attempt to post. */
async function onPost (page: Page, answer: (route: Route, count: number) => Promise<void>) {
  let count = 0
  await page.route('**/v1/feed', async (route) => {
    if (route.request().method() !== 'POST') return await route.continue()
    await answer(route, ++count)
  })
}
