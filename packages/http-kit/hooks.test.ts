import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { explainError } from './envelope.ts'
import { ConfigError } from '@tandem/process-kit'
import { createHooks } from './hooks.ts'
import { silentLog, startHookProvider } from './testing.ts'

const provider = await startHookProvider(t)
const secret = `whsec_${'A'.repeat(32)}`
const question = { accountId: 'a', postId: null, visibility: 'PUBLIC', content: 'Hello', otherTexts: [], mediaUrls: [] }

const ask = async (without: 'allow' | 'deny') =>
  await provider.hooks('before-post', without).ask('before-post', question)

/** What a denied client reads; undefined if it is allowed. */
const sentenceOf = async (asking: Promise<unknown>) => await asking.then(() => undefined, explainError)

t.test('a hook allows, and receives its question as a signed webhook', async (t) => {
  provider.replyWith({ decision: 'allow' })
  t.same(await ask('deny'), {})
  t.same(provider.asked.map(({ type, data }) => ({ type, data })), [{ type: 'before-post', data: question }])
})

t.test('a hook denies with its text, or with ours', async (t) => {
  provider.replyWith({ decision: 'deny', text: 'No advertising, please' })
  t.equal(await sentenceOf(ask('allow')), 'No advertising, please')
  provider.replyWith({ decision: 'deny' })
  t.equal(await sentenceOf(ask('allow')), 'This is not allowed here')
})

t.test('without an answer in time, the setting decides', async (t) => {
  const none = [
    'NO_ANSWER',
    'DEAD',
    'rubbish',
    '{}',
    '{"decision":"maybe"}',
    '"allow"',
    '',
    'x'.repeat(100_000),
    { status: 500 },
    { status: 302 },
    { decision: 'allow', set: { locale: 'xx' } }
  ]
  for (const reply of none) {
    provider.replyWith(reply)
    const [allowed, denied] = await Promise.all([ask('allow'), sentenceOf(ask('deny'))])
    t.equal(denied, 'This cannot be checked right now. Try again later')
    t.same(allowed, {})
  }
})

t.test('a question has a deadline of one second', async (t) => {
  const hold = createServer(() => {})
  await new Promise<void>((resolve) => hold.listen(0, '127.0.0.1', resolve))
  t.teardown(() => hold.close())
  const url = `http://127.0.0.1:${(hold.address() as AddressInfo).port}/`
  const settings = JSON.stringify({ 'before-post': { url, secret, without: 'allow' } })
  const startedAt = performance.now()
  await createHooks(settings, silentLog).ask('before-post', question)
  const tookMs = performance.now() - startedAt
  t.ok(tookMs > 900 && tookMs < 20_000, `${tookMs} ms`)
})

t.test('a provider that is not there is no answer', async (t) => {
  const settings = JSON.stringify({ 'before-post': { url: 'http://127.0.0.1:1/', secret, without: 'allow' } })
  t.same(await createHooks(settings, silentLog).ask('before-post', question), {})
})

t.test('without hooks nothing is asked', async (t) => {
  const before = provider.asked.length
  t.same(await createHooks(undefined, silentLog).ask('before-post', question), {})
  const hooks = provider.hooks('before-message', 'deny')
  t.same(await hooks.ask('before-post', question), {})
  t.equal(hooks.isOn('before-post'), false)
  t.equal(provider.asked.length, before)
})

t.test('a provider that sends gets what to send, and its status is returned', async (t) => {
  const send = provider.hooks('send-mail').senderOf('send-mail')!
  provider.replyWith({ status: 202 })
  t.match(await send('one', { to: 'ana@example.com' }), { status: 202 })
  t.match(provider.asked.at(-1), { type: 'send-mail', data: { to: 'ana@example.com' } })
  t.equal(createHooks(undefined, silentLog).senderOf('send-push'), undefined)
})

t.test('a wrong setting ends the start with a sentence', async (t) => {
  const url = 'https://hooks.example.com'
  const wrong = [
    'not JSON',
    '[]',
    JSON.stringify({ 'before-lunch': { url, secret, without: 'allow' } }),
    JSON.stringify({ 'before-post': { url, secret } }),
    JSON.stringify({ 'before-post': { url: 'ftp://hooks', secret, without: 'allow' } }),
    JSON.stringify({ 'before-post': { url, secret: 'short', without: 'allow' } })
  ]
  for (const settings of wrong) {
    t.throws(() => createHooks(settings, silentLog), ConfigError, settings)
  }
})
