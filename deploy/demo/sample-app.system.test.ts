import path from 'node:path'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { deleteAndKeep, endSession, register } from './app-account.ts'
import { article, choose, go, open, openApp } from './app-pages.ts'
import { findHome, join } from './join.ts'
import type { Member } from './member.ts'
import { describePeople } from './people.ts'
import { importPlaces } from './places.ts'
import { drawScene } from './scenes.ts'

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
  await mia!.getByText('56', { exact: true }).waitFor()
  t.pass('the streak is that of eight weeks')

  await postPicture(mia!)
  await go(leo!, 'Feed')
  const post = leo!.getByRole('article').filter({ hasText: 'First picture of the walk' })
  const picture = post.getByAltText('A picture')
  await picture.waitFor({ state: 'attached' })
  const width = await picture.evaluate(async (image: { decode: () => Promise<void>, naturalWidth: number }) => {
    await image.decode()
    return image.naturalWidth
  })
  t.ok(width > 0, 'Leo sees the picture')
  await post.getByRole('button', { name: 'Like' }).click()
  await post.getByRole('button', { name: 'Unlike' }).waitFor()
  await go(mia!, 'Inbox')
  await mia!.getByText(/Leo .*likes your post/).first().waitFor()

  await postVideo(mia!)
  await playVideo(t, leo!)
  await shareStory(mia!, leo!)

  await go(mia!, 'Discover')
  await mia!.getByRole('heading', { name: /^Leo/ }).waitFor()
  await mia!.getByText('You both train at').waitFor()
  await mia!.getByRole('button', { name: 'Train together' }).click()
  await go(leo!, 'Discover')
  await leo!.getByRole('heading', { name: /^Mia/ }).waitFor()
  await leo!.getByRole('button', { name: 'Train together' }).click()
  await leo!.getByText('It’s a match!').waitFor()
  await leo!.getByRole('button', { name: 'Say hello' }).click()
  await leo!.getByRole('textbox', { name: 'Message' }).fill('Hello Mia, seven at the gate?')
  await leo!.getByRole('button', { name: 'Send' }).click()

  await mia!.getByRole('tab', { name: '1 Chats' }).waitFor()
  await go(mia!, 'Chats')
  await mia!.getByRole('link', { name: 'Leo' }).click()
  await mia!.getByRole('group', { name: 'Leo' }).getByText('Hello Mia, seven at the gate?').waitFor()
  await mia!.getByText(/^Leo.* · online$/).waitFor()
  await mia!.getByRole('textbox', { name: 'Message' }).pressSequentially('Perfect!')
  await leo!.getByText(/^Mia.* is typing/).waitFor()
  const [writtenAt] = [Date.now(), await mia!.getByRole('button', { name: 'Send' }).click()]
  await leo!.getByText('Perfect!').last().waitFor()
  t.comment(`the message was on Leo's screen after ${Date.now() - writtenAt} ms`)
  await mia!.getByText(/ · Read$/).last().waitFor()
  t.pass('Mia sees that Leo has read it')

  await addGym(leo!)
  await train(mia!)
  await acceptInvitation(mia!, { host: members[1]!, guest: members[0]! })
  await open(leo!, '')
  await leo!.getByRole('group', { name: 'Morning run' }).waitFor()
  t.pass('both see the plan on the home screen')
  await importWorkout(mia!)
  await shareTraining(mia!, leo!, members[0]!)
  t.pass('Leo sees a workout and an achievement in the feed')
  await readOlderComments(mia!, members[1]!)
  await likeAndCommentLater(mia!, members[1]!)
  await blockInChat(mia!, leo!)
  const nadia = await register(t, browser, stack)
  await endSession(nadia, stack, people[0]!.email)
  await deleteAndKeep(nadia, stack)
})

async function addGym (page: Page) {
  await open(page, 'discover')
  await page.getByRole('button', { name: 'Gyms' }).click()
  await page.getByLabel('Find a gym').fill('YOGA')
  const add = page.getByRole('region', { name: 'Add a gym' })
  const mine = page.getByRole('region', { name: 'Your gyms' })
  const gym = add.getByRole('button').first()
  const [name = ''] = (await gym.innerText()).split('\n')
  await gym.click()
  await mine.getByText(name, { exact: true }).waitFor()
  await page.getByLabel('Find a gym').fill('The park')
  await page.getByRole('button', { name: 'Add “The park”' }).click()
  await page.getByRole('button', { name: 'Remove The park' }).click()
  await mine.getByText('The park').waitFor({ state: 'detached' })
}

async function train (page: Page) {
  await open(page, '')
  await page.getByRole('button', { name: 'Train' }).click()
  await page.getByLabel('Find an exercise').fill('barbell squat')
  await page.getByRole('button', { name: /^Barbell Squat *quadriceps/ }).click()
  await page.getByLabel('kg').fill('42,5')
  await page.getByRole('button', { name: 'Save workout' }).click()
  await page.getByText('Your workout is saved').waitFor()
  const program = page.getByRole('region', { name: 'Your programs' }).getByRole('group', { name: /^Push, pull, legs/ })
  await page.getByRole('button', { name: /^Push, pull, legs/ }).click()
  await page.getByRole('button', { name: 'Copy to my programs' }).click()
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
  await open(page, '')
  await page.getByRole('link', { name: 'Plans and invitations' }).click()
  const invitations = page.getByRole('region', { name: 'Invitations' })
  await invitations.getByText('Leo invites you').waitFor()
  await invitations.getByRole('button', { name: 'I am in' }).click()
  await invitations.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'You go to' }).getByRole('group', { name: 'Morning run' })
    .getByText('At the gate').waitFor()
}

/** Imports a workout of another app, and takes it back. */
async function importWorkout (page: Page) {
  await open(page, '')
  await page.getByRole('link', { name: /^Health/ }).click()
  const buffer = Buffer.from(`Date,Workout Name,Duration,Exercise Name,Set Order,Weight,Reps,Distance,Seconds
2026-01-05 10:00:00,Legs,45m,Squat,1,60,5,0,0
`)
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose a file' }).click()
  await (await chosen).setFiles({ name: 'strong.csv', mimeType: 'text/csv', buffer })
  await page.getByText(/^1 new of 1 entries/).waitFor()
  await page.getByRole('button', { name: 'Undo import' }).click()
  await page.getByText('You took this import back.').waitFor()
}

/** One person posts a workout and shares an achievement; the other sees both. */
async function shareTraining (page: Page, others: Page, { send }: Member) {
  const { data: { logs: [workout] } } = await send<{ data: { logs: { id: string, data: { title: string } }[] } }>(
    'GET',
    '/logs?type=WORKOUT&limit=1'
  )
  await send('POST', '/feed', { type: 'WORKOUT', content: 'Done for today', workoutId: workout?.id })
  await open(page, '')
  await page.getByRole('link', { name: 'Achievements' }).click()
  const item = page.getByRole('group', { name: '30 days in a row' })
  await item.getByRole('button', { name: 'Share' }).click()
  await item.getByText('Shared').waitFor()
  await open(others, 'feed')
  const post = others.getByRole('article').filter({ hasText: 'Done for today' })
  await post.getByRole('region', { name: 'Workout' }).getByText(workout!.data.title).waitFor()
  await post.getByText(/\d+ min/).last().waitFor()
  await others.getByRole('region', { name: 'Achievement' }).getByText('30 days in a row').waitFor()
}

/** A page of comments has twenty. */
async function readOlderComments (page: Page, { send }: Member) {
  const { data: { post } } = await send<{ data: { post: { id: string } } }>('POST', '/feed', {
    type: 'TEXT',
    content: 'Ask me anything'
  })
  for (let number = 0; number < 21; number++) await send('POST', `/feed/${post.id}/comment`, { content: 'An answer' })
  await open(page, `post/${post.id}`)
  await page.getByText('An answer').nth(19).waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('An answer').nth(20).waitFor()
  await page.getByRole('button', { name: 'Report' }).waitFor()
}

/** What waits is shown, also when the page is opened again, and then it is sent. */
async function likeAndCommentLater (page: Page, { send }: Member) {
  const { data: { post } } = await send<{ data: { post: { id: string } } }>('POST', '/feed', {
    type: 'TEXT',
    content: 'Who is there?'
  })
  await page.route('**/like', async (route) => await route.abort())
  await open(page, `post/${post.id}`)
  await page.getByRole('button', { name: 'Like, 0' }).click()
  await open(page, `post/${post.id}`)
  await page.getByRole('button', { name: 'Unlike, 1' }).waitFor()
  await page.unroute('**/like')
  await page.context().setOffline(true)
  await page.getByLabel('Comment', { exact: true }).fill('I am')
  await page.keyboard.press('Enter')
  await page.getByText('Waiting for the network').waitFor()
  await page.context().setOffline(false)
  await page.getByText('Waiting for the network').waitFor({ state: 'detached' })
  await page.getByText('I am', { exact: true }).waitFor()
}

/** A chat has ended for both, and nothing that was read before shows the person who is blocked. */
async function blockInChat (page: Page, others: Page) {
  await open(others, 'chats')
  await others.getByRole('link', { name: 'Mia' }).click()
  await others.getByLabel('Message', { exact: true }).waitFor()
  await open(page, '')
  const blocked = page.getByRole('region', { name: 'People you have blocked' })
  const openSafety = async () => {
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'Safety' }).click()
  }
  await openSafety()
  await blocked.getByText('Nobody.').waitFor()
  // The history of a browser goes back a moment later; a page that is opened before would be left instead.
  for (const address of ['**/app/settings', '**/app/']) {
    await page.getByRole('button', { name: 'Back' }).click()
    await page.waitForURL(address)
  }
  await go(page, 'Chats')
  await page.waitForURL('**/app/chats')
  await page.getByRole('link', { name: 'Leo' }).click()
  await page.getByRole('button', { name: 'Report' }).click()
  await page.getByRole('button', { name: 'Advertising' }).click()
  await page.getByRole('button', { name: 'Report and block' }).click()
  for (const each of [page, others]) await each.getByText('This chat has ended').waitFor()
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByText('No chats yet').waitFor()
  await go(page, 'Home')
  await openSafety()
  await blocked.getByText('Leo').waitFor()
}

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
  await choose(page, path.join(import.meta.dirname, 'videos/rotated.mp4'))
  await page.getByLabel('How did it go?').fill('First video of the walk')
  await page.getByLabel('The chosen video').waitFor()
  await page.getByRole('button', { name: 'Post', exact: true }).click()
  await article(page, 'First video of the walk').waitFor()
}

async function postPicture (page: Page) {
  const buffer = await sharp(Buffer.from(drawScene(seed, 'beach'))).jpeg().toBuffer()
  await choose(page, { name: 'beach.jpg', mimeType: 'image/jpeg', buffer })
  await page.getByLabel('How did it go?').fill('First picture of the walk #running')
  await page.getByRole('button', { name: 'Post', exact: true }).click()
  await article(page, 'First picture of the walk').waitFor()
}

/** One person shares a story; the other, who follows them, sees it. */
async function shareStory (page: Page, others: Page) {
  const buffer = await sharp(Buffer.from(drawScene(seed, 'run'))).jpeg().toBuffer()
  await choose(page, { name: 'run.jpg', mimeType: 'image/jpeg', buffer })
  await page.getByLabel('How did it go?').fill('A story of the walk')
  await page.getByRole('button', { name: 'Share as a story' }).click()
  await page.getByRole('link', { name: 'You', exact: true }).waitFor()
  await open(others, 'feed')
  await others.getByRole('button', { name: 'Following' }).click()
  await others.getByText('Nothing here yet').waitFor()
  await others.getByRole('button', { name: 'For you' }).click()
  await article(others, 'First picture of the walk').getByRole('link').first().click()
  await others.getByRole('button', { name: 'Follow', exact: true }).click()
  await others.getByRole('button', { name: 'Unfollow' }).waitFor()
  await others.getByRole('button', { name: 'Back' }).click()
  await others.getByRole('button', { name: 'Following' }).click()
  await article(others, 'First picture of the walk').waitFor()
  await open(others, 'feed')
  await others.getByRole('link', { name: 'Mia', exact: true }).click()
  await others.getByText('A story of the walk').waitFor()
  await others.getByRole('button', { name: 'Close' }).click()
}

// What the page has, of which this program knows no types.
interface Video {
  currentTime: number
  videoWidth: number
  videoHeight: number
  duration: number
  readyState: number
  addEventListener: (type: string, listener: (event: unknown) => void, options?: { once: boolean }) => void
  play: () => Promise<void>
}

/** Plays the video of the walk, and jumps in it: the server sends the parts that the browser asks for. */
async function playVideo (t: Test, page: Page) {
  const ranges: string[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('.mp4')) ranges.push(`${response.status()} ${response.headers()['content-range']}`)
  })
  await open(page, 'feed')
  const post = article(page, 'First video of the walk')
  await post.getByRole('button', { name: 'Play' }).click()
  const video = post.locator('video')
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
    if (video.readyState < 4) await until('canplaythrough', () => {})
    await until('seeked', () => video.currentTime = 1.5)
    const seekedTo = video.currentTime
    await until('ended', () => void video.play())
    return { seekedTo, width: video.videoWidth, height: video.videoHeight, duration: video.duration }
  })
  t.match(shown, { seekedTo: Number, width: 240, height: 320 }, 'it is upright')
  t.ok(Math.abs(shown.duration - 2) < 0.1, `${shown.duration} seconds`)
  t.match(ranges[0], /^206 bytes 0-\d+\/\d+$/)
}
