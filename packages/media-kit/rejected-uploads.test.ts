import type { AddressInfo } from 'node:net'
import { createServer } from '@tandem/http-kit'
import { postThenRead, silentLog, testKeys } from '@tandem/http-kit/testing'
import t from 'tap'
import { createForm, createPng } from './testing.ts'
import { readImage, UPLOAD_BODY_LIMIT, multipartUploads } from './uploads.ts'

t.test('a client that uploads 5.4 MB to a service reads the 413, 25 times of 25', async (t) => {
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys })
  t.teardown(() => app.close())
  await app.register(async (app) => {
    await app.register(multipartUploads)
    app.post(
      '/photos',
      { bodyLimit: UPLOAD_BODY_LIMIT, config: { public: true } },
      async (request, reply) => await readImage(request, reply, 'file', crypto.randomUUID())
    )
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const { headers, payload } = createForm(Buffer.concat([createPng(), Buffer.alloc(5_400_000)]))
  for (const chunked of [false, true]) {
    for (const [close, rounds] of [[true, 5], [false, 2]] as const) {
      const answers = []
      for (let i = 0; i < rounds; i++) {
        const batch = Array.from(
          { length: 5 },
          () => postThenRead(port, { path: '/photos', headers, body: payload, chunked, close })
        )
        answers.push(...await Promise.all(batch))
      }
      t.strictSame(
        answers.filter(({ status, isComplete }) => !(status === 413 && isComplete)),
        [],
        `${chunked ? 'chunked' : 'with its length'}, ${close ? 'Connection: close' : 'kept alive'}`
      )
      t.ok(answers.every(({ text }) => text.includes('PAYLOAD_TOO_LARGE')))
    }
  }
})
