import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startHookProvider } from '@tandem/http-kit/testing'
import { testApp } from '../test/app.ts'

const provider = await startHookProvider(t)
const allowing = await testApp(t, { hooks: provider.hooks('before-post', 'allow') })
const denying = await testApp(t, { hooks: provider.hooks('before-post', 'deny') })

type App = typeof allowing

const post = async ({ send }: App, content: string, headers = {}) =>
  await send(randomUUID(), 'POST', '/feed', { type: 'TEXT', content }, headers)
const countPosts = async ({ db }: App) => (await db.selectFrom('posts').select('id').execute()).length

t.test('a post that the hook denies is not stored, and the author reads why', async (t) => {
  provider.replyWith({ decision: 'deny', text: 'No advertising, please' })
  t.match(await post(allowing, 'Buy this'), { status: 403, code: 'FORBIDDEN', error: 'No advertising, please' })
  t.match(provider.asked.at(-1), {
    type: 'before-post',
    data: { postId: null, content: 'Buy this', visibility: 'PUBLIC', mediaUrls: [] }
  })
  t.equal(await countPosts(allowing), 0)
  provider.replyWith({ decision: 'allow' })
  t.match(await post(allowing, 'A run'), { status: 201 })
  t.equal(await countPosts(allowing), 1)
})

t.test('an edit is asked about too, if it is one of the author', async (t) => {
  provider.replyWith({ decision: 'allow' })
  const ana = randomUUID()
  const { data: { post: { id } } } = await allowing.send(ana, 'POST', '/feed', { type: 'TEXT', content: 'A run' })
  const asked = provider.asked.length
  t.match(await allowing.send(randomUUID(), 'PUT', `/feed/${id}`, { content: 'Mine now' }), { status: 403 })
  t.equal(provider.asked.length, asked)
  provider.replyWith({ decision: 'deny' })
  t.match(await allowing.send(ana, 'PUT', `/feed/${id}`, { content: 'Buy this' }), {
    status: 403,
    code: 'FORBIDDEN',
    error: 'This is not allowed here'
  })
  t.match(provider.asked.at(-1), { data: { accountId: ana, postId: id, content: 'Buy this', visibility: 'PUBLIC' } })
  t.match((await allowing.send(ana, 'GET', `/feed/${id}`)).data, { post: { content: 'A run' } })
})

t.test('the hook sees every text of a post, also at an edit', async (t) => {
  provider.replyWith({ decision: 'allow' })
  const ana = randomUUID()
  const { data: { post: { id } } } = await allowing.send(ana, 'POST', '/feed', {
    type: 'POLL',
    content: 'Vote',
    pollQuestion: 'When?',
    pollOptions: [{ text: 'At dawn' }, { text: 'Buy this' }],
    locationName: 'Gelora'
  })
  const otherTexts = ['When?', 'At dawn', 'Buy this', 'Gelora']
  t.match(provider.asked.at(-1), { data: { postId: null, content: 'Vote', otherTexts } })
  t.match(await allowing.send(ana, 'PUT', `/feed/${id}`, { content: 'Vote now' }), { status: 200 })
  t.match(provider.asked.at(-1), { data: { postId: id, content: 'Vote now', otherTexts } })
})

t.test('without an answer, the setting decides', async (t) => {
  for (const reply of ['NO_ANSWER', 'DEAD', 'rubbish', { status: 500 }]) {
    provider.replyWith(reply)
    const before = await countPosts(denying)
    const [allowed, denied] = await Promise.all([post(allowing, 'A run'), post(denying, 'A run')])
    t.match(allowed, { status: 201 }, JSON.stringify(reply))
    t.match(denied, { status: 403, code: 'FORBIDDEN', error: 'This cannot be checked right now. Try again later' })
    t.equal(await countPosts(denying), before)
  }
})

t.test('the repeat of a request gets its first response, whatever the hook says now', async (t) => {
  const ana = randomUUID()
  const send = async () =>
    await denying.send(ana, 'POST', '/feed', { type: 'TEXT', content: 'A run' }, { 'idempotency-key': 'one' })
  provider.replyWith({ decision: 'allow' })
  const first = await send()
  provider.replyWith('DEAD')
  t.same(await send(), first)
})
