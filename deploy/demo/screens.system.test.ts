import { readFileSync } from 'node:fs'
import path from 'node:path'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import { PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import { until } from '@tandem/test-kit'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import type { Browser, Response } from 'playwright-core'
import t from 'tap'
import type { Member } from './member.ts'
import { findHome, join } from './join.ts'
import { describePeople } from './people.ts'
import { importPlaces } from './places.ts'
import { planTogether } from './plans.ts'
import { createPost, createStory, describePost, showTraining } from './posts.ts'
import { createRandom } from './random.ts'
import { chats } from './texts.ts'

const MAX_HOME_BYTES = 20_000
// The people are the same in each run; what is gathered into one notification depends on the time.
const TOLERANCE = 0.3
const API_PATH = '/api/mobile/v1'
/** A response of the API that a screen has read. */
interface Read {
  path: string
  search: string
  bytes: number
  wireBytes: number
}

interface Cost {
  requests: number
  kilobytes: number
  wireKilobytes: number
}

type Session = Awaited<ReturnType<typeof signIn>>

/** What each start reads: the brand, and what the badges of the tabs show. */
const shell = ['/meta', '/fitmatch/matches', '/notifications']

t.test('no screen costs more than docs/build-an-app.md says', needsBrowser, async (t) => {
  const browser = await openBrowser(t)
  const { stack } = await sharedStack()
  const mia = await joinWithFriends(stack)
  const app = `${stack.devPage.url}/app/`
  const session = await signIn(browser, app, mia)
  const documented = readTable()
  const costs = new Map<string, Cost>()
  for (const [name, route] of Object.entries(await listScreens(mia))) {
    const reads = await readsOf(browser, session, `${app}${route}`, documented.get(name)?.requests ?? 1)
    const urls = reads.map(({ path, search }) => path + search)
    t.same(urls.filter((url, index) => urls.indexOf(url) !== index), [], `${name} reads nothing twice`)
    for (const [tab, needed] of [['Start', '/meta'], ['Chats', shell[1]], ['Inbox', shell[2]]] as const) {
      if (name === 'Home') costs.set(tab, sum(reads.filter((each) => each.path === needed)))
    }
    costs.set(name, sum(reads.filter((each) => !shell.includes(each.path))))
  }

  t.ok(costs.get('Home')!.kilobytes * 1_000 <= MAX_HOME_BYTES)
  for (const name of ['Start', 'Home', 'Chats', 'Inbox', 'Discover']) t.equal(costs.get(name)!.requests, 1, name)
  t.same(compare(costs, documented), [], `the table of docs/build-an-app.md is now:\n${formatTable(costs)}\n`)
})

const FRIENDS = 5
const POSTS = 12

/** Somebody with eight weeks of workouts, three chats, plans, and a feed of two pages. */
async function joinWithFriends (stack: Stack): Promise<Member> {
  const seed = 'screens'
  const random = createRandom(seed)
  const home = await findHome(stack)
  await importPlaces(stack)
  const members: Member[] = []
  for (const [index, person] of describePeople(seed).slice(0, 1 + FRIENDS).entries()) {
    // A test before has seeded this system with people of the same addresses and usernames.
    const own = { ...person, email: `screens-${person.email}`, username: `${person.username}_s` }
    members.push(await join(own, { stack, seed, home, isMain: index === 0 }))
  }
  const [mia, ...friends] = members as [Member, Member, Member, Member]
  for (let number = 0; number < POSTS; number++) {
    const post = await createPost(describePost(random, members[number % members.length]!))
    for (const { send } of friends) await send('POST', `/feed/${post.id}/like`)
  }
  for (const friend of friends) {
    await mia.send('POST', `/users/${await friend.accountId()}/follow`)
    await createStory(friend, random)
  }
  const matches = friends.slice(0, 3) as [Member, Member, Member]
  for (const [index, friend] of matches.entries()) await matchAndChat(mia, friend, chats[index] ?? [])
  await planTogether(mia, matches)
  await passOnOthers(mia, friends)
  await showTraining(mia)
  return mia
}

async function matchAndChat (main: Member, friend: Member, texts: string[]) {
  const idOf = async ({ send }: Member) => (await send<{ data: { id: string } }>('GET', '/fitmatch/profile')).data.id
  const like = async ({ send }: Member, targetProfileId: string) =>
    (await send<{ data: { match?: { matchId: string } } }>('POST', '/fitmatch/swipe', {
      targetProfileId,
      swipeType: 'WORKOUT_BUDDY'
    })).data.match?.matchId
  await like(friend, await idOf(main))
  const matchId = await like(main, await idOf(friend))
  for (const [turn, content] of texts.entries()) {
    await (turn % 2 === 0 ? friend : main).send('POST', `/fitmatch/chat/${matchId}/messages`, { content })
  }
}

/** Other tests have left people nearby: Discover would be longer than for somebody who is alone with their friends. */
async function passOnOthers ({ send }: Member, friends: Member[]) {
  type Discover = { data: { profiles: { id: string, displayName: string }[] } }
  const { data: { profiles } } = await send<Discover>('GET', '/fitmatch/discover?limit=50')
  const names = friends.map(({ person }) => person.name)
  for (const { id } of profiles.filter(({ displayName }) => !names.includes(displayName))) {
    await send('POST', '/fitmatch/swipe', { targetProfileId: id, swipeType: 'PASS' })
  }
}

/** @returns what the app has stored then */
async function signIn (browser: Browser, app: string, { person: { email } }: Member) {
  const page = await browser.newPage()
  await page.goto(`${app}sign-in?email=${email}`)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('day streak').waitFor()
  return await page.context().storageState()
}

/** Each screen by its name: where it is. */
async function listScreens ({ send }: Member): Promise<Record<string, string>> {
  type Feed = { data: { posts: { id: string, userId: string }[] } }
  type Matches = { data: { conversations: { matchId: string }[] } }
  const { data: { posts: [post] } } = await send<Feed>('GET', '/feed?limit=1')
  const { data: { conversations: [chat] } } = await send<Matches>('GET', '/fitmatch/matches')
  return {
    Home: '',
    Feed: 'feed',
    Discover: 'discover',
    Post: `post/${post!.id}`,
    Profile: `person/${post!.userId}`,
    Chat: `chat/${chat!.matchId}`,
    Train: 'train',
    Progress: 'progress',
    Achievements: 'achievements',
    Goals: 'goals',
    Health: 'health',
    Plans: 'plans',
    Gyms: 'gyms',
    Safety: 'safety',
    Invite: 'invite',
    Settings: 'settings',
    Premium: 'paywall'
  }
}

/**
 * What the app reads when it is opened at this address, with nothing known but the session: at least `count` requests
 * besides the shell.
 */
async function readsOf (browser: Browser, storageState: Session, url: string, count: number): Promise<Read[]> {
  const context = await browser.newContext({ storageState, viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  const paths: string[] = []
  const reads: Promise<Read>[] = []
  page.on('response', (response) => {
    const path = pathOf(response)
    if (path === '') return
    paths.push(path)
    const request = response.request()
    reads.push((async () => {
      const [body, { responseBodySize }] = await Promise.all([response.body(), request.sizes()])
      return { path, search: new URL(response.url()).search, bytes: body.length, wireBytes: responseBodySize }
    })())
  })
  await page.goto(url)
  await until(() => paths.filter((each) => !shell.includes(each)).length >= count)
  // Of the home screen; not every page shows the tabs.
  if (url.endsWith('/app/')) await until(() => shell.every((each) => paths.includes(each)))
  await page.waitForLoadState('networkidle')
  await until(async () => await page.getByLabel('Loading').count() === 0)
  // The shell of a page without tabs can be read later, and the page is closed before.
  page.removeAllListeners('response')
  const all = await Promise.all(reads)
  await context.close()
  return all
}

/** Of a read of the API; otherwise empty. */
function pathOf (response: Response) {
  const { pathname } = new URL(response.url())
  return pathname.startsWith(API_PATH) && response.request().method() === 'GET' ? pathname.slice(API_PATH.length) : ''
}

const sum = (reads: Read[]): Cost => ({
  requests: reads.length,
  kilobytes: toKilobytes(reads.reduce((total, { bytes }) => total + bytes, 0)),
  wireKilobytes: toKilobytes(reads.reduce((total, { wireBytes }) => total + wireBytes, 0))
})

const toKilobytes = (bytes: number) => Math.round(bytes / 100) / 10

const formatTable = (costs: Map<string, Cost>) =>
  [...costs].map(([name, { requests, kilobytes, wireKilobytes }]) =>
    `| ${name} | ${requests} | ${kilobytes} | ${wireKilobytes} |`
  ).join('\n')

/** What the page says otherwise, a sentence each. */
const compare = (costs: Map<string, Cost>, documented: Map<string, Cost>) =>
  [...costs].flatMap(([name, { requests, kilobytes }]) => {
    const known = documented.get(name)
    if (!known) return [`${name} is missing`]
    if (requests !== known.requests) return [`${name} has ${requests} requests, not ${known.requests}`]
    const isClose = Math.abs(kilobytes - known.kilobytes) <= 1 + TOLERANCE * known.kilobytes
    return isClose ? [] : [`${name} has ${kilobytes} KB, not ${known.kilobytes}`]
  })

function readTable () {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/build-an-app.md'), 'utf8')
  const rows = text.matchAll(/^\| ([A-Z]\w+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$/gm)
  return new Map(
    [...rows].map(([, name = '', requests, kilobytes, wireKilobytes]) => [name, {
      requests: Number(requests),
      kilobytes: Number(kilobytes),
      wireKilobytes: Number(wireKilobytes)
    }])
  )
}
