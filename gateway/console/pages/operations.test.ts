import { randomUUID } from 'node:crypto'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { testConsole } from '../../test/console.ts'
import { serviceNames } from '../../routes.ts'

const world = await testConsole(t)
const { answers, call, received } = world

const key = 'social 17'
const letter = {
  key,
  type: 'social.post.liked.v1',
  attempts: 10,
  error: 'Error: no such post',
  firstFailedAt: new Date().toISOString(),
  deadSince: new Date().toISOString()
}

t.test('the audit names the operators', async (t) => {
  const [cleo, gone] = [randomUUID(), randomUUID()]
  const entry = { role: 'MODERATOR', action: 'GET /operator/cases', subject: null, reason: null, requestId: 'r' }
  const createdAt = new Date().toISOString()
  answers.set('social GET /operator/audit', {
    entries: [{ ...entry, number: 2, staffId: cleo, createdAt }, { ...entry, number: 1, staffId: gone, createdAt }],
    nextCursor: null
  })
  answers.set('identity GET /operator/staff', { staff: [{ id: cleo, email: 'cleo@example.com' }] })
  const { text } = await call('/audit?service=social')
  t.match(text, 'Moderator cleo@example.com')
  t.match(text, gone)
})

atDesk(t, 'a dead letter is handled again after a passkey, or deleted after a question', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.deadLetters
  const letters = [letter]
  let needsProof = true
  for (const name of serviceNames) answers.set(`${name} GET /operator/dead-letters`, { deadLetters: [] })
  answers.set('notification GET /operator/dead-letters', () => ({ deadLetters: letters }))
  const path = `/operator/dead-letters/${encodeURIComponent(key)}`
  answers.set(`notification POST ${path}/replay`, () => {
    if (!needsProof) return {}
    needsProof = false
    return { refusal: [403, 'PROOF_REQUIRED'] }
  })
  answers.set(`notification DELETE ${path}`, () => {
    letters.pop()
    return {}
  })
  const count = (method: string) => received('notification', path).filter((each) => each.method === method).length
  const [replayed, deleted] = [count('POST'), count('DELETE')]

  await desk.open('/dead-letters')
  await desk.isAccessible('dead letters')
  await desk.press(words.replay)
  await page.getByRole('heading', { name: texts.problems.confirm }).waitFor()
  await desk.isAccessible('confirming')
  await desk.press(texts.problems.confirmButton)
  await page.getByText(texts.done['replayed']!).waitFor()
  t.equal(count('POST'), replayed + 2, 'refused, then sent again')
  await desk.press(words.delete)
  await desk.agree()
  await page.getByText(words.none).waitFor()
  t.equal(count('DELETE'), deleted + 1)
})
