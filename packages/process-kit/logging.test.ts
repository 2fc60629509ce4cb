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
  const failure = (index: number) => new Error(`the step "${index}" failed`, { cause: new Error('why') })
  log.error({
    err: Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(a1) exists',
      cause: new Error('why')
    })
  })
  log.warn({ err: new AggregateError(Array.from({ length: 50 }, (_, index) => failure(index)), '50 items failed') })
  t.notMatch(JSON.stringify(lines), /a1|123456/)
  t.match(lines[0], { code: 'ECONNREFUSED', list: [{ email: '[hidden]' }] })
  t.match(lines[1], { err: { code: '23505', message: 'duplicate key', cause: { message: 'why' } } })
  t.match(lines[2], { err: { message: '50 items failed', errors: { length: 30 } } }, 'not more than fit a line')
  t.match(lines[2], { err: { errors: [{ message: 'the step "0" failed', cause: { message: 'why' } }] } })
})
