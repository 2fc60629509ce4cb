import { randomUUID } from 'node:crypto'
import t from 'tap'
import { givenCase, testConsole } from '../../test/console.ts'

const { services, answers, call, submit, received } = await testConsole(t)

t.test('the queues of all services are one, page by page, each case once', async (t) => {
  const all = { social: [] as ReturnType<typeof givenCase>[], fitmatch: [] as ReturnType<typeof givenCase>[] }
  for (let index = 0; index < 70; index++) {
    all[index % 3 === 0 ? 'fitmatch' : 'social'].push(givenCase({ priority: 1 + index % 3 }))
  }
  const order = (a: { priority: number, id: string }, b: { priority: number, id: string }) =>
    b.priority - a.priority || (a.id < b.id ? -1 : 1)
  for (const service of ['social', 'fitmatch'] as const) {
    const sorted = all[service].sort(order)
    answers.set(`${service} GET /operator/cases`, ({ url }) => {
      const query = new URLSearchParams(url.split('?')[1])
      const limit = Number(query.get('limit'))
      const from = sorted.findIndex(({ priority, id }) => `${priority}:${id}` === query.get('cursor')) + 1
      const page = sorted.slice(from, from + limit)
      const last = page.at(-1)
      return { cases: page, nextCursor: from + limit < sorted.length ? `${last?.priority}:${last?.id}` : null }
    })
  }
  const seen: string[] = []
  let next: string | undefined = '/queue'
  while (next) {
    const { text } = await call(next)
    seen.push(...[...text.matchAll(/href="\/cases\/\w+\/([0-9a-f-]+)"/g)].map(([, id = '']) => id))
    next = /href="(\/queue\?cursor=[^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  t.same(seen, [...all.social, ...all.fitmatch].sort(order).map(({ id }) => id))

  await services.fitmatch.stop()
  const { status, text } = await call('/queue')
  t.match({ status, text }, { status: 200, text: /Not available at the moment: fitmatch/ })
  t.equal([...text.matchAll(/href="\/cases\/social/g)].length, 25, 'the rest stands')
  await services.fitmatch.start()
})

t.test('marked cases are dismissed one by one, and those that changed stay', async (t) => {
  let decided = 0
  answers.set(
    'identity POST /operator/decisions',
    () => decided++ === 1 ? { refusal: [409, 'CASE_CHANGED'] } : { id: randomUUID() }
  )
  const marks = [1, 2, 3].map((
    version
  ): [string, string] => ['case', `social ${randomUUID()} ${version} ${randomUUID()}`])
  t.match(await submit('/queue/dismiss', marks), { headers: { location: '/queue?count=2&changed=1' } })
  t.match(received('identity', '/operator/decisions').at(-1)?.body, {
    case: { service: 'social', version: 3 },
    actions: [{ type: 'DISMISS' }],
    statement: ''
  })
})

t.test('of two operators who take the next case at once, each gets one of their own', async (t) => {
  // As the queue shows them: the oldest first.
  const cases = [givenCase(), givenCase(), givenCase(), givenCase()].toSorted((one, other) =>
    one.id < other.id ? -1 : 1
  )
  answers.set('social GET /operator/cases', { cases, nextCursor: null })
  answers.set('fitmatch GET /operator/cases', { cases: [], nextCursor: null })
  const refused = ['CASE_CLAIMED', 'CASE_CHANGED', 'CASE_RESTRICTED']
  answers.set('social POST /operator/cases/:id/claim', () => {
    const code = refused.shift()
    return code ? { refusal: [409, code] } : {}
  })
  t.match(await submit('/next', []), { status: 303, headers: { location: `/cases/social/${cases[3]!.id}` } })
  t.same(received('social', `/operator/cases/${cases[3]!.id}/claim`).map(({ body }) => body), [{ takesOver: false }])
  answers.set('social POST /operator/cases/:id/claim', { refusal: [409, 'CASE_CLAIMED'] })
  t.match(await submit('/next', []), { headers: { location: '/queue?done=nothingLeft' } })
})
