import { randomBytes } from 'node:crypto'
import {
  addPasskeys,
  listAccessibilityErrors,
  needsBrowser,
  openBrowser,
  tabTo,
  watchProblems
} from '@tandem/test-kit/browser'
import processTest, { type Test } from 'tap'
import { textsIn, type Texts } from '../console/texts.ts'
import { staff, type testConsole } from './console.ts'

type Console = Awaited<ReturnType<typeof testConsole>>

/** Identity's part of a passkey: what it offers, and that the browser signed exactly this. */
export function fakePasskeys (t: Pick<Test, 'match'>, { answers, origin }: Pick<Console, 'answers' | 'origin'>) {
  let challenge = ''
  const offer = () => {
    challenge = randomBytes(32).toString('base64url')
    return challenge
  }
  const check = (type: string) => ({ body }: { body: Buffer }) => {
    const { response } = JSON.parse(String(body)) as { response: { response: { clientDataJSON: string } } }
    const client = JSON.parse(Buffer.from(response.response.clientDataJSON, 'base64url').toString()) as object
    t.match(client, { type, challenge, origin })
    return { session: 'good' }
  }
  answers.set('identity POST /operator/enrollment/options', () => ({
    rp: { id: 'localhost', name: 'Tandem console' },
    user: { id: Buffer.from(staff.id).toString('base64url'), name: staff.email, displayName: '' },
    challenge: offer(),
    pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' }
  }))
  answers.set('identity POST /operator/enrollment', check('webauthn.create'))
  const use = () => ({ rpId: 'localhost', challenge: offer(), userVerification: 'required' })
  for (const path of ['sign-in', 'proof']) {
    answers.set(`identity POST /operator/${path}/options`, use)
    answers.set(`identity POST /operator/${path}`, check('webauthn.get'))
  }
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>['newPage']>>

interface Desk {
  page: Page
  texts: Texts
  language: 'en' | 'id'
  /** The addresses that the browser has fetched. */
  requested: string[]
  open: (path: string) => Promise<void>
  /** Reaches the only element of this role and name with the Tab key. */
  reach: (role: 'button' | 'link' | 'textbox' | 'combobox', name: string) => Promise<void>
  /** Reaches a button with the Tab key, and presses Enter. */
  press: (name: string) => Promise<void>
  /** The question before a form is sent: answers it with the Enter key. */
  agree: () => Promise<void>
  /** The page is accessible on a phone in the dark, and on a desk. */
  isAccessible: (name: string) => Promise<void>
}

// One for all files of a process, each test with a context of its own: a start takes two seconds of processor time.
let browser: ReturnType<typeof openBrowser> | undefined

/**
 * Does `work` in English and in Indonesian, as an operator with a passkey, a keyboard and no mouse. The policy of the
 * pages must refuse nothing.
 */
export function atDesk (
  t: Test,
  name: string,
  world: Pick<Console, 'answers' | 'origin'>,
  work: (t: Test, desk: Desk) => Promise<void>
) {
  for (const language of ['en', 'id'] as const) {
    t.test(`${name}, in ${language}`, needsBrowser, async (t) => {
      fakePasskeys(t, world)
      browser ??= openBrowser(processTest)
      const context = await (await browser).newContext({
        viewport: { width: 1280, height: 900 },
        locale: language,
        reducedMotion: 'reduce'
      })
      t.teardown(async () => await context.close())
      const problems = await watchProblems(context)
      const page = await context.newPage()
      await addPasskeys(page)
      await page.goto(`${world.origin}/enroll#token=secret`)
      // A busy browser focuses the button some time after the page has loaded.
      await page.locator('button:focus').waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname !== '/enroll')
      await work(t, createDesk(t, { page, language, origin: world.origin }))
      t.same(problems, [], 'the policy refused nothing, and the script failed nowhere')
    })
  }
}

function createDesk (
  t: Test,
  { page, language, origin }: { page: Page, language: 'en' | 'id', origin: string }
): Desk {
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  const reach: Desk['reach'] = async (role, name) => await tabTo(page, page.getByRole(role, { name, exact: true }))
  const press: Desk['press'] = async (name) => {
    await reach('button', name)
    await page.keyboard.press('Enter')
  }
  const texts = textsIn(language)
  return {
    page,
    texts,
    language,
    requested,
    reach,
    press,
    open: async (path) => void await page.goto(origin + path),
    agree: async () => {
      await page.getByRole('dialog').waitFor()
      await page.keyboard.press('Enter')
    },
    isAccessible: async (name) => {
      for (const [width, colorScheme] of [[390, 'dark'], [1280, 'light']] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        t.same(await listAccessibilityErrors(page), [], `${name}, ${width} px wide, ${colorScheme}`)
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, 'no scrolling sideways')
      }
    }
  }
}
