import t from 'tap'
import { listMissingExamples } from '@tandem/service-kit/testing'
import { testApp } from './test/app.ts'

const { app } = await testApp(t)

interface Operation { 'summary'?: string, 'security'?: object[], 'x-extension'?: boolean }

t.test('the document tells of every route, which are additions, and which need no token', async (t) => {
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })))
  const named = (fits: (operation: Operation) => boolean) => operations.filter(({ operation }) => fits(operation)).map(({ name }) => name).sort()
  t.same(named((operation) => !operation['x-extension']), [
    'get /locations', 'get /onboarding/options', 'get /onboarding/status', 'post /onboarding/save-permissions', 'post /onboarding/save-preferences',
    'post /onboarding/save-profile', 'post /onboarding/upload-photo'
  ])
  t.same(named((operation) => operation['x-extension'] === true), [
    'delete /onboarding/admin/options', 'get /onboarding/admin/options', 'get /profile', 'get /profile/username-available', 'post /onboarding/admin/options',
    'put /onboarding/admin/options', 'put /profile'
  ])
  t.same(named((operation) => !operation.security), ['get /locations', 'get /onboarding/options'])
  t.same(named((operation) => !operation.summary), [])
})

t.test('every operation is documented with a whole example of its body and of its answer', async (t) => {
  t.strictSame(await listMissingExamples(app), [])
})
