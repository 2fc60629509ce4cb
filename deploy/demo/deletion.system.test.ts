import { text } from 'node:stream/consumers'
import { call } from '@tandem/rehearsals/kit/call.ts'
import { PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import { listFiles } from '@tandem/rehearsals/kit/stored-files.ts'
import { until } from '@tandem/test-kit'
import { listAccessibilityErrors, needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { fromBufferPromise } from 'yauzl'
import { drawFace } from './faces.ts'
import { findHome, join } from './join.ts'
import type { Member } from './member.ts'
import { describePeople } from './people.ts'
import { importPlaces } from './places.ts'
import { createPost, createStory } from './posts.ts'
import { createRandom } from './random.ts'
import { drawScene } from './scenes.ts'
import { readTraces } from '@tandem/rehearsals/kit/traces.ts'

const seed = 'deletion'
const random = createRandom(seed)

interface Deletion {
  id: string
  status: string
  eraseAt: string
  services?: Record<string, { rows: Record<string, number>, files: number }>
}

t.test('a person deletes their account on the page, and nothing of them stays', needsBrowser, async (t) => {
  const browser = await openBrowser(t)
  const { stack, dataDir } = await sharedStack()
  const database = new pg.Client({ connectionString: stack.postgres.url })
  t.teardown(async () => await database.end())
  await database.connect()
  const redis = new Redis(stack.redis.url)
  redis.on('error', () => {})
  t.teardown(() => redis.disconnect())
  await importPlaces(stack)
  const home = await findHome(stack)
  const [aylin, jonas] = describePeople(seed).slice(2, 4) as [Parameters<typeof join>[0], Parameters<typeof join>[0]]
  const staying = await join(aylin, { stack, seed, home, isMain: false })
  const post = await createPost({ author: staying, type: 'TEXT', content: 'Hello #running', drawings: [] })
  const filesBefore = await listFiles(dataDir)
  const ownBefore = await staying.send<{ data: { post: object } }>('GET', `/feed/${post.id}`)

  const erased = await join(jonas, { stack, seed, home, isMain: true })
  const [accountId, otherId] = [await erased.accountId(), await staying.accountId()]
  const together = await liveTogether(erased, staying, post.id)
  const activity = await trainTogether(stack, erased, staying)
  const gone = [accountId, jonas.email, ...together, activity]
  await takeDataAlong(t, stack, erased)
  const filesOfAll = await listFiles(dataDir)
  t.ok(filesOfAll.length > filesBefore.length + 5, 'the person has files')
  const rows = await readTraces(database, { traces: [accountId, jonas.email], without: [] })
  t.ok(rows.size > 30, `the person is named in ${rows.size} tables`)
  const othersBefore = await readTraces(database, { traces: [otherId], without: gone })

  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  const violations: string[] = []
  page.on('console', (message) => message.type() === 'error' && violations.push(message.text()))
  page.on('pageerror', ({ message }) => violations.push(message))
  const id = await deleteOnPage(t, page, stack, jonas.email)
  t.same(violations, [], 'no error and no violation of the policy')

  const signIn = await fetch(`${stack.gateway.url}/api/mobile/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: jonas.email, password: PASSWORD })
  })
  t.match(await signIn.json(), { code: 'ACCOUNT_DELETION_PENDING' })
  // The clock is moved to when the last access token has expired.
  const search = await database.query<{ schema: string }>(
    `select table_schema as schema from information_schema.tables where table_name = 'erasures'`
  )
  const identity = search.rows[0]!.schema
  await database.query(`update "${identity}".erasures set erase_at = now() where id = $1`, [id])
  const read = async () =>
    (await call<{ data: { deletion: Deletion } }>(stack, 'GET', `/account/deletions/${id}`)).data.deletion
  await until(async () => (await read()).status === 'ERASED')

  const receipt = await read()
  t.same(Object.keys(receipt.services!).sort(), [
    'dashboard',
    'fitmatch',
    'identity',
    'notification',
    'profile',
    'social'
  ])
  const receipted = (service: string, table: string) => receipt.services![service]?.rows[table] ?? 0
  const missing = [...rows].filter(([name, { count }]) => {
    const [service, table] = name.split('.') as [string, string]
    return !unreceipted.has(table) && receipted(service.replace('tandem_', ''), table) < count
  })
  t.same(missing.map(([name]) => name), [], 'the receipt counts every row that named the person')
  const sum = Object.values(receipt.services!).reduce((files, each) => files + each.files, 0)
  const images = filesOfAll.filter((file) => !filesBefore.includes(file) && !isThumbnail(file))
  t.equal(sum, images.length + 1, 'and every image, with its thumbnails, and the copy of the data')

  await until(async () => (await listFiles(dataDir)).length === filesBefore.length)
  t.same(await listFiles(dataDir), filesBefore, 'no file stays, and none of another person is gone')
  const left = await readTraces(database, { traces: [accountId, jonas.email], without: [] })
  t.same([...left.keys()].filter((name) => !stubs.has(name.split('.')[1]!)), [], 'no row of any table names them')
  // The mark that refuses cached statistics from before the erasure expires after some seconds, and the gateway's
  // counts of requests, which hold nothing but a number, within an hour.
  const keys = async () =>
    (await redis.keys('*')).filter((key) =>
      (key.includes(accountId) || key.includes(jonas.email)) && !key.startsWith('limit:')
    )
  await until(async () => (await keys()).length === 0)
  t.same(await keys(), [], 'no key of Redis names them')

  const othersAfter = await readTraces(database, { traces: [otherId], without: gone })
  const changed = [...othersBefore].filter(([name, { digest }]) =>
    !volatile.has(name.split('.')[1]!) && othersAfter.get(name)?.digest !== digest
  )
  t.same(changed.map(([name]) => name), [], 'the rows of the other person are unchanged')
  const ownAfter = await staying.send<{ data: { post: object } }>('GET', `/feed/${post.id}`)
  t.same(ownAfter.data.post, ownBefore.data.post, 'and so is their post, with its counters')
  const upcoming = await staying.send<{ data: { activities: object[] } }>('GET', '/activities?filter=upcoming')
  t.match(upcoming.data.activities, [{ id: activity, goingCount: 1, participants: { length: 1 } }])
  t.equal(upcoming.data.activities.length, 1, 'what the erased person hosted is canceled')
  const mails = await mailsTo(stack, jonas.email)
  t.equal(mails[0]?.subject, 'Your Tandem account is deleted')
})

// What names an account by its id on purpose: tombstones, receipts, and events on their way.
// The mail with the receipt stays for an hour, the keys of files for a minute.
const stubs = new Set(['departures', 'outbox', 'erasures', 'accounts', 'mails', 'files_to_erase'])
// Before the erasure, devices go with the sessions, and safety checks when the account is hidden.
const unreceipted = new Set([...stubs, 'devices', 'meetings'])
// They change by themselves, or when the other person's sessions and inbox change.
const volatile = new Set([
  'outbox',
  'processed_events',
  'inboxes',
  'activity',
  'sessions',
  'deliveries',
  'notifications'
])

/**
 * What two people do to each other, so that each service has rows and files of both. @returns the ids of what is erased
 * with one of them
 */
async function liveTogether (erased: Member, staying: Member, postOfOther: string) {
  const own = await createPost({
    author: erased,
    type: 'IMAGE',
    content: `Bye #running @${staying.person.username}`,
    drawings: [drawScene(seed, 'beach')]
  })
  await erased.send('POST', `/feed/${postOfOther}/like`)
  await erased.send('POST', `/feed/${postOfOther}/comment`, { content: 'hello' })
  await staying.send('POST', `/feed/${own.id}/like`)
  await staying.send('POST', `/feed/${own.id}/comment`, { content: 'welcome' })
  await erased.send('POST', `/users/${await staying.accountId()}/follow`)
  await staying.send('POST', `/users/${await erased.accountId()}/follow`)
  const story = await createStory(erased, random)
  await staying.send('POST', `/stories/${story.id}/react`, { emoji: '🔥' })

  const profileOf = async ({ send }: Member) =>
    (await send<{ data: { id: string } }>('GET', '/fitmatch/profile')).data.id
  const swipe = async (one: Member, other: Member) =>
    await one.send<{ data: { match?: { matchId: string } } }>('POST', '/fitmatch/swipe', {
      targetProfileId: await profileOf(other),
      swipeType: 'LIKE'
    })
  await erased.upload('/fitmatch/photos', drawFace(`${seed} third`, erased.person.look))
  await swipe(erased, staying)
  const { data: { match } } = await swipe(staying, erased)
  const drawing = await sharp(Buffer.from(drawScene(seed, 'beach'))).resize(200).png().toBuffer()
  const image = { base64: drawing.toString('base64'), mimeType: 'image/png' }
  await erased.send('POST', `/fitmatch/chat/${match!.matchId}/messages`, { content: 'Hi' })
  await erased.send('POST', `/fitmatch/chat/${match!.matchId}/messages`, { image })
  await staying.send('POST', `/fitmatch/chat/${match!.matchId}/messages`, { content: 'Hi, you' })

  await erased.upload('/fitmatch/verification', drawFace(`${seed} selfie`, erased.person.look), 'photo')
  const { data: { activity } } = await erased.send<{ data: { activity: { id: string } } }>('POST', '/activities', {
    sport: 'running',
    date: new Date(Date.now() + 3 * 24 * 60 * 60_000).toISOString().slice(0, 10),
    startTime: '18:00',
    endTime: '19:00',
    timezone: 'Asia/Jakarta',
    locationName: 'The park',
    capacity: 2,
    userIds: [await staying.accountId()]
  })
  await staying.send('POST', `/activities/${activity.id}/respond`, { accept: true, version: 1 })
  return [own.id, story.id, match!.matchId, activity.id]
}

/** Asks for a copy, downloads it with the mailed link, and looks for something of every service in it. */
async function takeDataAlong (t: Test, stack: Stack, { person, send }: Member) {
  const { data: { proof } } = await send<{ data: { proof: string } }>('POST', '/account/proof', {
    purpose: 'EXPORT',
    password: PASSWORD
  })
  await send('POST', '/account/export', { proof })
  const [token = ''] = await linksTo(stack, person.email, 'Your Tandem data is ready', 1)
  const file = `${stack.gateway.url}/api/mobile/v1/account/export/file?token=${token.slice(1)}`
  const archive = await fromBufferPromise(Buffer.from(await (await fetch(file)).arrayBuffer()))
  const files = new Map<string, string>()
  for await (const entry of archive.eachEntry()) {
    files.set(entry.fileName, await text(await archive.openReadStreamPromise(entry)))
  }
  const expected = {
    'identity/accounts.json': person.email,
    'profile/people.json': person.bio,
    'social/posts.json': 'Bye #running',
    'fitmatch/activities.json': 'The park',
    'dashboard/logs.json': 'WORKOUT',
    'notification/devices.json': 'demo-phone'
  }
  for (const [name, content] of Object.entries(expected)) t.ok(files.get(name)?.includes(content), name)
  t.notOk(files.get('fitmatch/messages.json')?.includes('Hi, you'), 'not the words of the other person')
  const { rows, missing } = JSON.parse(files.get('manifest.json') ?? '{}') as { rows: object, missing: string[] }
  t.same(Object.keys(rows).sort(), ['dashboard', 'fitmatch', 'identity', 'notification', 'profile', 'social'])
  t.same(missing, [], 'every image is in it')
  t.ok([...files.keys()].some((name) => name.startsWith('media/selfies/')), 'the selfie too')
}

/** The one who stays hosts an activity to which the other goes, and tells a trusted contact of. @returns its id */
async function trainTogether (stack: Stack, erased: Member, staying: Member) {
  const { data: { activity } } = await staying.send<{ data: { activity: { id: string } } }>('POST', '/activities', {
    sport: 'running',
    date: new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10),
    startTime: '18:00',
    endTime: '19:00',
    locationName: 'The gate',
    userIds: [await erased.accountId()]
  })
  await erased.send('POST', `/activities/${activity.id}/respond`, { accept: true, version: 1 })
  const contact = 'contact-of-leaving@example.com'
  await erased.send('PUT', '/notifications/trusted-contact', { name: 'Mum', email: contact })
  const [hash] = await linksTo(stack, contact, 'Will you be a trusted contact on Tandem?', 1)
  const token = new URLSearchParams(hash!.slice(1)).get('token')
  await call(stack, 'POST', '/notifications/trusted-contact/answer', { body: { token, accept: true } })
  await erased.send('POST', `/activities/${activity.id}/safety`, {})
  const { data: { request } } = await staying.send<{ data: { request: { id: string } } }>('POST', '/buddies/requests', {
    userId: await erased.accountId(),
    sport: 'running'
  })
  await erased.send('POST', `/buddies/requests/${request.id}/respond`, { accept: true })
  await erased.send('POST', '/fasting', { plan: '16:8' })
  return activity.id
}

/** Requests a link, changes one's mind once, and then deletes the account at once; by keyboard. @returns the deletion's id */
async function deleteOnPage (t: Test, page: Page, stack: Stack, email: string) {
  const status = page.getByRole('status')
  const open = async (hash = '') => {
    await page.goto('about:blank')
    await page.goto(`${stack.gateway.url}/delete-account${hash}`)
  }
  await page.setExtraHTTPHeaders({ 'accept-language': 'id' })
  await open()
  await page.getByRole('heading', { name: 'Hapus akun Tandem Anda' }).waitFor()
  t.same(await listAccessibilityErrors(page), [], 'Indonesian')
  await page.setExtraHTTPHeaders({ 'accept-language': 'en' })

  const requestLink = async (count: number) => {
    await open()
    await page.getByLabel('The email address of your account').fill(email)
    await page.keyboard.press('Enter')
    await status.filter({ hasText: 'we have sent a link' }).waitFor()
    return (await linksTo(stack, email, 'Delete your Tandem account', count))[0]!
  }
  const choose = async (button: string) => {
    const checkbox = page.getByRole('checkbox')
    await checkbox.waitFor()
    t.same(await listAccessibilityErrors(page), [], 'with the buttons')
    await checkbox.focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    if (button === 'now') await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await status.filter({ hasText: 'Your account will be deleted on' }).waitFor()
  }

  await open(await requestLink(1))
  t.equal(new URL(page.url()).hash, '', 'the history keeps no token')
  await choose('later')
  const [restore] = await linksTo(stack, email, 'Your Tandem account will be deleted', 1)
  await open(restore)
  await page.getByRole('button', { name: 'Keep my account' }).press('Enter')
  await status.filter({ hasText: 'Your account stays' }).waitFor()
  t.same(await listAccessibilityErrors(page), [], 'after a change of mind')

  await page.setViewportSize({ width: 1_280, height: 900 })
  await open(await requestLink(2))
  await choose('now')
  const [receipt] = await linksTo(stack, email, 'Your Tandem account will be deleted', 2)
  return new URLSearchParams(receipt!.slice(1)).get('id')!
}

interface Mail {
  subject: string
  text: string
}
const mailsTo = async (stack: Stack, email: string) =>
  await (await fetch(`${stack.mail.url}/api/mails?to=${encodeURIComponent(email)}`)).json() as Mail[]

/** The fragments of the links in the mails with a subject, the newest first, once there are `count` of them. */
async function linksTo (stack: Stack, email: string, subject: string, count: number) {
  const read = async () => (await mailsTo(stack, email)).filter((mail) => mail.subject === subject)
  await until(async () => (await read()).length >= count)
  return (await read()).map(({ text }) => new URL(/https?:\S+/.exec(text)![0]).hash)
}

const isThumbnail = (file: string) => /-w\d+\.webp$/.test(file)
