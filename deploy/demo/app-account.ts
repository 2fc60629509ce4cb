import { call } from '@tandem/rehearsals/kit/call.ts'
import { codeMailedTo, newestCode, PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import { go, newPage, open } from './app-pages.ts'

// What the walk through the sample app does with an account, from its creation to its deletion.

const newcomer = 'newcomer@example.com'

/** Creates an account with the code from the email. Without a network, a page says so. */
export async function register (t: Test, browser: Browser, stack: Stack) {
  const page = await newPage(t, browser, stack, '')
  const email = newcomer
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
  await page.getByRole('heading', { name: 'About you' }).waitFor()
  await page.getByLabel('Birthday').fill('1996-04-12')
  await page.getByRole('button', { name: 'Woman' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Your photos' }).waitFor()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('checkbox').first().click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('heading', { name: 'Nadia' }).waitFor()
  await page.context().setOffline(true)
  await go(page, 'Discover')
  await page.getByText('You are offline').waitFor()
  await page.context().setOffline(false)
  await page.getByText('Find people to train with').waitFor()
  return page
}

/** Ends the session from another device. Who signs in then sees nothing of the last person, and signs out all tabs. */
export async function endSession (page: Page, stack: Stack, nextEmail: string) {
  const body = { email: newcomer, password: PASSWORD }
  const { accessToken: token } = await call<{ accessToken: string }>(stack, 'POST', '/auth/login', { body })
  await call(stack, 'POST', '/auth/sessions', { token, body: { action: 'revoke_all' } })
  await page.getByLabel('Email').fill(nextEmail)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Mia' }).waitFor()
  const otherTab = await page.context().newPage()
  await otherTab.goto(page.url())
  await otherTab.getByRole('heading', { name: 'Mia' }).waitFor()
  await open(page, 'settings')
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByLabel('Email').waitFor()
  await otherTab.getByLabel('Email').waitFor()
  await otherTab.close()
}

/** Deletes the account, and keeps it at the next sign-in, which is with a code from an email. */
export async function deleteAndKeep (page: Page, stack: Stack) {
  const known = await newestCode(stack, newcomer)
  await page.getByLabel('Email').fill(newcomer)
  await page.getByRole('button', { name: 'Email me a code instead' }).click()
  const code = await codeMailedTo(stack, newcomer, known)
  await page.getByLabel('Code from the email').fill(code)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Nadia' }).waitFor()
  await open(page, 'delete-account')
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await page.getByText(/^Everything is erased on/).waitFor()
  await page.getByLabel('Email').fill(newcomer)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Do you want to stay?' }).waitFor()
  await page.getByRole('button', { name: 'Keep my account' }).click()
  await page.getByRole('heading', { name: 'Nadia' }).waitFor()
}
