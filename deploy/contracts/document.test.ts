import path from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import { joinPublic, listNameConflicts, readDocuments } from './openapi.ts'

interface Operation {
  operationId: string
  description?: string
  tags: string[]
  requestBody?: object
  responses: Record<string, { $ref?: string, 'x-error-codes'?: string[] }>
}

const parts = await readDocuments(path.resolve(import.meta.dirname, '../..'))
const document = joinPublic(parts)
const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation as Operation }))
)

t.test('Redocly finds no problem in the document', async (t) => {
  // The router prefers /users/by-username to /users/{userId}, and no user has that id.
  const config = await createConfig({ extends: ['recommended'], rules: { 'no-ambiguous-paths': 'off' } })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  t.strictSame(problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`), [])
})

t.test('a schema has one name and one shape in all services', async (t) => {
  t.strictSame(listNameConflicts(parts), [])
  const post = { schemas: { Post: { type: 'object' } } }
  t.strictSame(
    listNameConflicts([
      { name: 'social', document: { components: post } },
      { name: 'dashboard', document: { components: { schemas: { Post: { type: 'string' } } } } },
      { name: 'profile', document: { components: post } }
    ]),
    ['schemas Post is one in social and another in dashboard: rename one.']
  )
})

// What a client says about itself, or how it writes: none of it decides anything that a request is about.
const LABELS = ['appVersion', 'deviceInfo', 'deviceName', 'familyName', 'fontStyle', 'givenName', 'locale']

t.test('no label of a client can refuse a request', async (t) => {
  const found = new Set<string>()
  const check = (schema: unknown, path: string) => {
    if (typeof schema !== 'object' || schema === null) return
    const { $ref, properties = {}, ...inner } = schema as { $ref?: string, properties?: Record<string, object> }
    if ($ref !== undefined) check(document.components?.schemas?.[$ref.split('/').at(-1) ?? ''], path)
    for (const [name, property] of Object.entries(properties)) {
      if (LABELS.includes(name)) {
        found.add(name)
        const limits = ['enum', 'format', 'maxLength', 'minLength', 'pattern'].filter((each) => each in property)
        t.same(limits, [], `${path}.${name}`)
      }
      check(property, `${path}.${name}`)
    }
    for (const each of Object.values(inner)) check(each, path)
  }
  for (const { name, requestBody } of operations) check(requestBody, name)
  t.same([...found].toSorted(), LABELS)
})

t.test('no field of a body has a default, which makes it required in some generators', async (t) => {
  const found: string[] = []
  const check = (schema: unknown, path: string) => {
    if (typeof schema !== 'object' || schema === null) return
    const { $ref } = schema as { $ref?: string }
    if ($ref !== undefined) check(document.components?.schemas?.[$ref.split('/').at(-1) ?? ''], path)
    if ('type' in schema && 'default' in schema) found.push(path)
    for (const [key, each] of Object.entries(schema)) check(each, `${path}.${key}`)
  }
  for (const { name, requestBody } of operations) check(requestBody, name)
  t.same(found, [])
})

t.test('each operation is named by a verb and is in one section', async (t) => {
  for (const { name, operationId, tags } of operations) {
    t.match(operationId, /^[a-z]+([A-Z][a-z]*)*$/, name)
    t.notMatch(operationId, /^(post|put|patch)[A-Z]/, `${name} is named by what it does, not by its method`)
    t.equal(tags.length, 1, `${name} needs a tag in gateway/pages/tags.ts`)
  }
  const ids = operations.map(({ operationId }) => operationId)
  t.same(ids.filter((id, index) => ids.indexOf(id) !== index), [], 'each name is used once')
})

t.test('descriptions leave errors to the lists of errors, which name every code with its sentence', async (t) => {
  const { schemas = {} } = document.components ?? {}
  const { enum: codes } = schemas['ErrorCode'] as { enum: string[] }
  const compound = codes.filter((code) => code.includes('_'))
  const naming = operations.filter(({ description = '' }) =>
    /\b[45]\d\d [A-Z][A-Z_]{3,}/.test(description) || compound.some((code) => description.includes(code))
  )
  t.strictSame(naming.map(({ name, description }) => `${name}: ${description}`), [])
})

t.test('each operation lists its errors with the codes that clients switch on', async (t) => {
  const { schemas = {}, responses = {} } = document.components ?? {}
  const { enum: codes } = schemas['ErrorCode'] as { enum: string[] }
  for (const { name, ...operation } of operations) {
    const errors = Object.entries(operation.responses).filter(([status]) => /^[45]/.test(status))
    t.ok(errors.some(([status]) => status.startsWith('4')), name)
    for (const [status, response] of errors) {
      const resolved = (response.$ref ? responses[response.$ref.split('/').at(-1) ?? ''] : response) as typeof response
      t.ok(resolved['x-error-codes']?.length, `${name} ${status}`)
      for (const code of resolved['x-error-codes'] ?? []) t.ok(codes.includes(code), `${name} ${status} ${code}`)
    }
  }
})
