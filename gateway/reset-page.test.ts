import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { testGateway } from './testing.ts'

const between = (text: string, from: string, to: string) => text.slice(text.indexOf(from) + from.length, text.indexOf(to))
const link = '/reset-password?token=t-1&email=ana%2Bgym%40example.com'

t.test('the link in the mail opens a page, which runs and loads nothing but its own', async (t) => {
  const { call } = await testGateway(t)
  const page = await call(link)
  t.match(page, { status: 200, headers: { 'content-type': /html/, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', vary: 'Accept-Language' } })
  const text = page.body.toString()
  for (const [what, from, to] of [['script', '<script>', '</script>'], ['style', '<style>', '</style>']] as const) {
    const digest = createHash('sha256').update(between(text, from, to)).digest('base64')
    t.ok(String(page.headers['content-security-policy']).includes(`${what}-src 'sha256-${digest}'`), what)
  }
  t.notMatch(text, /https?:|t-1|ana/)
  t.match(text, '<html lang="en">')
  t.match((await call(link, { headers: { 'accept-language': 'id-ID' } })).body.toString(), '<html lang="id">')
})

t.test('the page sets a new password, and says when its link is over', async (t) => {
  const { call, services: { identity } } = await testGateway(t)
  const script = between((await call(link)).body.toString(), '<script>', '</script>')

  /** Opens the page, of which this has as much as its script knows; identity answers one request after the other. */
  function open (...answers: Array<[number, object]>) {
    identity.asked.length = 0
    identity.answer((_asked, response) => {
      const [status, body] = answers[identity.asked.length - 1] ?? [500, {}]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    const status = { textContent: '' }
    let submit = async (_event: object) => {}
    const form = {
      hidden: false,
      elements: { email: { value: '' }, password: { value: 'Wide-Open-5ky' } },
      addEventListener (_name: string, listener: typeof submit) { submit = listener }
    }
    const fetch = async (path: string, options: object) => {
      const answer = await call(`/${path}`, options)
      return { status: answer.status, json: async () => answer.json() }
    }
    runInNewContext(script, {
      URLSearchParams, fetch, location: { search: link.slice(link.indexOf('?')) },
      document: { querySelector: (what: string) => what === 'form' ? form : status, body: { dataset: { done: 'done', over: 'over', failed: 'failed' } } }
    })
    return { form, status, send: async () => await submit({ preventDefault () {} }) }
  }
  async function save (...answers: Array<[number, object]>) {
    const { form, status, send } = open([200, { success: true, data: { valid: true } }], ...answers)
    while (identity.asked.length === 0) await turn()
    await send()
    return [status.textContent, form.hidden ? 'over' : 'again']
  }
  const refusal = (status: number, code: string): [number, object] => [status, { success: false, code, error: 'a reason' }]

  t.same(await save([200, { success: true, data: { message: 'changed' } }]), ['done', 'over'])
  t.match(identity.asked, [{ method: 'GET', url: '/auth/reset-password?token=t-1&email=ana%2Bgym%40example.com' }, { method: 'POST', url: '/auth/reset-password' }])
  t.same(JSON.parse(String(identity.asked[1]?.body)), { token: 't-1', email: 'ana+gym@example.com', password: 'Wide-Open-5ky' })

  t.same(await save(refusal(400, 'INVALID_TOKEN')), ['over', 'over'])
  t.same(await save(refusal(400, 'VALIDATION_ERROR')), ['a reason', 'again'])
  t.same(await save(refusal(503, 'SERVICE_UNAVAILABLE')), ['failed', 'again'])

  const { form, status } = open([200, { success: true, data: { valid: false } }])
  while (!form.hidden) await turn()
  t.equal(status.textContent, 'over')
})
