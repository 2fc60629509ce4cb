import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLookup } from './lookup.ts'

/** An owner that knows the lower-case letters and records its calls. */
function letters () {
  const calls: string[][] = []
  return {
    calls,
    read: async (keys: string[]) => {
      calls.push(keys)
      await sleep(5)
      return new Map(keys.filter((key) => /^[a-z]$/.test(key)).map((key) => [key, key.toUpperCase()]))
    }
  }
}

t.test('concurrent lookups share the call after the current one, with each key once', async (t) => {
  const { calls, read } = letters()
  const find = createLookup(read)
  const answers = await Promise.all(
    ['a', ...Array.from({ length: 50 }, () => 'b'), 'c'].map(async (key) => await find([key]))
  )
  t.strictSame([answers[0], answers[1], answers[51]], [['A'], ['B'], ['C']])
  t.strictSame(calls, [['a'], ['b', 'c']])
})

t.test('a known key is looked up every time, because its item may have changed', async (t) => {
  const { calls, read } = letters()
  const find = createLookup(read)
  await find(['a'])
  await find(['a'])
  t.equal(calls.length, 2)
})

t.test('an unknown key is looked up once until its cache entry expires', async (t) => {
  const { calls, read } = letters()
  const callsOf = (key: string) => calls.flat().filter((each) => each === key).length
  const find = createLookup(read, { unknownTtlMs: 600_000 })
  for (let times = 0; times < 20; times++) t.strictSame(await find(['1', 'a']), ['A'])
  t.equal(callsOf('1'), 1)

  const findBriefly = createLookup(read, { unknownTtlMs: 10 })
  await findBriefly(['2'])
  await sleep(20)
  await findBriefly(['2'])
  t.equal(callsOf('2'), 2)
})

t.test('unknown keys do not fill the memory', async (t) => {
  const { calls, read } = letters()
  const find = createLookup(read, { maxUnknown: 10, unknownTtlMs: 60_000 })
  await find(Array.from({ length: 30 }, (_, number) => `key ${number}`))
  calls.length = 0
  await find(['key 0', 'key 29'])
  t.strictSame(calls.flat(), ['key 0'], 'only the newest are cached')
})

t.test('a failed call marks no key as unknown', async (t) => {
  const { read } = letters()
  let isUnavailable = true
  const find = createLookup(async (keys) => {
    if (isUnavailable) throw new Error('unavailable')
    return await read(keys)
  })
  await t.rejects(find(['a']), { message: 'unavailable' })
  isUnavailable = false
  t.strictSame(await find(['a']), ['A'])
})
