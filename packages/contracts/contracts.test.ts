import { readdir } from 'node:fs/promises'
import t from 'tap'
import { Compile } from 'typebox/compile'
import * as contracts from './index.ts'
import { readSample } from './samples.ts'

type Definition = contracts.EventDefinition | contracts.QuestionDefinition
const definitions: Definition[] = Object.values(contracts).filter((each) => typeof each === 'object' && 'type' in each)
const events = definitions.filter((each) => 'data' in each)

t.test('every event that was ever published still parses', async (t) => {
  for (const event of events) {
    const sample = await readSample(event)
    t.same([...Compile(event.data).Errors(sample)], [], event.type)
  }
})

t.test('every sample belongs to an event, so that none is dropped while somebody may still send it', async (t) => {
  const samples = (await readdir(new URL('samples', import.meta.url))).map((file) => file.replace('.json', ''))
  t.same(samples.sort(), events.map((event) => event.type).sort())
})

t.test('a type is said once, and begins with its service', (t) => {
  const types = definitions.map((each) => each.type)
  t.equal(new Set(types).size, types.length)
  for (const { type, service } of definitions) t.ok(type.startsWith(`${service}.`), type)
  t.end()
})
