import { randomUUID } from 'node:crypto'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { testConsole } from '../../test/console.ts'

const world = await testConsole(t)
const { answers, received } = world

const givenAppeal = (more: object = {}) => ({
  id: randomUUID(),
  decisionId: randomUUID(),
  accountId: randomUUID(),
  isByReporter: false,
  text: 'It was a quote.',
  dueAt: new Date(Date.now() + 3_600_000).toISOString(),
  createdAt: new Date().toISOString(),
  caseService: 'social',
  caseId: randomUUID(),
  subjectType: 'POST',
  actions: [{ type: 'HIDE_CONTENT' }, { type: 'RESTRICT', scope: 'POSTING', until: new Date().toISOString() }],
  reason: 'HATE',
  statement: 'You insulted a group.',
  excerpt: 'They are all ugly',
  decidedBy: randomUUID(),
  ...more
})

atDesk(t, 'an appeal is read beside its decision, and answered', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.appeals
  const queue = [givenAppeal(), givenAppeal({ text: 'I never wrote this.' })]
  const [upheld, reversed] = [queue[0]!.id, queue[1]!.id]
  answers.set('identity GET /operator/appeals', () => ({ appeals: queue.slice(0, 1) }))
  answers.set('identity POST /operator/appeals/:id', () => {
    queue.shift()
    return {}
  })
  const sent = (id: string) => received('identity', `/operator/appeals/${id}`).map(({ body }) => body)

  await desk.open('/appeals')
  await desk.isAccessible('an appeal')
  await desk.press(words.uphold)
  t.same(sent(upheld), [], 'an answer is required')
  await desk.reach('textbox', words.answer)
  await page.keyboard.type('It was no quote.')
  await desk.press(words.uphold)
  await page.getByText(texts.done['answered']!).waitFor()
  t.same(sent(upheld), [{ outcome: 'UPHELD', statement: 'It was no quote.' }])

  await page.getByText('I never wrote this.').waitFor()
  await desk.reach('textbox', words.answer)
  await page.keyboard.type('You are right.')
  await desk.press(words.reverse)
  await page.getByText(words.reverseConfirm).waitFor()
  await page.keyboard.press('Escape')
  t.same(sent(reversed), [], 'Escape answers nothing')
  await desk.press(words.reverse)
  await desk.agree()
  await page.getByText(words.none).waitFor()
  t.same(sent(reversed), [{ outcome: 'REVERSED', statement: 'You are right.' }])
})

atDesk(t, 'an appeal of a reporter is granted with a decision about what they reported', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.appeals
  const appeal = givenAppeal({ isByReporter: true, actions: [{ type: 'DISMISS' }], statement: '', reason: 'OTHER' })
  answers.set('identity GET /operator/appeals', { appeals: [appeal] })
  answers.set('identity POST /operator/appeals/:id', {})
  await desk.open('/appeals')
  await page.getByText(words.byReporter).waitFor()
  await desk.isAccessible('an appeal of a reporter')
  await desk.reach('textbox', words.answer)
  await page.keyboard.type('Thank you for coming back.')
  await desk.reach('combobox', texts.decision.reason)
  await page.keyboard.type(texts.reasons['HATE']!)
  await desk.reach('textbox', texts.decision.statement)
  await page.keyboard.type('You insulted a group.')
  await desk.press(words.grant)
  await desk.agree()
  await page.getByText(texts.done['answered']!).waitFor()
  t.same(received('identity', `/operator/appeals/${appeal.id}`).map(({ body }) => body), [{
    outcome: 'REVERSED',
    statement: 'Thank you for coming back.',
    decision: { actions: [{ type: 'HIDE_CONTENT' }], reason: 'HATE', statement: 'You insulted a group.' }
  }])
})
