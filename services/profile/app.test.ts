import t from 'tap'
import { listMissingExamples } from '@tandem/http-kit/testing'
import { testApp } from './test/app.ts'

const { app } = await testApp(t)

interface Operation {
  'summary'?: string
  'security'?: object[]
  'x-extension'?: boolean
}

t.test('the OpenAPI document has every route, with its extensions and its authentication', async (t) => {
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation }))
  )
  const namesOf = (matches: (operation: Operation) => boolean) =>
    operations.filter(({ operation }) => matches(operation)).map(({ name }) => name).sort()
  t.same(namesOf((operation) => !operation['x-extension']), [
    'get /locations',
    'get /onboarding/options',
    'get /onboarding/status',
    'post /onboarding/save-permissions',
    'post /onboarding/save-preferences',
    'post /onboarding/save-profile',
    'post /onboarding/upload-photo'
  ])
  t.same(namesOf((operation) => operation['x-extension'] === true), [
    'delete /onboarding/admin/options',
    'get /onboarding/admin/options',
    'get /profile',
    'get /profile/username-available',
    'post /onboarding/admin/options',
    'put /onboarding/admin/options',
    'put /profile'
  ])
  t.same(namesOf((operation) => !operation.security?.length), ['get /locations', 'get /onboarding/options'])
  t.same(namesOf((operation) => !operation.summary), [])
})

t.test('every operation has complete examples of its request and response', async (t) => {
  t.strictSame(await listMissingExamples(app), [])
})
