import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createImage } from '@tandem/media-kit/testing'
import { checkOperatorRoutes, operatorBearer } from '@tandem/operator-kit/testing'
import { testApp } from './test/app.ts'

t.test('nothing below /operator is open', async (t) => {
  const { app } = await testApp(t)
  await checkOperatorRoutes(t, app)
})

t.test('operators see how a person appears, with a reason, and nothing of their body', async (t) => {
  const { app, givenPerson } = await testApp(t)
  const accountId = await givenPerson('Ana')
  const read = async (path: string) => {
    const response = await app.inject({ url: path, headers: operatorBearer('MODERATOR') })
    return { status: response.statusCode, ...response.json() }
  }
  const { status, data } = await read(`/operator/people/${accountId}?reason=case%207`)
  t.equal(status, 200)
  t.match(data.person, { name: 'Ana', username: String, image: null, age: null, city: null })
  t.same(Object.keys(data.person).sort(), ['age', 'city', 'image', 'name', 'username'])
  t.match(await read(`/operator/people/${accountId}`), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await read(`/operator/people/${randomUUID()}?reason=case%207`), { status: 404, code: 'NOT_FOUND' })
})

t.test('operators fetch the picture of a person here, and none from another server', async (t) => {
  const { app, db, deps: { media }, givenPerson } = await testApp(t)
  const accountId = await givenPerson('Ana')
  const { key } = await media.store('public', createImage())
  const fetchPicture = async () =>
    await app.inject({
      url: `/operator/people/${accountId}/picture?reason=case%207`,
      headers: operatorBearer('SUPPORT')
    })
  t.match((await fetchPicture()).json(), { code: 'NOT_FOUND' }, 'without a picture')
  await db.updateTable('people').set({ image: key }).where('account_id', '=', accountId).execute()
  t.match(await fetchPicture(), {
    statusCode: 200,
    headers: { 'content-type': 'image/webp', 'cache-control': 'no-store' }
  })
  await db.updateTable('people').set({ image: 'https://elsewhere.example/a.webp' }).execute()
  t.match((await fetchPicture()).json(), { code: 'NOT_FOUND' }, 'on another server')
})
