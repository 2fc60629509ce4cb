import t from 'tap'
import * as contracts from '@tandem/contracts'
import { Compile } from 'typebox/compile'
import { sampleOf, type Schema } from './samples.ts'

t.test('a generated sample is valid, for every event and RPC that there is', (t) => {
  for (const definition of Object.values<unknown>(contracts)) {
    if (typeof definition !== 'object' || definition === null) continue
    for (const [part, schema] of Object.entries(definition)) {
      if (!['data', 'request', 'response'].includes(part)) continue
      const sample = sampleOf(schema as Schema)
      t.same([...Compile(schema as never).Errors(sample)], [], `${JSON.stringify(definition).slice(0, 60)} ${part}`)
    }
  }
  t.end()
})
