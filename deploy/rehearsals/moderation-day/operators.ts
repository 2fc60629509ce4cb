import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { until } from '@tandem/test-kit'
import { addPasskeys, watchProblems } from '@tandem/test-kit/browser'
import type { Browser, Page } from 'playwright-core'
import { linkMailedTo } from '../kit/people.ts'
import { urlOfSchema, type Stack } from '../kit/stack.ts'

/** An operator at the console, signed in with a passkey of their own. */
export interface Desk {
  name: string
  page: Page
  /** What the policy of the pages refused, and errors of the script. */
  problems: string[]
  /** The pages that a service did not answer in time, or that refused what the operator did. */
  refusals: string[]
}

/** @returns the link of the first administrator */
export const inviteFirst = async (stack: Stack) => await inviteInShell(stack, 'invite-first', 'admin@example.com')

/** Invites an operator in the shell. @returns the link */
export async function inviteInShell (stack: Stack, ...args: string[]) {
  const cli = ['services/identity/operator/cli.ts', 'staff', ...args]
  const { stdout } = await promisify(execFile)(process.execPath, cli, {
    env: { ...process.env, DATABASE_URL: urlOfSchema(stack, 'identity'), CONSOLE_URL: stack.console.url }
  })
  const [url] = /\bhttps?:\S+/.exec(stdout) ?? []
  if (!url) throw new Error(`no link: ${stdout}`)
  return url
}

/** Opens the link of an invitation in a browser of its own, and adds a passkey, again if a busy service did not respond. */
export async function enroll (browser: Browser, name: string, link: string): Promise<Desk> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' })
  const problems = await watchProblems(context)
  const page = await context.newPage()
  await addPasskeys(page)
  await page.goto(link)
  const refusals: string[] = []
  const isEnrolled = () => new URL(page.url()).pathname !== '/enroll'
  while (!isEnrolled()) {
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    let refusal = ''
    await until(async () => {
      refusal = await readAlert(page)
      return refusal !== '' || isEnrolled()
    })
    if (!isEnrolled()) addRefusal({ name, refusals }, refusal)
  }
  return { name, page, problems, refusals }
}

/** Invites a moderator on the page Operators. @returns the link, which only their mailbox gets */
export async function inviteModerator ({ page }: Desk, stack: Stack, email: string) {
  await page.goto(`${stack.console.url}/staff`)
  await page.getByRole('textbox', { name: 'Email address' }).fill(email)
  await page.locator('form[action="/staff"]').getByRole('combobox', { name: 'Role' }).selectOption({
    label: 'Moderator'
  })
  await page.getByRole('button', { name: 'Invite an operator' }).click()
  await page.getByText('The link is on its way to them.').waitFor()
  return await linkMailedTo(stack, email)
}

/** What operators decide about a case, by the words in it. */
export const verdicts = ['fine', 'spam', 'insult', 'threat'] as const
export type Verdict = typeof verdicts[number]

export interface Decided {
  /** Of the person who decided. */
  by: string
  service: string
  caseId: string
  verdict: Verdict
  /** From the case on the screen to the next one. */
  ms: number
}

/**
 * Takes one case after the other until none is left, and decides each by the words in it.
 * @param limit of cases
 */
export async function workThroughQueue (desk: Desk, { console }: Stack, limit = Infinity): Promise<Decided[]> {
  const { page, name } = desk
  const decided: Decided[] = []
  await takeNext(desk, console.url)
  while (decided.length < limit) {
    await page.waitForLoadState()
    const title = await page.getByRole('heading', { level: 1 }).innerText()
    if (/^(Not available|This was not done)/.test(title)) {
      addRefusal(desk, (await page.locator('main').innerText()).replaceAll(/\s+/g, ' '))
      await takeNext(desk, console.url)
      continue
    }
    const [, service = '', caseId = ''] = /^\/cases\/(\w+)\/([\w-]+)$/.exec(new URL(page.url()).pathname) ?? []
    if (!caseId) return decided
    if (await page.locator('form.decide').count() === 0) {
      // Its service has not carried out yet what was decided a moment ago.
      await takeNext(desk, console.url)
      continue
    }
    const since = performance.now()
    const text = await page.locator('section[aria-label="What was reported"]').innerText()
    const verdict = verdicts.find((each) => text.includes(`(${each})`)) ?? 'fine'
    await fillIn(page, verdict)
    const isLast = decided.length + 1 === limit
    const button = page.getByRole('button', { name: isLast ? 'Decide' : 'Decide and take the next', exact: true })
    await Promise.all([page.waitForEvent('framenavigated'), button.click()])
    if (!page.url().includes('done=')) continue
    decided.push({ by: name, service, caseId, verdict, ms: performance.now() - since })
  }
  return decided
}

/** What the form says about the last attempt; empty while one is under way or the page changes. */
const readAlert = async (page: Page) =>
  await page.getByRole('alert').textContent({ timeout: 1_000 }).catch(() => '') ?? ''

const MAX_REFUSALS = 20

function addRefusal ({ name, refusals }: Pick<Desk, 'name' | 'refusals'>, refusal: string) {
  refusals.push(refusal)
  if (refusals.length > MAX_REFUSALS) throw new Error(`${name} cannot work: ${refusals.join('\n')}`)
}

/** Takes the next case, again if a busy service did not respond in time. Each such page is in the desk's refusals. */
async function takeNext (desk: Desk, url: string) {
  const { page } = desk
  for (;;) {
    await page.goto(`${url}/queue`)
    const button = page.getByRole('button', { name: 'Take the next case' })
    if (await button.count() > 0) return await Promise.all([page.waitForEvent('framenavigated'), button.click()])
    addRefusal(desk, (await page.locator('main').innerText()).replaceAll(/\s+/g, ' '))
  }
}

async function fillIn (page: Page, verdict: Verdict) {
  await page.keyboard.press(verdict === 'fine' ? 'd' : 'v')
  if (verdict === 'fine') return
  const check = async (label: string) => await page.getByRole('checkbox', { name: label, exact: true }).check()
  if (await page.getByRole('checkbox', { name: 'Hide what was reported' }).count() === 0) await check('Warn')
  if (verdict === 'insult') await check('Restrict')
  if (verdict === 'threat') await check('Ban the account')
  await page.keyboard.press('s')
  await page.keyboard.type(`This was ${verdict}.`)
}

interface Answer {
  /** A part of the appeal's text. */
  text: string
  outcome: 'UPHELD' | 'REVERSED'
}

/** Answers an appeal on the page Appeals. */
export async function answerAppeal ({ page }: Desk, { console }: Stack, { text, outcome }: Answer) {
  await page.goto(`${console.url}/appeals`)
  const card = page.getByRole('article').filter({ hasText: text })
  await card.getByRole('textbox', { name: 'Answer' }).fill(`We have looked at it again: ${outcome}.`)
  if (outcome === 'UPHELD') {
    await card.getByRole('button', { name: 'The decision stands' }).click()
  } else {
    await card.getByRole('button', { name: 'Reverse the decision' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Yes' }).click()
  }
  await page.getByText('The appeal was answered.').waitFor()
}

/** Whether an operator made the decision that is appealed: then somebody else answers. */
export async function hasDecided ({ page }: Desk, { console }: Stack, text: string) {
  await page.goto(`${console.url}/appeals`)
  return await page.getByRole('article').filter({ hasText: text }).getByText('You decided this').count() > 0
}
