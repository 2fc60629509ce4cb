import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { buildModels, languages, readSchemas } from './models.ts'

type Schema = Record<string, unknown>

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const document = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../gateway/openapi.json'), 'utf8')
) as Schema & { paths: Record<string, Record<string, { operationId?: string }>> }

/** Every object in the document with its place, without examples. */
function* walk (value: unknown, place = '#'): Generator<[string, Schema]> {
  if (Array.isArray(value)) { for (const [index, each] of value.entries()) yield* walk(each, `${place}/${index}`) }
  if (!isObject(value)) return
  yield [place, value]
  for (const [name, each] of Object.entries(value)) {
    if (!['example', 'examples', 'default', 'enum'].includes(name)) yield* walk(each, `${place}/${name}`)
  }
}

t.test('the document avoids what generators for Swift and Kotlin cannot express', (t) => {
  const names = new Set<string>()
  for (const operations of Object.values(document.paths)) {
    for (const { operationId = '' } of Object.values(operations)) {
      t.match(operationId, /^[a-z][A-Za-z]+$/, 'each operation has a name')
      t.notOk(names.has(operationId), `${operationId} is unique`)
      names.add(operationId)
    }
  }
  for (const [place, schema] of walk(document)) {
    t.notOk(isObject(schema['patternProperties']), `${place} has no pattern of names`)
    if (Array.isArray(schema['enum'])) t.equal(schema['type'], 'string', `${place} is an enum of strings`)
    const union = [schema['anyOf'], schema['oneOf']].flat().filter((each): each is Schema =>
      isObject(each) && each['type'] !== 'null'
    )
    for (const each of union) {
      t.ok(each['type'] ?? each['$ref'] ?? each['const'] ?? each['enum'], `each branch of ${place} has a type`)
    }
    const objects = union.filter((each) => each['$ref'] !== undefined || each['properties'] !== undefined)
    if (objects.length < 2) continue
    t.ok(objects.every((each) => each['$ref'] !== undefined), `${place} is a union of named schemas`)
    t.ok(isObject(schema['discriminator']), `${place} has a discriminator`)
  }
  t.end()
})

for (const language of languages) {
  t.test(`each named object of the API is one type in ${language}`, async (t) => {
    const source = await buildModels(language)
    const declaration = language === 'swift' ? /^struct (\w+):/gm : /^data class (\w+) ?\(/gm
    const types = [...source.matchAll(declaration)].map(([, name = '']) => name)
    for (const [name, schema] of Object.entries(readSchemas())) {
      // A draft is any JSON object, so it has no fields.
      const fields = isObject(schema) ? Object.keys(schema['properties'] ?? {}) : []
      if (fields.length === 0) continue
      t.equal(types.filter((each) => each === name).length, 1, name)
    }
    t.same(types.filter((name) => /^(Purple|Fluffy|Tentacled|Sticky)/.test(name)), [], 'no name is invented')
  })
}
