import t from 'tap'
import { person, testPages } from '../../test/console-pages.ts'

const { answers, call, submit, received } = await testPages(t)
const page = `/people/${person.accountId}/subscription`
const routes = `/operator/people/${person.accountId}/subscription`

t.test('support sees what a subscription is derived from', async (t) => {
  const { text } = await call(`${page}?reason=case%207`)
  for (
    const shown of [
      'App Store',
      'Payment failed',
      'replaced by an upgrade',
      'has left this account',
      'not acknowledged yet',
      'A gift'
    ]
  ) {
    t.match(text, shown)
  }
  t.match((await call(page)).text, /name="reason"/, 'nothing is shown without a reason')
})

t.test('the stores are asked, and a plan is granted and taken, with the reason', async (t) => {
  for (const action of ['recheck', 'grant', 'take']) {
    answers.set(`identity POST /operator/people/:id/subscription/${action}`, {})
  }
  const { headers } = await submit(`${page}/recheck`, [['reason', 'case 7']])
  t.match(headers.location, /done=rechecked/)
  t.same(received('identity', `${routes}/recheck`).at(-1)?.body, { reason: 'case 7' })
  await submit(`${page}/grant`, [['reason', 'case 7'], ['planId', 'premium'], ['days', '30']])
  t.same(received('identity', `${routes}/grant`).at(-1)?.body, { planId: 'premium', days: 30, reason: 'case 7' })
  await submit(`${page}/take`, [['reason', 'case 7']])
  t.same(received('identity', `${routes}/take`).at(-1)?.body, { reason: 'case 7' })
})
