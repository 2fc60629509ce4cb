import t from 'tap'
import { listMissingExamples } from '@tandem/http-kit/testing'
import { testApp } from './test/app.ts'

interface Operation {
  summary?: string
  'x-extension'?: boolean
  responses: Record<string, { content?: Record<string, { schema: unknown }> } | undefined>
}

const apiRoutes = [
  'GET POST PUT DELETE /fitmatch/profile',
  'GET /fitmatch/profile/{profileId}',
  'GET POST PUT DELETE /fitmatch/photos',
  'GET /fitmatch/discover',
  'POST /fitmatch/swipe',
  'GET /fitmatch/matches',
  'GET DELETE /fitmatch/chat/{matchId}',
  'GET POST /fitmatch/chat/{matchId}/messages',
  'POST /fitmatch/chat/{matchId}/read',
  'POST /fitmatch/chat/{matchId}/typing',
  'GET POST PUT DELETE /fitmatch/profile/venues',
  'GET POST DELETE /fitmatch/block',
  'GET POST /fitmatch/report',
  'GET PUT DELETE /fitmatch/settings',
  'GET POST DELETE /fitmatch/verification',
  'GET POST /fitmatch/badges',
  'GET POST DELETE /fitmatch/setup-draft',
  'GET POST /fitmatch/tutorial-seen'
]

t.test('the OpenAPI document has every route with a summary and complete examples of requests and responses', async (t) => {
  const { app, send } = await testApp(t)
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const found: string[] = []
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method.toUpperCase()} ${path}`
      if (!operation['x-extension']) found.push(name)
      t.ok(operation.summary, `${name} has a summary`)
      const [status = '', response] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? []
      t.ok(response?.content, `${name} documents the body of ${status}`)
    }
  }
  const wanted = apiRoutes.flatMap((line) =>
    line.split(' ').slice(0, -1).map((method) => `${method} ${line.split(' ').at(-1)}`)
  )
  t.strictSame(found.sort(), wanted.sort())

  for (const name of found) {
    const [method = 'GET', path = ''] = name.split(' ')
    const response = await app.inject({ method: method as 'GET', url: path.replace(/\{\w+\}/, 'x') })
    t.match(
      [response.statusCode, response.json()],
      [401, { success: false, code: 'UNAUTHORIZED', error: String }],
      `${name} requires authentication`
    )
  }
  t.strictSame(await listMissingExamples(app), [])
  t.match(await send('0198c000-0000-7000-8000-000000000001', 'GET', '/fitmatch/nothing'), {
    status: 404,
    code: 'NOT_FOUND'
  })
})
