import createError from '@fastify/error'
import t from 'tap'
import { inIndonesian, translateErrors } from './translations.ts'

const TooYoung = createError<'TOO_YOUNG', 403, [number]>('TOO_YOUNG', 'You must be at least %d (years)', 403)
const Gone = createError('GONE', 'This is gone', 410)
const Other = createError('OTHER', 'Another error', 400)
const notAnError = [Gone]

t.test('an error has the text of its class, with the values of its message', (t) => {
  translateErrors({ TooYoung, Gone, notAnError }, { TooYoung: 'Minimal %d tahun', Gone: 'Sudah tidak ada' })
  t.equal(inIndonesian(new TooYoung(18)), 'Minimal 18 tahun')
  t.equal(inIndonesian(new Gone()), 'Sudah tidak ada')
  t.equal(inIndonesian(new (class extends Gone {})()), 'Sudah tidak ada', 'also of a subclass')
  t.equal(inIndonesian(new Other()), undefined)
  t.equal(inIndonesian(new Error('This is gone')), undefined)
  t.end()
})
