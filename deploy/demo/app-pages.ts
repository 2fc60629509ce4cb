import { PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'

// What the tests of the sample app do on its pages.

/** The app as somebody who signs in. */
export async function openApp (t: Test, browser: Browser, stack: Stack, email: string) {
  const page = await newPage(t, browser, stack, email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

export async function newPage (t: Test, browser: Browser, stack: Stack, email: string) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => t.fail(`${email}: ${message}`))
  await page.goto(`${stack.devPage.url}/app/sign-in?email=${email}`)
  await page.getByLabel('Email').waitFor()
  return page
}

export const go = async (page: Page, name: string) =>
  await page.getByRole('navigation').getByRole('tab', { name }).click()

/** Opens a page by its address: nothing is known from an earlier one. */
export const open = async (page: Page, name: string) => await page.goto(new URL(`/app/${name}`, page.url()).href)

export const article = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text })

/** Chooses a file on the page of a new post. */
export async function choose (page: Page, file: string | { name: string, mimeType: string, buffer: Buffer }) {
  await go(page, 'Feed')
  await page.getByRole('button', { name: 'New post' }).click()
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Add a picture or video' }).click()
  await (await chosen).setFiles(file)
}
