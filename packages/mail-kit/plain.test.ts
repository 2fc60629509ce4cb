import t from 'tap'
import { plainName, plainQuote, plainText } from './index.ts'

t.test('a name in a mail to another person is only a name', (t) => {
  t.equal(plainName('Ana-Lucía O’Neil'), 'Ana-Lucía O’Neil')
  t.equal(plainName('  Eko  山田 '), 'Eko 山田')
  t.equal(plainName('Win! https://evil.example/x?y=1 <b>now</b>'), 'Win https evil example x y 1 b now b')
  t.equal(plainName('a'.repeat(60)).length, 40)
  t.equal(plainName('😀'), '–')
  t.end()
})

t.test('a place or a device has no link and no markup', (t) => {
  t.equal(plainText('Gym #2 (Jl. Sudirman 5/7), 1st floor'), 'Gym #2 (Jl Sudirman 5/7), 1st floor')
  t.equal(plainText('<a href="https://evil.example">Sign in here</a>'), 'a href https //evil example Sign in here /a')
  t.equal(plainText('a'.repeat(500)).length, 200)
  t.end()
})

t.test('a quote keeps its sentences, and loses links, markup and what is invisible', (t) => {
  const same = ['I ran 5.5 km. Great!', 'I <3 you: 10:30, 3 < 4', 'Ana & Ben 👨‍👩‍👧', 'Dr. Ana said “no”', '山田さん。']
  for (const text of same) t.equal(plainQuote(text), text)
  t.equal(plainQuote('See https://evil.example/x?y=1 now'), 'See … now')
  t.equal(plainQuote('www.evil.com, evil。com or a@evil.com'), 'www. evil. com, evil. com or a@evil. com')
  t.equal(plainQuote('<a href="x">Sign in</a> <img src=x'), 'Sign in')
  t.equal(plainQuote('one\r\n\ttwo\u202e\u0000three'), 'one two three')
  t.equal(plainQuote('😀'.repeat(300)), '😀'.repeat(200))
  t.equal(plainQuote('<b>'), '')
  t.end()
})

t.test('a quote of a long word takes no longer than its length', (t) => {
  const before = process.cpuUsage()
  t.equal(plainQuote('x'.repeat(200_000)), 'x'.repeat(200))
  t.ok(process.cpuUsage(before).user < 2_000_000, `${process.cpuUsage(before).user} µs`)
  t.end()
})
