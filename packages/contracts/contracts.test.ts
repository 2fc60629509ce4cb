import { readdir } from 'node:fs/promises'
import t from 'tap'
import { Compile } from 'typebox/compile'
import * as contracts from './index.ts'
import { readSamples } from './samples.ts'

type Definition = contracts.EventDefinition | contracts.RpcDefinition
const definitions: Definition[] = Object.values(contracts).filter((each) => typeof each === 'object' && 'type' in each)

t.test('each event, request and response that was ever published still parses', async (t) => {
  for (const definition of definitions) {
    const samples = await readSamples(definition)
    const parts = 'data' in definition
      ? [['data', definition.data, samples.data]] as const
      : [['request', definition.request, samples.request], ['response', definition.response, samples.response]] as const
    for (const [name, schema, sample] of parts) {
      t.same([...Compile(schema).Errors(sample)], [], `${definition.type} ${name}`)
    }
  }
})

t.test('each sample belongs to an event or an RPC, so that none is removed while it is in use', async (t) => {
  const samples = (await readdir(new URL('samples', import.meta.url))).map((file) => file.replace('.json', ''))
  const expected = definitions.flatMap((each) =>
    'data' in each ? [each.type] : [`${each.type}.request`, `${each.type}.response`]
  )
  t.same(samples.sort(), expected.sort())
})

t.test('a type is unique and starts with its service', (t) => {
  const types = definitions.map((each) => each.type)
  t.equal(new Set(types).size, types.length)
  for (const { type, service } of definitions) t.ok(type.startsWith(`${service}.`), type)
  t.end()
})
