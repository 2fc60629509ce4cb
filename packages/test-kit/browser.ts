import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Teardown } from './teardown.ts'

const programs = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  process.env['CHROMIUM'] ?? ''
]
const program = programs.find((each) => each && existsSync(each))

/** The option of a test that needs a browser: it is skipped where none is installed. */
export const needsBrowser = {
  skip: program ? false : 'Chromium is not installed (apt-get install chromium, or CHROMIUM=<path>)'
}

export async function openBrowser (t: Teardown): Promise<Browser> {
  // Root has no sandbox; the pages are our own.
  const browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  t.teardown(async () => await browser.close())
  return browser
}

/** What axe-core finds wrong with the accessibility of a page, a sentence each. */
export async function listAccessibilityErrors (page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(async () => await (globalThis as unknown as { axe: typeof axe }).axe.run())
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`)
}
