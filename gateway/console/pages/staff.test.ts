import { randomUUID } from 'node:crypto'
import { tabTo } from '@tandem/test-kit/browser'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { staff, testConsole } from '../../test/console.ts'

const world = await testConsole(t)
const { answers, received } = world

atDesk(t, 'an operator is invited, gets another role, and is removed', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.staff
  const id = randomUUID()
  const members: object[] = [{ ...staff, disabledAt: null, passkeys: 1, lastSeenAt: new Date().toISOString() }]
  const invited = { id, email: 'cleo@example.com', role: 'SUPPORT', disabledAt: null, passkeys: 0, lastSeenAt: null }
  answers.set('identity GET /operator/staff', () => ({ staff: members }))
  answers.set('identity POST /operator/staff', () => {
    members[1] = invited
    return {}
  })
  answers.set('identity PUT /operator/staff/:id', ({ body }) => {
    members[1] = { ...invited, ...JSON.parse(String(body)) as object, passkeys: 1 }
    return {}
  })
  answers.set('identity POST /operator/staff/:id/invitation', {
    proposalId: randomUUID(),
    expiresAt: new Date().toISOString()
  })
  answers.set('identity DELETE /operator/staff/:id', () => {
    members[1] = { ...invited, disabledAt: new Date().toISOString() }
    return {}
  })

  await desk.open('/staff')
  await desk.isAccessible('operators')
  await desk.reach('textbox', words.email)
  await page.keyboard.type('cleo')
  await desk.press(words.invite)
  t.same(received('identity', '/operator/staff').filter(({ method }) => method === 'POST'), [], 'an address is needed')
  await desk.reach('textbox', words.email)
  await page.keyboard.press('End')
  await page.keyboard.type('@example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type(texts.roles.SUPPORT)
  await desk.press(words.invite)
  await page.getByText(texts.done['invited']!).waitFor()
  await desk.isAccessible('an invited operator')
  t.same(received('identity', '/operator/staff').find(({ method }) => method === 'POST')?.body, {
    email: 'cleo@example.com',
    role: 'SUPPORT'
  })
  await page.getByText(words.invited, { exact: true }).waitFor()

  const card = page.getByRole('article').filter({ hasText: 'cleo@example.com' })
  await tabTo(page, card.getByRole('combobox', { name: words.role }))
  await page.keyboard.type(texts.roles.MODERATOR)
  await desk.press(words.change)
  await page.getByText(texts.done['changed']!).waitFor()
  t.match(received('identity', `/operator/staff/${id}`).at(-1), { method: 'PUT', body: { role: 'MODERATOR' } })
  await desk.press(words.reinvite)
  await desk.agree()
  await page.getByText(texts.done['proposed']!).waitFor()
  await desk.press(words.remove)
  await page.getByText(words.removeConfirm).waitFor()
  await desk.agree()
  await page.getByText(texts.done['removed']!).waitFor()
  await desk.isAccessible('a removed operator')
  t.match(received('identity', `/operator/staff/${id}`).at(-1), { method: 'DELETE' })
  // The next language begins with the same lists.
  for (const { received } of Object.values(world.services)) received.length = 0
})
