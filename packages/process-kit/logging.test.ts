import t from 'tap'
import { createLogger } from './logging.ts'

t.test('secrets are hidden wherever they appear, and an error does not quote a row', async (t) => {
  const lines: Array<Record<string, unknown>> = []
  const log = createLogger('test', 'info', {
    write: (line: string) => {
      lines.push(JSON.parse(line))
    }
  })
  log.info({
    password: 'a1',
    headers: { Authorization: 'a1' },
    list: [{ email: 'a1' }],
    body: { code: '123456', refreshToken: 'a1' },
    code: 'ECONNREFUSED'
  }, 'x')
  log.error({
    err: Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(a1) exists',
      cause: new Error('why')
    })
  })
  t.notMatch(JSON.stringify(lines), /a1|123456/)
  t.match(lines[0], { code: 'ECONNREFUSED', list: [{ email: '[hidden]' }] })
  t.match(lines[1], { err: { code: '23505', message: 'duplicate key', cause: { message: 'why' } } })
})
