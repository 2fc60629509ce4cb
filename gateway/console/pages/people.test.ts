import t from 'tap'
import { person, testPages } from '../../test/console-pages.ts'

const { call, submit } = await testPages(t)

t.test('a search leaves no address in a URL of the console', async (t) => {
  const { headers } = await submit('/people', [['q', 'ben@example.com'], ['reason', 'case 7']])
  t.equal(headers.location, `/people/${person.accountId}?reason=case+7`)
  t.match((await call(`/people/${person.accountId}`)).text, /name="reason"/, 'nothing is shown without a reason')
})
