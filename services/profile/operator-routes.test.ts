import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createImage } from '@tandem/media-kit/testing'
import { checkOperatorRoutes, operatorBearer } from '@tandem/operator-kit/testing'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createApp } from './app.ts'
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
  const { key } = await media.store('public', createImage(), async () => {})
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

t.test('administrators list, add and change options', async (t) => {
  const { app } = await testApp(t)
  const id = randomUUID()
  const send = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) => {
    const response = await app.inject({
      method,
      url,
      headers: operatorBearer('ADMIN', { id }),
      ...(payload && { payload })
    })
    return { status: response.statusCode, ...response.json() }
  }
  const option = { type: 'motivation', optionId: 'sea', labels: { en: 'The sea', id: 'Laut' }, icon: '🌊' }
  t.match(await send('POST', '/operator/options', option), {
    status: 201,
    data: { option: { ...option, isActive: true } }
  })
  t.match(await send('POST', '/operator/options', option), { status: 409 })
  const change = { type: 'motivation', optionId: 'sea', isActive: false }
  t.match(await send('PUT', '/operator/options', change), { status: 200, data: { option: { isActive: false } } })
  const { data: { options } } = await send('GET', '/operator/options?type=motivation')
  t.match(options.find(({ optionId }: { optionId: string }) => optionId === 'sea'), { isActive: false })
  const { options: offered } = (await app.inject('/onboarding/options?type=motivation')).json()
  t.notOk(offered.some(({ optionId }: { optionId: string }) => optionId === 'sea'))
})

t.test("the app's own administrators are in the audit too, and their routes can be off", async (t) => {
  const { app, db, deps, send } = await testApp(t)
  const admin = randomUUID()
  t.equal((await send(admin, 'GET', '/onboarding/admin/options', undefined, { role: 'ADMIN' })).status, 200)
  t.equal((await send(randomUUID(), 'GET', '/onboarding/admin/options')).status, 403)
  t.match(
    await db.selectFrom('audit_entries').select(['staff_id', 'role', 'action']).execute(),
    [{ staff_id: admin, role: 'APP_ADMIN', action: 'GET /onboarding/admin/options' }],
    'and who is refused is not'
  )
  t.equal((await app.inject('/onboarding/options?type=sport')).statusCode, 200)

  const closed = await createApp({ ...deps, areAdminRoutesOff: true }, { log: silentLog, keys: testKeys })
  t.teardown(() => closed.close())
  const refused = await closed.inject({ url: '/onboarding/admin/options', headers: bearer(admin, { role: 'ADMIN' }) })
  t.match({ status: refused.statusCode, ...refused.json() }, { status: 404, code: 'NOT_FOUND' })
})
