import t from 'tap'
import { Compile } from 'typebox/compile'
import { testApp } from './testing.ts'

const { app } = await testApp(t)
interface Operation { 'summary'?: string, 'x-extension'?: boolean, 'requestBody'?: object, 'responses': Record<string, object> }
const { paths } = (await app.inject({ url: '/openapi.json' })).json() as { paths: Record<string, Record<string, Operation>> }
const operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })))

t.test('the document tells of every route, and which of them are additions', (t) => {
  const names = (extension: boolean) => operations.filter(({ operation }) => (operation['x-extension'] === true) === extension).map(({ name }) => name).sort()
  t.same(names(false), ['get /dashboard/health-score', 'get /dashboard/home', 'get /dashboard/stats', 'get /dashboard/weekly-overview'])
  t.same(names(true), ['delete /logs/{id}', 'delete /programs/{id}', 'get /goals', 'get /logs', 'get /programs', 'get /records', 'post /logs/batch', 'post /programs', 'put /goals', 'put /programs/active'])
  t.ok(operations.every(({ operation }) => operation.summary))
  t.end()
})

t.test('every answer and every body has an example, and each is of its own shape', (t) => {
  for (const { name, operation } of operations) {
    const parts = [operation.requestBody, ...Object.entries(operation.responses).filter(([status]) => status.startsWith('2')).map(([, response]) => response)].filter((part) => part !== undefined)
    for (const part of parts) {
      const found = examplesIn(part)
      if (!name.startsWith('delete')) t.ok(found.length > 0, `${name} has an example`)
      for (const { schema, example } of found) t.same([...Compile(schema).Errors(example)], [], name)
    }
  }
  t.end()
})

/** Every example with its schema: within it in answers, beside it in bodies. */
function examplesIn (part: unknown): { schema: object, example: unknown }[] {
  if (typeof part !== 'object' || part === null) return []
  const within = 'examples' in part && Array.isArray(part.examples) ? part.examples.map((example: unknown) => ({ schema: part, example })) : []
  const beside = 'example' in part && 'schema' in part ? [{ schema: part.schema as object, example: part.example }] : []
  return [...within, ...beside, ...Object.entries(part).filter(([key]) => !key.startsWith('example')).flatMap(([, inner]) => examplesIn(inner))]
}
