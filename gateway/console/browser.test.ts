import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  addPasskeys,
  listAccessibilityErrors,
  needsBrowser,
  openBrowser,
  watchProblems
} from '@tandem/test-kit/browser'
import { fakePasskeys } from '../test/console-browser.ts'
import { givenCase, testConsole } from '../test/console.ts'

const givenEvidence = (content: object) => ({
  evidence: [{ content, createdAt: new Date().toISOString() }],
  reports: [{ reason: 'SPAM', details: 'Again', createdAt: new Date().toISOString() }]
})

t.test('a day at the console, by passkey and keys', needsBrowser, async (t) => {
  const world = await testConsole(t)
  const { answers, origin, received } = world
  fakePasskeys(t, world)
  const attack = '<script>document.title = "stolen"</script><img src=x onerror="document.title = 1">'
  const pictures = [{ number: 1, source: 'private/a.webp', sha256: 'ab' }]
  const cases = [
    givenCase({ priority: 3, excerpt: attack, personName: attack, reasons: ['VIOLENCE'] }),
    givenCase({ dueAt: new Date(0).toISOString(), reasons: ['SPAM'] })
  ]
  const [first] = cases
  answers.set('social GET /operator/cases', { cases, nextCursor: null })
  answers.set('fitmatch GET /operator/cases', { cases: [], nextCursor: null })
  answers.set('social GET /operator/cases/:id', {
    case: {
      ...first,
      ...givenEvidence({ content: attack, mediaUrls: ['https://evil.example/a.png'] }),
      files: pictures
    }
  })
  answers.set('social POST /operator/cases/:id/claim', {})
  answers.set('social GET /operator/cases/:id/files/1', Buffer.from('not a picture'))
  answers.set('identity GET /operator/cases/social/:id/decisions', { decisions: [] })
  let needsProof = true
  answers.set('identity POST /operator/decisions', () => {
    if (!needsProof) return { id: randomUUID() }
    needsProof = false
    return { refusal: [403, 'PROOF_REQUIRED'] }
  })

  const browser = await openBrowser(t)
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    reducedMotion: 'reduce'
  })
  const requested: string[] = []
  const problems = await watchProblems(context)
  context.on('request', (request) => requested.push(request.url()))
  const page = await context.newPage()
  await addPasskeys(page)
  const accessible = async (name: string) => t.same(await listAccessibilityErrors(page), [], `${name} is accessible`)

  await t.test('an operator enrolls with the link, signs out, and signs in', async (t) => {
    await page.goto(`${origin}/enroll#token=secret`)
    t.equal(new URL(page.url()).hash, '', 'the token leaves the address')
    await accessible('enrolling')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/queue$/)
    t.equal(received('identity', '/operator/enrollment').at(-1)?.body?.['token'], 'secret')
    const [cookie] = await context.cookies()
    t.match(cookie, { name: '__Host-session', httpOnly: true, secure: true, sameSite: 'Strict' })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/\/sign-in$/)
    t.same(await context.cookies(), [])
    await page.goto(`${origin}/system`)
    await accessible('signing in')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/system$/)
  })

  await t.test('keys lead through the queue to a decision, which a passkey confirms', async (t) => {
    await page.goto(`${origin}/queue`)
    await accessible('the queue')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    t.equal(await page.locator('input[type=checkbox]:checked').count(), 1)
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/cases\/social\//)
    await accessible('a case')
    t.notMatch(await page.title(), /^(stolen|1)$/, 'stored HTML is text')
    await page.keyboard.press('v')
    await page.keyboard.press('s')
    await page.keyboard.type('You advertised under every post.')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Decide', exact: true }).click()
    await page.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor()
    await accessible('confirming')
    await page.getByRole('button', { name: 'Confirm and continue' }).click()
    await page.waitForURL(/\/queue\?done=decided$/)
    const [refused, made] = received('identity', '/operator/decisions').filter(({ method }) => method === 'POST')
    t.match(made, { body: { actions: [{ type: 'HIDE_CONTENT' }], statement: 'You advertised under every post.' } })
    t.same(made, refused, 'the same form is sent again')
  })

  await t.test('no picture is fetched before somebody asks, and it is blurred until they ask again', async (t) => {
    await page.goto(`${origin}/cases/social/${first!.id}`)
    const isPicture = (url: string) => url.includes('/files/')
    t.same(requested.filter((url) => isPicture(url)), [])
    t.same(requested.filter((url) => !url.startsWith(origin)), [], 'nothing comes from elsewhere')
    const filterOf = "getComputedStyle(document.querySelector('details.picture img')).filter"
    await Promise.all([page.waitForRequest((request) => isPicture(request.url())), page.keyboard.press('1')])
    t.match(await page.evaluate(filterOf), /blur\(28px\) grayscale\(1\)/)
    await page.keyboard.press('1')
    t.equal(await page.evaluate(filterOf), 'none')
  })

  await t.test('it fits a phone, in the dark and in Indonesian', async (t) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    for (
      const [path, language] of [['/queue', 'Indonesia'], [`/cases/social/${first!.id}`, 'English']] as const
    ) {
      await page.goto(origin + path)
      await page.getByRole('link', { name: 'Menu', exact: true }).click()
      await page.getByRole('button', { name: language }).click()
      await page.waitForLoadState()
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, `${path} needs no scrolling sideways`)
      await accessible(`${path} on a phone`)
    }
  })

  await t.test('it works without script', async (t) => {
    const cookies = (await context.cookies()).filter(({ name }) => name === '__Host-session')
    const plain = await browser.newContext({
      javaScriptEnabled: false,
      locale: 'id',
      storageState: { cookies, origins: [] }
    })
    const still = await plain.newPage()
    await still.goto(`${origin}/queue`)
    await still.getByRole('button', { name: 'Ambil kasus berikutnya' }).click()
    await still.waitForURL(/\/cases\/social\//)
    await still.getByLabel('Tidak melanggar').check()
    await still.getByRole('button', { name: 'Putuskan', exact: true }).click()
    await still.waitForURL(/\/queue\?done=decided$/)
    t.match(received('identity', '/operator/decisions').at(-1)?.body, { actions: [{ type: 'DISMISS' }], statement: '' })
    await plain.close()
  })
  t.same(problems, [], 'the policy refused nothing, and the script failed nowhere')
})
