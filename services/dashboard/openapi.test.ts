import t from 'tap'
import { listMissingExamples, resolveReferences } from '@tandem/http-kit/testing'
import { testApp } from './test/app.ts'

const { app } = await testApp(t)

interface Operation {
  'summary'?: string
  'x-extension'?: boolean
  'parameters'?: { name: string, in: string }[]
}

t.test('the document contains the published API and marks extensions', async (t) => {
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation }))
  )
  const published = operations.filter(({ operation }) => !operation['x-extension']).map(({ name }) => name)
  t.same(published.sort(), [
    'get /dashboard/health-score',
    'get /dashboard/home',
    'get /dashboard/stats',
    'get /dashboard/weekly-overview'
  ])
  t.ok(operations.every(({ operation }) => operation.summary))
  t.same(
    operations.filter(({ operation }) =>
      operation.parameters?.some((each) => each.in === 'header' && each.name === 'idempotency-key')
    ).map(({ name }) => name),
    ['post /logs/batch', 'post /programs', 'post /programs/templates/{id}/copy', 'post /fasting']
  )
})

t.test('every operation has a complete example of its request body and its response', async (t) => {
  t.strictSame(await listMissingExamples(app), [])
})

/** Each type of log, with what its data must have. */
const requiredOf = [
  ['WORKOUT', 'durationMinutes'],
  ['FOOD', 'name', 'calories'],
  ['WATER', 'ml'],
  ['SLEEP', 'minutes'],
  ['WEIGHT', 'kg'],
  ['BODY_FAT', 'percent'],
  ['STEPS', 'count'],
  ['DISTANCE', 'meters'],
  ['ACTIVE_ENERGY', 'kcal'],
  ['HEART_RATE']
]

t.test('the document describes the data of each log type, although the batch accepts any item', async (t) => {
  const { paths } = resolveReferences((await app.inject('/openapi.json')).json())
  const { items } = paths['/logs/batch'].post.requestBody.content['application/json'].schema.properties.items
  t.match(
    items.oneOf.map((
      { required, properties }: { required: string[], properties: { type: object, data: { required?: string[] } } }
    ) => [required, properties.type, properties.data.required ?? []]),
    requiredOf.map(([type, ...required]) => [['type'], { enum: [type] }, required])
  )
  const logs =
    paths['/logs'].get.responses[200].content['application/json'].schema.properties.data.properties.logs.items
  t.same(
    logs.oneOf.map(({ properties }: { properties: { type: { enum: string[] }, data: { required?: string[] } } }) => [
      properties.type.enum[0],
      properties.data.required?.[0]
    ]),
    requiredOf.map(([type, first]) => [type, first])
  )
  t.match(logs.discriminator, { propertyName: 'type', mapping: { WATER: '#/components/schemas/WaterLog' } })
})
