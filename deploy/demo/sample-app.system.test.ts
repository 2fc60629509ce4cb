import path from 'node:path'
import { codeMailedTo } from '@tandem/rehearsals/kit/people.ts'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { findHome, join } from './join.ts'
import { PASSWORD, type Member } from './member.ts'
import { describePeople } from './people.ts'
import { importPlaces } from './places.ts'
import { drawScene } from './scenes.ts'

t.setTimeout(300_000)
const seed = 'walk'

t.test('two people walk through the sample app at once', needsBrowser, async (t) => {
  const browser = await openBrowser(t)
  const { stack } = await sharedStack()
  await importPlaces(stack)
  const home = await findHome(stack)
  const people = describePeople(seed).slice(0, 2)
  const members = []
  for (const person of people) members.push(await join(person, { stack, seed, home, isMain: true }))
  await loadSmallPictures(t, members[0]!, members[1]!)
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

  await postVideo(mia!)
  await playVideo(t, leo!)

  await go(mia!, 'Discover')
  await mia!.locator('.person h2', { hasText: 'Leo' }).waitFor()
  await mia!.getByText('You both train at').waitFor()
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

  await addGym(leo!)
  await train(mia!)
  await acceptInvitation(mia!, { host: members[1]!, guest: members[0]! })
  await go(leo!, 'Home')
  await leo!.locator('.plan', { hasText: 'Morning run' }).waitFor()
  t.pass('both see the plan on the home screen')
  await shareTraining(mia!, leo!, members[0]!)
  t.pass('Leo sees a workout and an achievement in the feed')
  await register(t, browser, stack)
})

async function addGym (page: Page) {
  await go(page, 'Discover')
  await page.getByRole('link', { name: 'Gyms' }).click()
  await page.getByLabel('Find a gym').fill('YOGA')
  const gym = page.locator('.results li').first()
  await gym.waitFor()
  const name = await gym.locator('b').innerText()
  await gym.getByRole('button').click()
  await page.locator('.rows li', { hasText: name }).waitFor()
  await page.getByLabel('Find a gym').fill('The park')
  await page.getByRole('button', { name: 'Add “The park”' }).click()
  await page.getByRole('button', { name: 'Remove The park' }).click()
  await page.locator('.rows li', { hasText: 'The park' }).waitFor({ state: 'detached' })
}

async function train (page: Page) {
  await go(page, 'Home')
  await page.getByRole('link', { name: 'Train' }).click()
  await page.getByLabel('Find an exercise').fill('barbell squat')
  await page.getByRole('button', { name: /^Barbell Squat quadriceps/ }).click()
  await page.getByLabel('kg').fill('42.5')
  await page.getByRole('button', { name: 'Save workout' }).click()
  await page.getByText('Your workout is saved').waitFor()
  await page.locator('.template', { hasText: 'Push, pull, legs' }).locator('summary').click()
  await page.getByRole('button', { name: 'Copy to my programs' }).click()
  const program = page.locator('.program', { hasText: 'Push, pull, legs' })
  await program.getByRole('button', { name: 'Use it' }).click()
  await program.getByText('Active').waitFor()
}

async function acceptInvitation (page: Page, { host, guest }: { host: Member, guest: Member }) {
  await host.send('POST', '/activities', {
    title: 'Morning run',
    sport: 'running',
    date: new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10),
    startTime: '07:00',
    endTime: '08:00',
    locationName: 'At the gate',
    userIds: [await guest.accountId()]
  })
  await go(page, 'Home')
  const invitation = page.locator('.plan.invited', { hasText: 'Leo invites you' })
  await invitation.getByRole('button', { name: 'I am in' }).click()
  await invitation.waitFor({ state: 'detached' })
  await page.locator('.plan', { hasText: 'Morning run' }).filter({ hasText: 'At the gate' }).waitFor()
}

/** One person posts a workout and shares an achievement; the other sees both. */
async function shareTraining (page: Page, others: Page, { send }: Member) {
  const { data: { logs: [workout] } } = await send<{ data: { logs: { id: string, data: { title: string } }[] } }>(
    'GET',
    '/logs?type=WORKOUT&limit=1'
  )
  await send('POST', '/feed', { type: 'WORKOUT', content: 'Done for today', workoutId: workout?.id })
  const item = page.locator('.achievements li', { hasText: '30 days in a row' })
  await item.getByRole('button', { name: 'Share' }).click()
  await item.getByText('Shared').waitFor()
  await go(others, 'Feed')
  const post = others.locator('article.post', { hasText: 'Done for today' })
  await post.getByRole('region', { name: 'Workout' }).getByText(workout!.data.title).waitFor()
  await post.getByText('min', { exact: true }).waitFor()
  await others.getByRole('region', { name: 'Achievement' }).getByText('30 days in a row').waitFor()
}

/** Creates an account with the code from the email. */
async function register (t: Test, browser: Browser, stack: Stack) {
  const page = await newPage(t, browser, stack, '')
  const email = 'newcomer@example.com'
  await page.getByRole('button', { name: 'Create an account' }).click()
  await page.getByLabel('Name').fill('Nadia')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill('weak')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText(`We have sent a code to ${email}`).waitFor()
  await page.getByLabel('Code from the email').fill(await codeMailedTo(stack, email))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Nadia' }).waitFor()
}

async function openApp (t: Test, browser: Browser, stack: Stack, email: string) {
  const page = await newPage(t, browser, stack, email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

async function newPage (t: Test, browser: Browser, stack: Stack, email: string) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  // A first start on a busy machine is slow.
  page.setDefaultTimeout(60_000)
  page.on('pageerror', ({ message }) => t.fail(`${email}: ${message}`))
  await page.goto(`${stack.devPage.url}/app/?email=${email}`)
  return page
}

const go = async (page: Page, name: string) => await page.getByRole('navigation').getByRole('link', { name }).click()

/** Loads the photo and the profile picture of another person in all sizes from the gateway. */
async function loadSmallPictures (t: Test, { send }: Member, other: Member) {
  interface Size {
    url: string
    width: number
    height: number
  }
  type Picture = Size & { blurhash: string, thumbnails: Size[] }
  const { data: { user } } = await send<{ data: { user: { image: string, picture: Picture } } }>(
    'GET',
    `/users/${await other.accountId()}`
  )
  t.equal(user.image, user.picture.url)
  const { data: { profiles } } = await send<{ data: { profiles: { photos: Picture[] }[] } }>(
    'GET',
    '/fitmatch/discover'
  )
  for (const picture of [user.picture, ...profiles[0]!.photos]) {
    t.match(picture.blurhash, /^.{6,}$/)
    t.ok(picture.thumbnails.length > 0)
    for (const { url, width, height } of [picture, ...picture.thumbnails]) {
      const bytes = await (await fetch(url)).arrayBuffer()
      t.match(await sharp(Buffer.from(bytes)).metadata(), { width, height }, url)
    }
  }
}

async function postVideo (page: Page) {
  await go(page, 'Feed')
  await page.getByRole('textbox', { name: 'New post' }).fill('First video of the walk')
  await page.locator('input[type=file]').setInputFiles(path.join(import.meta.dirname, 'videos/rotated.mp4'))
  await page.getByLabel('The chosen video').waitFor()
  await page.getByRole('button', { name: 'Post', exact: true }).click()
  await page.locator('article.post', { hasText: 'First video of the walk' }).waitFor()
}

// What the page has, of which this program knows no types.
interface Video {
  currentTime: number
  videoWidth: number
  videoHeight: number
  duration: number
  readyState: number
  preload: string
  addEventListener: (type: string, listener: (event: unknown) => void, options?: { once: boolean }) => void
  play: () => Promise<void>
}

/** Plays the video of the walk, and jumps in it: the server sends the parts that the browser asks for. */
async function playVideo (t: Test, page: Page) {
  const ranges: string[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('.mp4')) ranges.push(`${response.status()} ${response.headers()['content-range']}`)
  })
  await go(page, 'Home')
  await go(page, 'Feed')
  const video = page.locator('article.post', { hasText: 'First video of the walk' }).locator('video')
  await video.waitFor()
  const shown = await video.evaluate(async (element) => {
    const video = element as unknown as Video
    const until = async (event: string, start: () => void) => {
      const reached = new Promise((resolve, reject) => {
        video.addEventListener(event, resolve, { once: true })
        video.addEventListener('error', () => reject(new Error('the video cannot be played')), { once: true })
      })
      start()
      await reached
    }
    // HAVE_ENOUGH_DATA.
    if (video.readyState < 4) await until('canplaythrough', () => video.preload = 'auto')
    await until('seeked', () => video.currentTime = 1.5)
    const seekedTo = video.currentTime
    await until('ended', () => void video.play())
    return { seekedTo, width: video.videoWidth, height: video.videoHeight, duration: video.duration }
  })
  t.match(shown, { seekedTo: 1.5, width: 240, height: 320 }, 'it is upright')
  t.ok(Math.abs(shown.duration - 2) < 0.1, `${shown.duration} seconds`)
  t.match(ranges[0], /^206 bytes 0-\d+\/\d+$/)
}

async function postPicture (page: Page) {
  await go(page, 'Feed')
  await page.getByRole('textbox', { name: 'New post' }).fill('First picture of the walk #running')
  const buffer = await sharp(Buffer.from(drawScene(seed, 'beach'))).jpeg().toBuffer()
  await page.locator('input[type=file]').setInputFiles({ name: 'beach.jpg', mimeType: 'image/jpeg', buffer })
  await page.getByRole('button', { name: 'Post', exact: true }).click()
  await page.locator('article.post', { hasText: 'First picture of the walk' }).waitFor()
}
