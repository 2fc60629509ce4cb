import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { until } from '@tandem/test-kit'
import pg from 'pg'
import t, { type Test } from 'tap'
import { settle, type Person } from '../kit/settled-people.ts'
import { call } from '../kit/call.ts'
import { becomeMember } from '../kit/people.ts'
import { pictureForm, plainPng } from '../kit/pictures.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import type { Stack } from '../kit/stack.ts'
import { enroll, inviteFirst, inviteModerator, workThroughQueue, type Desk } from './operators.ts'
import { countNotified, standingOf, statusOf } from './sides.ts'

t.test('an operator works at the console, in front of the real services', needsBrowser, async (t) => {
  const browser = await openBrowser(t)
  const { stack } = await sharedStack()
  const db = new pg.Client(stack.postgres.url)
  await db.connect()
  // The end of the system ends its connections.
  db.on('error', () => {})
  const ben = await settle(stack, 'ben')
  const { accessToken: token } = await becomeMember(stack, 'reader@example.com')
  const reader = {
    send: async <Data>(method: string, route: string, body?: object) =>
      await call<Data>(stack, method, route, { token, ...(body && { body }) })
  }
  const desk = await enroll(browser, 'administrator', await inviteFirst(stack))
  await decideCase(t, stack, desk, { ben, reader })
  await findPerson(t, stack, desk, ben)
  await verify(t, stack, desk, ben)
  await replay(t, stack, desk, db)
  await testBroadcast(t, stack, desk, { ben, db })
  const colleague = await enroll(
    browser,
    'moderator',
    await inviteModerator(desk, stack, 'moderator@example.com')
  )
  t.equal(await colleague.page.getByRole('link', { name: 'Operators' }).count(), 0, 'a moderator invites nobody')
  t.same([...desk.problems, ...colleague.problems], [], 'the policy refused nothing, and the script failed nowhere')
  await db.end()
})

async function decideCase (
  t: Test,
  stack: Stack,
  desk: Desk,
  { ben, reader }: { ben: Person, reader: Pick<Person, 'send'> }
) {
  const { data: { post } } = await ben.send<{ data: { post: { id: string } } }>('POST', '/feed', {
    type: 'TEXT',
    content: 'Buy this (spam)'
  })
  await reader.send('POST', '/reports', { targetType: 'POST', targetId: post.id, reason: 'SPAM' })
  // What people of other files have reported is fine.
  const decided = (await workThroughQueue(desk, stack)).filter(({ verdict }) => verdict !== 'fine')
  t.match(decided, [{ service: 'social', verdict: 'spam' }])
  await until(async () => await statusOf(reader, `/feed/${post.id}`) === 410)
  t.match(await standingOf(ben), { status: 'WARNED', decisions: [{ statement: 'This was spam.' }] })
  await until(async () => await countNotified(ben) === 1)
}

async function findPerson (t: Test, { console }: Stack, { page }: Desk, ben: Person) {
  for (const search of [`@${ben.username}`, ben.email]) {
    await page.goto(`${console.url}/people`)
    await page.getByRole('textbox', { name: 'Exact address, username, id or order id of a store' }).fill(search)
    await page.getByRole('textbox', { name: 'Reason' }).fill('case 7')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${console.url}/people/${ben.id}?reason=case+7`)
    t.match(await page.locator('main').innerText(), new RegExp(`@${ben.username}`), search)
    t.match(await page.locator('main').innerText(), /Warned/)
  }
}

async function verify (t: Test, stack: Stack, { page }: Desk, ben: Person) {
  const { accessToken } = await call<{ accessToken: string }>(stack, 'POST', '/auth/login', {
    body: { email: ben.email, password: ben.password }
  })
  const { headers, body } = pictureForm(await plainPng({ width: 300, height: 300, bits: 8 }), 'photo')
  const sent = await fetch(`${stack.gateway.url}/api/mobile/v1/fitmatch/verification`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${accessToken}` },
    body
  })
  t.equal(sent.status, 200)
  await page.goto(`${stack.console.url}/verifications`)
  for (const [number, key] of ['1', '2', '3'].entries()) {
    await page.keyboard.press(key)
    const picture = page.locator('details.picture img').nth(number)
    await until(async () => await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth) > 0)
  }
  await page.keyboard.press('a')
  await page.getByText('No verification is waiting.').waitFor()
  const { data } = await ben.send<{ data: { badges: string[] } }>('GET', '/fitmatch/badges')
  t.ok(data.badges.includes('PHOTO_VERIFIED'))
}

async function replay (t: Test, { console }: Stack, { page }: Desk, db: pg.Client) {
  await db.query(`
    insert into social.failed_messages (key, stream, type, message, attempts, error, parked_at)
    values ('a letter', 'fitmatch', 'fitmatch.unknown.happened.v1', '{}', 10, 'Error: no', now())`)
  await page.goto(`${console.url}/dead-letters`)
  await page.getByRole('button', { name: 'Handle it again' }).click()
  await page.getByText('The service handles the message again.').waitFor()
  const { rows: [entry] } = await db.query<{ subject: string }>(`
    select subject from social.audit_entries where action like 'POST %replay'`)
  t.equal(entry?.subject, 'a letter')
}

async function testBroadcast (
  t: Test,
  { console }: Stack,
  { page }: Desk,
  { ben, db }: { ben: Person, db: pg.Client }
) {
  await db.query("update identity.staff set account_id = $1 where email = 'admin@example.com'", [ben.id])
  await page.goto(`${console.url}/broadcasts`)
  for (const language of ['English', 'Indonesia']) {
    const group = page.getByRole('group', { name: language, exact: true })
    await group.getByLabel('Title').fill('Park run')
    await group.getByLabel('Text').fill('Meet us at seven.')
  }
  await page.getByRole('button', { name: 'Send it to me first' }).click()
  await page.getByText('Only you received it.').waitFor()
  t.equal(await page.getByRole('group', { name: 'English' }).getByLabel('Title').inputValue(), 'Park run')
  await until(async () => {
    const { data } = await ben.send<{ data: { notifications: { title: string }[] } }>('GET', '/notifications')
    return data.notifications.some(({ title }) => title === 'Park run')
  })
}
