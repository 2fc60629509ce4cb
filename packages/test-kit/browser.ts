import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import processTest from 'tap'
import type { Teardown } from './teardown.ts'

const programs = [
  // Without the windows of a browser, it takes a third of the processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  process.env['CHROMIUM'] ?? ''
]
// The first page of the sample app waits until it is built, on a slow machine with much else to do for minutes.
const TIMEOUT_MS = 240_000
const program = programs.find((each) => each && existsSync(each))

/** The option of a test that needs a browser: it is skipped where none is installed. */
export const needsBrowser = {
  skip: program ? false : 'Chromium is not installed (apt-get install chromium-headless-shell, or CHROMIUM=<path>)'
}

let launched: Promise<Browser> | undefined

/** The browser of all test files of a process, as its start takes a second of processor time. Its pages end with `t`. */
export async function openBrowser (t: Teardown): Promise<Browser> {
  launched ??= launch()
  const browser = await launched
  t.teardown(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  return browser
}

async function launch () {
  // Root has no sandbox; the pages are our own.
  const browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  processTest.teardown(async () => await browser.close())
  browser.on('context', (context) => context.setDefaultTimeout(TIMEOUT_MS))
  return browser
}

/** What axe-core finds wrong with the accessibility of a page, a sentence each. */
export async function listAccessibilityErrors (page: Page): Promise<string[]> {
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe.source)
  const { violations } = await page.evaluate(async () =>
    await (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] })
  )
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Gives a page a security key of its own, whose owner is always verified. */
export async function addPasskeys (page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
}

/** What the policies of the pages refuse, and every error of their scripts, as they happen. */
export async function watchProblems (context: BrowserContext): Promise<string[]> {
  const problems: string[] = []
  await context.addInitScript({
    content: "addEventListener('securitypolicyviolation', (event) => console.error('policy:', event.violatedDirective))"
  })
  context.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) problems.push(message.text())
  })
  context.on('weberror', (error) => problems.push(String(error.error())))
  return problems
}

const MAX_TABS = 100

/** The part of an element that is used here: the types of browsers are not those of Node. */
interface Matchable {
  matches: (selector: string) => boolean
}

/** Moves to an element as somebody without a mouse does. @throws if the Tab key does not lead there */
export async function tabTo (page: Page, target: Locator) {
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    if (await target.evaluate((element: Matchable) => element.matches(':focus'))) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${String(target)} cannot be reached with the Tab key`)
}
