import { runInNewContext } from 'node:vm'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const between = (text: string, from: string, to: string) =>
  text.slice(text.indexOf(from) + from.length, text.indexOf(to))

t.test('the page sends the appeal with the token of the link, and says what came of it', async (t) => {
  const { call, services: { identity } } = await testGateway(t)
  const script = between((await call('/appeal')).body.toString(), '<script>', '</script>')
  for (
    const [code, shown] of [['', 'done'], ['APPEAL_EXISTS', 'exists'], ['APPEAL_CLOSED', 'closed'], [
      'NOT_FOUND',
      'missing'
    ]] as const
  ) {
    identity.respondWith((_received, response) => {
      response.writeHead(code ? 409 : 201, { 'content-type': 'application/json' })
      response.end(JSON.stringify(code ? { success: false, error: 'No', code } : { success: true, data: {} }))
    })
    const status = { textContent: '' }
    let submit = async (_event: object) => {}
    const form = {
      hidden: false,
      elements: { text: { value: 'It was a quote.' } },
      addEventListener (_name: string, listener: typeof submit) {
        submit = listener
      }
    }
    const dataset = new Proxy({}, { get: (_target, name) => String(name) })
    runInNewContext(script, {
      URLSearchParams,
      JSON,
      fetch: async (path: string, options: object) => {
        const answer = await call(`/${path}`, options)
        return { status: answer.status, json: async () => answer.json() }
      },
      location: { hash: '#token=t-1', pathname: '/appeal' },
      history: { replaceState () {} },
      addEventListener () {},
      document: { body: { dataset }, querySelector: (selector: string) => selector === 'form' ? form : status }
    })
    const sent = identity.received.length
    // As by a double click.
    await Promise.all([submit({ preventDefault () {} }), submit({ preventDefault () {} })])
    t.equal(identity.received.length, sent + 1)
    t.same([status.textContent, form.hidden], [shown, true])
    t.match(JSON.parse(String(identity.received.at(-1)!.body)), { token: 't-1', text: 'It was a quote.' })
  }
})
