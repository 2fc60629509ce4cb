import { runInNewContext } from 'node:vm'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const between = (text: string, from: string, to: string) =>
  text.slice(text.indexOf(from) + from.length, text.indexOf(to))
const page = '/reset-password'
const fields = 'token=t-1&email=ana%2Bgym%40example.com'
const links = {
  'a link': { hash: `#${fields}`, search: '' },
  'a link of an older email': { hash: '', search: `?${fields}` }
}

t.test('the page sets a new password, reports an expired link, and never puts the token into a URL', async (t) => {
  const { call, services: { identity } } = await testGateway(t)
  const script = between((await call(page)).body.toString(), '<script>', '</script>')

  /** Opens the page in a minimal DOM: only what its script uses. */
  function open (location: { hash: string, search: string }) {
    const status = { textContent: '' }
    let submit = async (_event: object) => {}
    let changeHash = () => {}
    const form = {
      hidden: false,
      elements: { email: { value: '' }, password: { value: 'Wide-Open-5ky' } },
      addEventListener (_name: string, listener: typeof submit) {
        submit = listener
      }
    }
    const shown = { ...location, pathname: page }
    const fetch = async (path: string, options: object) => {
      const answer = await call(`/${path}`, options)
      return { status: answer.status, json: async () => answer.json() }
    }
    runInNewContext(script, {
      URLSearchParams,
      fetch,
      location: shown,
      history: {
        replaceState (_state: unknown, _title: string, address: string) {
          Object.assign(shown, { hash: '', search: '', pathname: address })
        }
      },
      addEventListener (_name: string, listener: typeof changeHash) {
        changeHash = listener
      },
      document: {
        querySelector: (what: string) => what === 'form' ? form : status,
        body: { dataset: { done: 'done', expired: 'expired', missing: 'missing', failed: 'failed' } }
      }
    })
    return {
      form,
      status,
      shown,
      follow (hash: string) {
        shown.hash = hash
        changeHash()
      },
      send: async () => await submit({ preventDefault () {} })
    }
  }
  async function save (location: { hash: string, search: string }, status: number, body: object) {
    identity.received.length = 0
    identity.respondWith((_received, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    )
    const opened = open(location)
    t.same(opened.shown, { hash: '', search: '', pathname: page }, 'the history keeps no token')
    await opened.send()
    return [opened.status.textContent, opened.form.hidden ? 'finished' : 'again']
  }
  const errorBody = (code: string) => ({ success: false, code, error: 'a reason' })

  for (const [what, link] of Object.entries(links)) {
    t.same(await save(link, 200, { success: true, data: { message: 'changed' } }), ['done', 'finished'], what)
    t.same(identity.received.map(({ method, url }) => [method, url]), [['POST', '/auth/reset-password']], what)
    t.same(JSON.parse(String(identity.received[0]?.body)), {
      token: 't-1',
      email: 'ana+gym@example.com',
      password: 'Wide-Open-5ky'
    }, what)
    t.same(await save(link, 400, errorBody('INVALID_TOKEN')), ['expired', 'finished'], what)
    t.same(await save(link, 400, errorBody('VALIDATION_ERROR')), ['a reason', 'again'], what)
    t.same(await save(link, 503, errorBody('SERVICE_UNAVAILABLE')), ['failed', 'again'], what)
  }

  const { form, status, shown, follow, send } = open({ hash: '', search: '' })
  t.same([status.textContent, form.hidden], ['missing', true], 'without a link, or loaded again')
  identity.respondWith((_received, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}')
  )
  follow('#token=t-2&email=ana+gym@example.com')
  t.same([status.textContent, form.hidden, shown.hash], ['', false, ''], 'a second link in the same tab')
  await send()
  t.match(
    JSON.parse(String(identity.received.at(-1)?.body)),
    { token: 't-2', email: 'ana+gym@example.com' },
    'with a plus that was not encoded'
  )
})
