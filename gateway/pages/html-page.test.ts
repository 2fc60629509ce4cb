import { createHash } from 'node:crypto'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const pages = [
  '/reset-password',
  '/delete-account',
  '/my-data',
  '/restore-address',
  '/sign-in',
  '/verify-email',
  '/trusted-contact',
  '/appeal',
  '/invite/K7RMX2PA'
]

t.test('every page runs only its own script, loads nothing, stays in no cache, and has two languages', async (t) => {
  const { call } = await testGateway(t)
  for (const page of pages) {
    const { status, headers, body } = await call(page)
    t.match({ status, headers }, {
      status: 200,
      headers: {
        'content-type': /html/,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'content-security-policy': /^default-src 'none'; /,
        'vary': /Accept-Language/
      }
    }, page)
    const text = body.toString()
    for (const element of ['script', 'style']) {
      const [, content = ''] = new RegExp(`<${element}>(.*)</${element}>`, 's').exec(text) ?? []
      const digest = createHash('sha256').update(content).digest('base64')
      t.ok(String(headers['content-security-policy']).includes(`${element}-src 'sha256-${digest}'`), page)
    }
    t.notMatch(text, /https?:/)
    t.match((await call(page, { headers: { 'accept-language': 'id-ID' } })).body.toString(), '<html lang="id">')
  }
})
