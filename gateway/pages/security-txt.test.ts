import t from 'tap'
import { readGatewayConfig } from '../config.ts'
import { testGateway } from '../test/gateway.ts'

const path = '/.well-known/security.txt'

t.test('security.txt says where to report a vulnerability', async (t) => {
  const { call, env } = await testGateway(t, { env: { PUBLIC_URL: 'https://api.example.org' } })
  const answer = await call(path)
  t.match(answer, { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } })
  const text = answer.body.toString()
  t.match(text, /^Contact: mailto:security@tandem\.example$/m)
  t.match(text, /^Canonical: https:\/\/api\.example\.org\/\.well-known\/security\.txt$/m)
  const expires = Date.parse(/^Expires: (.+)$/m.exec(text)?.[1] ?? '')
  t.ok(expires > Date.now() && expires < Date.now() + 365 * 86_400_000, 'it has not expired, and will within a year')
  t.throws(() => readGatewayConfig({ ...env, SECURITY_CONTACT: 'security@example.org' }), {
    name: 'ConfigError',
    message: /SECURITY_CONTACT must be/
  })
})

t.test('operators set the contact and the expiry, and an expired file is not served', async (t) => {
  const SECURITY_CONTACT = 'mailto:safe@example.org, https://example.org/report'
  const set = await testGateway(t, { env: { SECURITY_CONTACT, SECURITY_EXPIRES: '2999-01-01T00:00:00Z' } })
  t.match(
    (await set.call(path)).body.toString(),
    'Contact: mailto:safe@example.org\nContact: https://example.org/report\nExpires: 2999-01-01T00:00:00.000Z\n'
  )
  const expired = await testGateway(t, { env: { SECURITY_EXPIRES: '2026-01-01T00:00:00Z' } })
  t.equal((await expired.call(path)).status, 404)
})
