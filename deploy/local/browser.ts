import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import type { Test } from 'tap'

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

export async function openBrowser (t: Test): Promise<Browser> {
  // Root has no sandbox; the pages are our own.
  const browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  t.teardown(async () => await browser.close())
  return browser
}
