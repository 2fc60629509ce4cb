import type { Test } from 'tap'
import type { Feature } from '@tandem/brand-kit'
import { turnOff } from '@tandem/brand-kit/testing'
import type { Server } from '../server.ts'

const id = '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10'

async function listOperations (app: Server) {
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, object> }
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((operation) => !operation.includes(' /health'))
}

/**
 * Tests what an app is without each of its features: its routes are not found and not in the API document, all others
 * are. The operations of a feature are patterns, such as `/stories`.
 */
export async function checkFeatures (
  t: Test,
  { startApp, headers, features }: {
    startApp: (t: Test) => Promise<Server>,
    /** Of a signed-in account. */
    headers: Record<string, string>,
    features: { [Name in Feature]?: RegExp }
  }
) {
  const all = await listOperations(await startApp(t))
  for (const [feature, pattern] of Object.entries(features)) {
    await t.test(`without ${feature}, its routes are not found, and the API document lacks them`, async (t) => {
      const gone = all.filter((operation) => pattern.test(operation))
      t.ok(gone.length > 0)
      turnOff(t, feature as Feature)
      const app = await startApp(t)
      t.strictSame(await listOperations(app), all.filter((operation) => !gone.includes(operation)))
      for (const operation of gone) {
        const [method, path = ''] = operation.split(' ')
        const response = await app.inject({
          method: method as 'GET',
          url: path.replaceAll(/\{\w+\}/g, id),
          headers
        })
        t.match(
          [response.statusCode, response.json()],
          [404, { success: false, code: 'NOT_FOUND', error: String }],
          operation
        )
      }
    })
  }
}
