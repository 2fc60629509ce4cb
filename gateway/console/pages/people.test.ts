import { randomUUID } from 'node:crypto'
import { rightsOf } from '@tandem/operator-kit'
import { tabTo } from '@tandem/test-kit/browser'
import t from 'tap'
import { atDesk } from '../../test/console-browser.ts'
import { ALL_RIGHTS } from '../../test/console.ts'
import { at, person, testPages } from '../../test/console-pages.ts'

const world = await testPages(t)
const { answers, call, rights, services, submit, received } = world

t.test('a search leaves no address in a URL of the console', async (t) => {
  const { headers } = await submit('/people', [['q', 'ben@example.com'], ['reason', 'case 7']])
  t.equal(headers.location, `/people/${person.accountId}?reason=case+7`)
  t.same(received('identity', '/operator/people/search').at(-1)?.body, { q: 'ben@example.com', reason: 'case 7' })
  t.notMatch(services.identity.received.map(({ url }) => url).join(), /ben@|ben%40/, 'nor of a service')
  t.match((await call(`/people/${person.accountId}`)).text, /name="reason"/, 'nothing is shown without a reason')
})

t.test('the reports of a person are counted over all services', async (t) => {
  const { text } = await call(`/people/${person.accountId}?reason=case%207`)
  t.match(text, /<dd>2, of which 1 were upheld<\/dd>/)
})

t.test('a provider is removed from the sign-in of a person, with the reason', async (t) => {
  answers.set('identity POST /operator/people/:id/providers/remove', {})
  const { text } = await call(`/people/${person.accountId}?reason=case%207`)
  t.match(text, /<dt>Signs in with<\/dt>\s*<dd><ul class="plain"><li>Provider A/)
  t.match(text, 'Remove Provider A from the sign-in')
  const { headers } = await submit(`/people/${person.accountId}/providers/remove`, [
    ['provider', 'PROVIDER_A'],
    ['reason', 'case 7']
  ])
  t.match(headers.location, /^\/people\/.+done=providerRemoved/)
  t.same(received('identity', `/operator/people/${person.accountId}/providers/remove`).at(-1)?.body, {
    provider: 'PROVIDER_A',
    reason: 'case 7'
  })
})

t.test('a restriction says what it is of, and until when', async (t) => {
  const restrictions = [{ scope: 'ALL', until: new Date(Date.now() + 3 * 86_400_000 + 60_000).toISOString() }]
  answers.set('identity GET /operator/people/:id', { person: { ...person, restrictions } })
  t.match((await call(`/people/${person.accountId}?reason=x`)).text, /<li>Everything · ends <time[^>]+>in 3 days/)
  answers.set('identity GET /operator/people/:id', { person })
})

t.test('who can ban lifts a ban, also without a restriction', async (t) => {
  const liftedBy = async (can: string[], found: object) => {
    rights.current = can
    answers.set('identity GET /operator/people/:id', { person: { ...person, ...found } })
    const { text } = await call(`/people/${person.accountId}?reason=x`)
    const [, select = ''] = /<select name="lift">(.*?)<\/select>/s.exec(text) ?? []
    return [...select.matchAll(/value="(\w+)"/g)].map(([, scope]) => scope)
  }
  t.teardown(() => {
    rights.current = ALL_RIGHTS
    answers.set('identity GET /operator/people/:id', { person })
  })
  const banned = { status: 'BANNED', restrictions: [] }
  const restricted = [{ scope: 'ALL', until: at }, { scope: 'POSTING', until: at }]
  const moderator = rightsOf('MODERATOR')
  t.same(await liftedBy(ALL_RIGHTS, banned), ['ALL'])
  t.same(await liftedBy(ALL_RIGHTS, { ...banned, restrictions: restricted }), ['ALL', 'POSTING'])
  t.same(await liftedBy(moderator, banned), [])
  t.same(await liftedBy(moderator, { ...banned, restrictions: restricted }), ['POSTING'])
  t.same(await liftedBy(moderator, { restrictions: restricted }), ['ALL', 'POSTING'])
})

t.test('what was sent is named in words', async (t) => {
  const mail = { id: randomUUID(), kind: 'email-changed', status: 'sent', attempts: 1, createdAt: at }
  const delivery = {
    ...mail,
    kind: 'achievementEarned',
    platform: 'ios',
    deviceName: null,
    reason: null,
    finishedAt: at
  }
  answers.set('notification GET /operator/deliveries', { deliveries: [delivery] })
  answers.set('identity GET /operator/mails', { mails: [mail] })
  const { text } = await call(`/people/${person.accountId}/messages?reason=x`)
  t.match(text, '<strong>achievement earned</strong>')
  t.match(text, '<strong>email changed</strong>')
})

t.test('a number that a form lacks is not 0, which would delete an account at once', async (t) => {
  answers.set('identity POST /operator/erasures', { id: randomUUID(), eraseAt: at })
  await submit(`/people/${person.accountId}/erasure`, [['reason', 'a letter of May']])
  t.match(received('identity', '/operator/erasures').at(-1)?.body, { days: null })
})

atDesk(t, 'a person is found, and their account deleted after a question', world, async (t, desk) => {
  const { page, texts } = desk
  const words = texts.people
  answers.set('identity POST /operator/erasures', { id: randomUUID(), eraseAt: at })
  answers.set('identity GET /operator/people/:id', { person: { ...person, name: 'Ben', isDeletionPending: false } })
  await desk.open('/people')
  await desk.isAccessible('searching')
  await desk.reach('textbox', words.search)
  await page.keyboard.type('ben@example.com')
  await desk.reach('textbox', words.reason)
  await page.keyboard.type('a letter of May')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Ben' }).waitFor()
  await tabTo(page, page.locator('summary', { hasText: words.erase }))
  await page.keyboard.press('Enter')
  await desk.isAccessible('a person')
  await desk.reach('combobox', words.eraseAfter)
  await page.keyboard.type('7')
  await desk.press(words.erase)
  await page.getByText(words.eraseConfirm).waitFor()
  await desk.agree()
  await page.getByText(texts.done['erasure']!).waitFor()
  t.same(received('identity', '/operator/erasures').at(-1)?.body, {
    accountId: person.accountId,
    days: 7,
    reason: 'a letter of May'
  })
})
