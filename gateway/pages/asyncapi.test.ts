import { Parser } from '@asyncapi/parser'
import { turnOff } from '@tandem/brand-kit/testing'
import { clientFrames, serverFrames } from '@tandem/contracts/realtime'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

t.test('the AsyncAPI document is valid and describes every frame', async (t) => {
  const { call } = await testGateway(t, { env: { PUBLIC_URL: 'https://api.example.org' } })
  const { status, headers, body } = await call('/asyncapi.json')
  t.match([status, headers['content-type']], [200, /^application\/json/])
  const { document, diagnostics } = await new Parser().parse(body.toString())
  // Severity 0 is an error, 1 a warning.
  t.strictSame(diagnostics.filter(({ severity }) => severity < 2).map(({ message, path }) => [message, path]), [])
  const namesOf = (id: string) =>
    document?.operations().get(id)?.messages().all().map((message) => message.name()).sort()
  t.strictSame(namesOf('sendFrame'), Object.keys(serverFrames).sort())
  t.strictSame(namesOf('receiveFrame'), Object.keys(clientFrames).sort())
  t.strictSame(document?.servers().all().map((server) => server.url()), [
    'wss://api.example.org/',
    'https://api.example.org/'
  ])
})

t.test('without FitMatch, it has no frames of matches and chats', async (t) => {
  turnOff(t, 'fitmatch')
  const { call } = await testGateway(t)
  const { components } = (await call('/asyncapi.json')).json() as { components: { messages: object } }
  const names = Object.keys(components.messages)
  t.ok(names.includes('notification.created') && names.includes('client.auth'))
  t.strictSame(names.filter((name) => /message|match|chat|presence|focus|watch/.test(name)), [])
})

t.test('it is served only where the documentation is', async (t) => {
  const { call } = await testGateway(t, { env: { DOCS: 'off' } })
  t.equal((await call('/asyncapi.json')).status, 404)
})
